// SPDX-License-Identifier: MIT

// Every byte-wise fast path of the headers against the slow words of support/slow_text.hpp.

#include "support/slow_text.hpp"

#include <paddock/frontmatter.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace paddock {
namespace {

std::string collapsed(std::string_view text) {
  std::string out(text);
  frontmatter::detail::collapse(out);
  return out;
}

TEST(TextSweep, CollapseKeepsEveryCharacter) {
  slow::sweep([&](std::string_view text) {
    if (slow::first_invalid(text) != text.size() || collapsed(text) == slow::collapsed(text))
      return true;
    ADD_FAILURE() << testing::PrintToString(text) << " became "
                  << testing::PrintToString(collapsed(text));
    return false;
  });
}

} // namespace
} // namespace paddock
