// SPDX-License-Identifier: MIT
#pragma once

// Text in the forms that other programs read: a word of a shell, JSON, TOML.

#include <paddock/exec/network_event.hpp>
#include <paddock/mcp/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

/// `text` as one word of a POSIX shell.
[[nodiscard]] std::string shell_word(std::string_view text);
/// A JSON value over several lines; objects and arrays that hold only scalars stay on one.
[[nodiscard]] std::string indented(mcp::json_view value);
/// The same for text that is JSON.
[[nodiscard]] std::string indented(std::string_view json);
/// The member `key`: a list of names, in the codec of lexical_path.hpp.
void write_names(mcp::json_writer& out, std::string_view key,
                 const std::vector<std::string>& names);
/// A connection of a command, or its refusal, as an object.
void write_event(mcp::json_writer& out, const network_event& event);
/// `utf8` as a TOML basic string.
[[nodiscard]] std::string toml_string(std::string_view utf8);

} // namespace paddock::cli
