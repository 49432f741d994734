// SPDX-License-Identifier: MIT

// Hints: what they show stands where they say. Input: the sizes of old and new text in a byte each,
// both texts, the content.

#include "fuzz_input.hpp"

#include <paddock/text/detail/lines.hpp>
#include <paddock/text/edit_steps.hpp>
#include <paddock/text/near_miss.hpp>

#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using paddock::test::require;
  if (size > 8192) return 0;
  paddock::test::fuzz_input input(data, size);
  const std::size_t old_size = input.byte(), new_size = input.byte();
  const std::string_view old_text = input.take(old_size), new_text = input.take(new_size);
  const std::string_view content = input.rest();
  const paddock::edit_step step{.old_text = old_text, .new_text = new_text};
  const auto done = paddock::apply_edits(content, {&step, 1});
  if (done || done.error().code != paddock::error_code::no_match) return 0;
  const auto near = paddock::nearest(content, old_text, new_text);
  if (!near) return 0;
  const std::vector<std::string_view> lines = paddock::lines_of(content);
  require(near->line_index < lines.size());
  require(near->found.size() <= paddock::near_miss::found_bytes_max);
  const auto begin = static_cast<std::size_t>(lines[near->line_index].data() - content.data());
  require(content.substr(begin).starts_with(near->found));
  if (near->wanted.empty()) return 0;
  require(near->kind != paddock::near_miss_kind::already_applied);
  require(old_text.find(near->wanted) != std::string_view::npos);
  return 0;
}
