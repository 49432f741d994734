// SPDX-License-Identifier: MIT

// Several edits against plain searches. Input: how many; of each its options and the sizes of its
// texts in a byte each; the texts; the content.

#include "../support/text/edit_steps_reference.hpp"
#include "fuzz_input.hpp"

#include <paddock/text/edit_steps.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using paddock::test::require;

std::string with_lf(std::string_view text) {
  return paddock::detail::with_line_breaks(text, "\n");
}

/// The reference knows LF alone, and a CR on its own may come to stand before one.
bool is_plain(std::string_view text) {
  return with_lf(text).find('\r') == std::string::npos;
}

/// What `edit` did but for white space: some lines became the new text, as it is given.
void check_place(std::string_view content, std::string_view after, std::string_view new_text) {
  std::size_t same = 0;
  while (same < content.size() && same < after.size() && content[same] == after[same])
    ++same;
  std::size_t behind = 0;
  while (behind < content.size() - same && behind < after.size() - same &&
         content[content.size() - 1 - behind] == after[after.size() - 1 - behind])
    ++behind;
  const std::string_view changed = after.substr(same, after.size() - same - behind);
  require(with_lf(new_text).size() + changed.size() == 0 ||
          changed.size() <= paddock::detail::with_line_breaks(new_text, "\r\n").size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  paddock::test::fuzz_input input(data, size);
  std::vector<paddock::edit_step> steps(input.byte() % 5U);
  std::vector<std::size_t> sizes;
  bool is_exact = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const unsigned options = input.byte();
    if ((options & 1U) != 0) steps[i].places = paddock::edit_places::all;
    if ((options & 2U) != 0) steps[i].occurrences = options >> 5U;
    // Lines given count in the content before all steps, which the reference has of the first.
    if ((options & 4U) != 0 && i == 0) steps[i].near_line_index = options >> 5U;
    if ((options & 8U) != 0) steps[i].matching = paddock::text_matching::white_space;
    is_exact = is_exact && (options & 8U) == 0;
    sizes.push_back(input.byte() % 32U);
    sizes.push_back(input.byte() % 32U);
  }
  bool is_comparable = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].old_text = input.take(sizes[2 * i]);
    steps[i].new_text = input.take(sizes[2 * i + 1]);
    is_comparable = is_comparable && is_plain(steps[i].old_text) && is_plain(steps[i].new_text);
  }
  const std::string_view content = input.rest();
  const auto done = paddock::apply_edits(content, steps);
  if (done) {
    require(done->steps.size() == steps.size());
    if (steps.empty()) require(done->text == content);
    if (steps.size() == 1 && done->steps[0].matched == paddock::text_matching::white_space &&
        done->steps[0].indentation != paddock::new_indentation::as_in_file)
      check_place(content, done->text, steps[0].new_text);
  } else {
    require(done.error().step < steps.size());
    require(done.error().line_indexes.size() <= paddock::edit_failure::lines_max);
  }
  if (!is_exact || !is_comparable || !is_plain(content)) return 0;
  std::optional<std::string> expected = with_lf(content);
  for (const paddock::edit_step& step : steps) {
    if (!expected) break;
    const std::string old_text = with_lf(step.old_text);
    const std::string new_text = with_lf(step.new_text);
    paddock::edit_step plain = step;
    plain.old_text = old_text;
    plain.new_text = new_text;
    expected = old_text.empty()
                   ? std::nullopt
                   : paddock::test::plainly(*expected, plain, step.near_line_index.value_or(0));
  }
  require(done.has_value() == expected.has_value());
  if (done) require(with_lf(done->text) == *expected);
  return 0;
}
