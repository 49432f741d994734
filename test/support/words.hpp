// SPDX-License-Identifier: MIT
#pragma once

// Rows of tables in few words.

#include "precompiled/tests.hpp"

namespace paddock::test {

/// Cases that are words, many to a line.
inline std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The text has all parts of `wanted`, between which … stands.
inline void expect_parts(std::string_view text, std::string_view wanted) {
  constexpr std::string_view between = " … ";
  for (std::size_t at = 0, end = 0; end != wanted.npos; at = end + between.size()) {
    end = wanted.find(between, at);
    EXPECT_THAT(std::string(text), testing::HasSubstr(std::string(wanted.substr(at, end - at))));
  }
}

} // namespace paddock::test
