// SPDX-License-Identifier: MIT
#pragma once

// All that the programs print for people and for programs: nothing else writes to standard output
// or standard error (test/lint/output.py). What an agent may have chosen, such as a name, a command
// line or a text, never commands the terminal that it ends up on.

#include <string>
#include <string_view>

namespace paddock::cli {

/// printf for people, wherever standard output leads: what would not be seen or would command a
/// terminal is '?', but for line feeds, tabs and, where there are colours, those of `styled`.
[[gnu::format(printf, 1, 2)]] void print_words(const char* format, ...);
/// The same on standard error.
[[gnu::format(printf, 1, 2)]] void print_problem(const char* format, ...);
/// One line of JSON. What a terminal would obey is an escape, which means the same.
void print_json_line(std::string_view json);
/// What a file or a process holds: as in `print_words` on a terminal. Elsewhere, as it may end up on
/// one, '?' stands for control characters and marks of direction; all else is byte for byte, line
/// ends and other encodings, too. False where that was not all.
bool print_content(std::string_view bytes);
/// Byte for byte in any case: the output of a person's own command, what is separated by NUL, and
/// what somebody has asked for with `--raw`.
enum class output_to : bool { out, err };
void pass_on(std::string_view bytes, output_to where = output_to::out);

/// As `print_words` prints it.
[[nodiscard]] std::string harmless_words(std::string_view text);
/// As `print_content` prints it where standard output is no terminal.
[[nodiscard]] std::string harmless_content(std::string_view bytes);
/// As `print_json_line` prints it.
[[nodiscard]] std::string harmless_json(std::string_view json);

} // namespace paddock::cli
