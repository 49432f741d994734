// SPDX-License-Identifier: MIT
#pragma once

// JSON strings out: the byte loop that most of the time of a large result is spent in.

#include <string>
#include <string_view>

namespace paddock::mcp {

/// Appends `value` as a JSON string, quotes included. Every maximal part that is not UTF-8 becomes
/// one U+FFFD (Unicode, "U+FFFD Substitution of Maximal Subparts").
void append_json_string(std::string& out, std::string_view value);

} // namespace paddock::mcp
