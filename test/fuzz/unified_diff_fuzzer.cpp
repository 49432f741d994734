// SPDX-License-Identifier: MIT

// Differences: what our reader makes of one text with the diff is the other text. Input: lines of
// context, the size of the first text in two bytes, both texts.

#include "fuzz_input.hpp"

#include <paddock/text/patch.hpp>
#include <paddock/text/unified_diff.hpp>

#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using paddock::test::require;
  if (size > 8192) return 0;
  paddock::test::fuzz_input input(data, size);
  const std::size_t context = input.byte() % 5U;
  const std::size_t before_size = input.byte() * std::size_t{256} + input.byte();
  const std::string_view before = input.take(before_size);
  const std::string_view after = input.rest();
  const paddock::unified_diff_text diff = paddock::unified_diff(
      before, after, {.context_lines = context, .before_name = "a/x", .after_name = "b/x"});
  require(diff.text.empty() == (before == after));
  require(diff.hunks_left_out == 0);
  if (before == after) return 0;
  const auto files = paddock::parse_patch(diff.text);
  require(files.has_value() && files->size() == 1 && files->front().path == "x");
  require(files->front().hunks.size() == diff.hunks);
  const auto patched = paddock::apply_hunks(before, files->front().hunks);
  require(patched.has_value() && *patched == after);
  // Less of it is the beginning of it.
  const paddock::unified_diff_text cut = paddock::unified_diff(before, after,
                                                               {.context_lines = context,
                                                                .bytes_max = diff.text.size() / 2,
                                                                .before_name = "a/x",
                                                                .after_name = "b/x"});
  require(diff.text.starts_with(cut.text) && cut.text.size() <= diff.text.size() / 2);
  require(cut.added == diff.added && cut.removed == diff.removed);
  return 0;
}
