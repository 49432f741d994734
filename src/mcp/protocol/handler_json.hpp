// SPDX-License-Identifier: MIT
#pragma once

// JSON text that the library's user gave: it goes to clients as it is, so it has to be JSON, and on
// one line.

#include <paddock/mcp/json.hpp>

#include <string>
#include <string_view>

namespace paddock::mcp {

/// What is wrong with `json` as one value of this kind, as the end of a sentence; empty if nothing.
[[nodiscard]] std::string problem_of_json(std::string_view json, json_kind kind);

/// Whether it begins and ends as an object does; all that is looked at where a handler vouches for
/// the rest.
[[nodiscard]] bool has_braces(std::string_view json);

/// Whitespace between tokens may contain line breaks, which would tear a line apart; inside strings
/// JSON has none. Puts blanks in their place.
void put_on_one_line(std::string& json);

} // namespace paddock::mcp
