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
/// there in the line stays. New text comes as it is given; nothing is indented anew.
///
/// Thread-safety: pure.

#include <cstdint>

namespace paddock {

enum class text_matching : std::uint8_t { exact, white_space };

} // namespace paddock
