// SPDX-License-Identifier: MIT
#pragma once

/// What a tool takes: a table of parameters, which is the one source for the schema that clients
/// see, for the check of arguments before a handler runs, for defaults, and for documentation.
///
/// Tables may be nested: objects, and arrays of objects, have members that are parameters again.
/// The check finds every problem of a call, not only the first, says where it is and what is
/// wanted, and ends in bounded time and text whatever a client sends.
///
/// Thread-safety: values; the functions are pure.

#include <paddock/mcp/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

enum class parameter_type : std::uint8_t {
  string,
  integer,
  boolean,
  string_array,
  integer_array,
  string_map,   ///< an object whose values are strings
  number,       ///< with or without a fraction
  object,       ///< with `members`
  object_array, ///< of such objects
};

enum class presence : std::uint8_t { required, optional };

/// Bounds and choices of an array or map are those of what is in it.
struct parameter {
  std::string_view name{};
  parameter_type type = parameter_type::string;
  paddock::mcp::presence presence = paddock::mcp::presence::required;
  std::string_view description{};        ///< for a model
  std::uint64_t characters_min = 0;      ///< strings: code points
  std::uint64_t characters_max = 0;      ///< strings: code points; 0 means no bound
  std::optional<std::int64_t> minimum{}; ///< integers and numbers
  std::optional<std::int64_t> maximum{}; ///< integers and numbers
  /// Of strings, integers and booleans: clients of 2026-07-28 repeat the value in the HTTP header
  /// Mcp-Param-… of this name, for programs on the way. Nothing secret; usually empty.
  std::string_view header{};
  std::string_view too_long_hint{};        ///< strings: what to do instead of more characters
  std::vector<std::string_view> choices{}; ///< strings: no others are taken; empty for any
  std::uint64_t elements_min = 0;          ///< arrays
  std::uint64_t elements_max = 0;          ///< arrays; 0 means no bound
  std::vector<parameter> members{};        ///< objects
  /// Of what is optional: the value, as JSON text, that a handler finds where a call gives none.
  std::string_view fallback{};
};

/// The JSON Schema 2020-12 of an object with these members and no others.
[[nodiscard]] std::string schema_of(std::span<const parameter> parameters);

/// What is wrong with `arguments` (an object, or missing): every problem, its place and its remedy
/// in one text; empty when nothing is. `owner` is the tool's name.
[[nodiscard]] std::string problems_of(std::span<const parameter> parameters, json_view arguments,
                                      std::string_view owner);

/// `arguments`, which fit, with the fallbacks of those that are not given, at any depth. Nothing
/// when none is missing.
[[nodiscard]] std::optional<std::string> with_fallbacks(std::span<const parameter> parameters,
                                                        json_view arguments);

/// What is wrong with a table itself, as the end of a sentence about its tool: a name that is there
/// twice, a fallback that does not fit, choices of what is no string, …; empty when nothing is.
[[nodiscard]] std::string problem_of_table(std::span<const parameter> parameters);

} // namespace paddock::mcp
