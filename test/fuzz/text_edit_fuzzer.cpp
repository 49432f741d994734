// SPDX-License-Identifier: MIT

// Search and replace against the naive reference. Input: the sizes of old and new text in one byte
// each, both texts, content.

#include "../support/text/text_edit_reference.hpp"

#include <paddock/text/text_edit.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::string_view take(std::string_view& rest, std::size_t size) {
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(taken.size());
  return taken;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string_view old_text = take(rest, data[0]);
  const std::string_view new_text = take(rest, data[1]);
  const paddock::text_edit edit{old_text, new_text};

  const auto plan = paddock::plan_edit(rest, edit);
  if (old_text.empty()) {
    require(!plan && plan.error().code == paddock::error_code::invalid_argument);
    return 0;
  }
  const auto expected = paddock::test::reference_edit(rest, edit);
  require(plan.has_value() == expected.has_value());
  if (!plan) {
    require(plan.error().code == paddock::error_code::no_match);
    return 0;
  }
  require(paddock::apply_edit(rest, *plan) == expected->edited);
  require(plan->occurrences == expected->occurrences);
  require(plan->line_index == expected->line);
  return 0;
}
