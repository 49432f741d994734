// SPDX-License-Identifier: MIT
#pragma once

// What rows of the table of tools share: hints for clients, and what to do about a result that is
// too large.

#include "mcp/tools/tools.hpp"

#include <string_view>

namespace paddock::mcp::row_parts {

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
