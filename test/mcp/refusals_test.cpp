// SPDX-License-Identifier: MIT

// Why an edit was not made, in words: looking for them is work that ends when its call does.

#include "mcp/tools/refusals.hpp"
#include "precompiled/tests.hpp"

#include <paddock/base/work_bounds.hpp>
#include <paddock/text/edit_steps.hpp>

namespace paddock::test {
namespace {

TEST(Refusals, LookNoFurtherThanTheCallMay) {
  const std::string content = "one\nreturn value + 1;\n";
  const edit_step steps[] = {{.old_text = "one", .new_text = "two"},
                             {.old_text = "return value + 2;", .new_text = "x"}};
  const auto made = apply_edits(content, steps);
  ASSERT_FALSE(made.has_value());
  ASSERT_EQ(made.error().code, error_code::no_match);
  std::atomic<bool> is_cancelled{false};
  const work_bounds bounds{.cancelled = &is_cancelled};
  const auto looked = mcp::refusal_of(content, steps, made.error(), "edits", bounds);
  ASSERT_TRUE(looked.nearest.has_value());
  EXPECT_EQ(looked.nearest->line_index, 1U);
  is_cancelled = true;
  const auto ended = mcp::refusal_of(content, steps, made.error(), "edits", bounds);
  EXPECT_FALSE(ended.nearest.has_value());
  EXPECT_EQ(ended.edit, looked.edit);
  EXPECT_EQ(ended.words, "edits[1].oldText does not occur; there was no time left to look for "
                         "similar text; search the file for the place; nothing was changed");
}

} // namespace
} // namespace paddock::test
