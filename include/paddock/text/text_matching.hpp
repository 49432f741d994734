// SPDX-License-Identifier: MIT
#pragma once

/// How old text, or the lines that a hunk shows, must match the content.
///
/// `exact` is byte for byte, CRLF being the same as LF. `white_space` has to be asked for, and
/// applies if `exact` finds nothing: whole lines then match if they differ only in blanks and tabs,
/// at their beginning, at their end, or in their number between two words. Two words have
/// white space between them in both or in neither, and a line break is no blank. There must be
/// exactly one such place, even if the caller allows more; and text of nothing but white space
/// matches nowhere.
///
/// The span of the old text is replaced: where it begins or ends without white space, the white
/// space of the file stays. New lines are indented as the file is, if the lines that matched show
/// how: a new line that begins like one of them gets the indentation of the file there; else it
/// gains or loses the same prefix as all of them; else, if each side has only blanks or only tabs,
/// the indentation is converted in proportion. If that says nothing about a new line, or
/// contradicts itself, all of them stay as they are given, and the answer says so.
///
/// Thread-safety: pure.

#include <cstdint>

namespace paddock {

enum class text_matching : std::uint8_t { exact, white_space };

/// The indentation of new lines.
enum class new_indentation : std::uint8_t {
  as_given,   ///< which is that of the file, as far as the lines that fitted show
  as_in_file, ///< not the given one
  not_known,  ///< as given, though the file has another one
};

} // namespace paddock
