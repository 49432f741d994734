// SPDX-License-Identifier: MIT
#pragma once

// What rows of the table of tools share: kinds of parameters, hints for clients, and what to do
// about a result that is too large.

#include "mcp/tools/tools.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace paddock::mcp::row_parts {

using type = parameter_type;
inline constexpr auto required = presence::required;
inline constexpr auto optional = presence::optional;
inline constexpr std::span<const parameter_row> no_parameters{};

/// The value, as JSON text, where a call gives none.
constexpr parameter_row with_default(std::string_view fallback, parameter_row row) {
  row.fallback = fallback;
  return row;
}
constexpr parameter_row up_to(std::int64_t maximum, parameter_row row) {
  row.maximum = maximum;
  return row;
}
/// An integer that may be left out.
constexpr parameter_row number(std::string_view name, std::string_view description,
                               std::int64_t minimum, std::string_view fallback = {}) {
  return with_default(fallback, {name, type::integer, optional, description, 0, nullptr, minimum});
}
constexpr parameter_row one_of(std::string_view name, std::string_view description,
                               std::span<const std::string_view> choices,
                               std::string_view fallback) {
  parameter_row row = with_default(fallback, {name, type::string, optional, description});
  row.choices = choices;
  return row;
}
/// Where a call says nothing, the workspace.
constexpr parameter_row beneath(std::string_view name, std::string_view description) {
  return with_default(R"(".")", {name, type::string, optional, description, 1});
}
/// The same where what is said elsewhere is not said again.
constexpr parameter_row wordless(parameter_row row) {
  row.description = {};
  return row;
}

inline constexpr annotations looks{.read_only = true, .destructive = false, .idempotent = true};
inline constexpr annotations adds{.destructive = false};
inline constexpr annotations replaces{.idempotent = true};
inline constexpr annotations destroys{};
inline constexpr annotations opens_world{.open_world = true};

inline constexpr std::string_view less_hint = "ask for less in one call";
inline constexpr std::string_view read_hint =
    "read a part of the file with from and to (line numbers)";
inline constexpr std::string_view remaining_hint =
    "too many todos are left to be shown; complete them, or start a new list with clearTodo";
inline constexpr std::string_view todo_hint =
    "the list was changed, but it is too long to be shown; start a new one with clearTodo";
inline constexpr std::string_view page_hint =
    "ask for less with limit, and for the rest with offset";
inline constexpr std::string_view edited_hint =
    "the change was made, but the result is too long to be shown; make fewer edits in one call";
inline constexpr std::string_view list_hint = "list a part of the directory with offset and limit";

} // namespace paddock::mcp::row_parts
