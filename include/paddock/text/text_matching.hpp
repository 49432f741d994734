// SPDX-License-Identifier: MIT
#pragma once

/// How old text, or what a hunk shows, has to stand in a content.
///
/// `exact` is byte for byte, CRLF being the same as LF. `white_space` is for those who ask for it,
/// and begins where `exact` finds nothing: whole lines then are the same that differ in blanks and
/// tabs alone, at their begin, at their end, or in how many stand between two words. No blank is
/// taken for one, and no line break for a blank. There must be one such place and no other,
/// whatever else was said of how many there are; and text that has nothing but white space stands
/// nowhere.
///
/// Replaced is what the old text spans: where it begins or ends without white space, what stands
/// there in the line stays. New lines are indented as the file is, as far as the lines that fitted
/// show how: a new line that begins as one of them gets what the file has there; else what is added
/// to, or taken from, the front of all of them; else, where each side is of blanks alone or of tabs
/// alone, so many for so many. Where that says nothing of one new line, or two things, all of them
/// stay as they are given, and the answer says so.
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
