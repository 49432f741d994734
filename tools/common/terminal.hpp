// SPDX-License-Identifier: MIT
#pragma once

// Text for people: cut and padded to a width, without control characters, coloured on a terminal.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::cli {

enum class style : std::uint8_t { plain, dim, good, bad, bold };

enum class colours : std::uint8_t { automatic, always, never };
/// What a person has asked for; before anything is printed.
void choose_colours(colours wanted);
/// Whether standard output is a terminal that wants colours (NO_COLOR is respected), or somebody
/// has asked for them.
[[nodiscard]] bool output_has_colours();
/// Whether standard output is a terminal.
[[nodiscard]] bool output_is_terminal();
/// `text` in a style; unchanged where standard output has no colours.
[[nodiscard]] std::string styled(std::string_view text, style wanted);

/// Control characters, marks of direction and what else is not seen become '?', and so do bytes
/// that are no UTF-8: a name can neither command a terminal nor look like another line.
[[nodiscard]] std::string without_controls(std::string_view utf8);
/// The same where standard output is a terminal; elsewhere the name, byte for byte.
[[nodiscard]] std::string name_on_output(std::string_view name);
/// A line of a file in the same way; tabs stay.
[[nodiscard]] std::string line_on_output(std::string_view line);

/// How many columns of a terminal it takes.
[[nodiscard]] std::size_t columns_of(std::string_view utf8);
/// `without_controls`, and what exceeds `width` columns of a terminal is an ellipsis.
[[nodiscard]] std::string fit(std::string_view utf8, std::size_t width);
/// How much of a word of a command line a message repeats.
inline constexpr std::size_t shown_characters_max = 200;
enum class align : std::uint8_t { left, right };
/// The same, filled up with spaces.
[[nodiscard]] std::string column(std::string_view utf8, std::size_t width,
                                 align side = align::left);

/// In columns: $COLUMNS, or what the terminal on standard output says, or 80.
[[nodiscard]] std::size_t output_width();
/// Lines of help in so many columns, broken at spaces, and indented as the texts of options are.
/// Below 50: as they are.
[[nodiscard]] std::string folded(std::string_view text, std::size_t width);

/// "312 µs", "1.2 ms", "3.4 s".
[[nodiscard]] std::string duration(std::int64_t ns);

} // namespace paddock::cli
