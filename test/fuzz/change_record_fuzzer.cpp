// SPDX-License-Identifier: MIT

// Records of changes of any bytes: what is read has paths and names as a change can have them, and
// is the same when it is written and read again. Input: a record without its last line.

#include "file/change_record.hpp"
#include "file/leftover.hpp"
#include "fuzz_input.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

using paddock::test::require;

void check(std::string_view bytes) {
  const auto parsed = paddock::parse_change_record(bytes);
  if (!parsed || !*parsed) return;
  paddock::change_record record = **parsed;
  const auto is_path = [](const std::string& path) {
    return !path.empty() && path.front() != '/' && path.find('\0') == path.npos;
  };
  require(std::ranges::all_of(record.directories, is_path));
  for (const auto& step : record.steps) {
    require(is_path(step.path));
    require(step.from.empty() == (step.what != paddock::change_step::kind::move));
    for (const std::string* name : {&step.temporary, &step.aside})
      require(name->empty() ||
              (name->starts_with(paddock::temporary_prefix) && name->find('/') == name->npos));
  }
  const auto again = paddock::parse_change_record(paddock::render(record) +
                                                  std::string(paddock::stage_line(record.stage)));
  require(again && *again && **again == record);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size); // NOLINT: bytes are bytes
  check(body);
  char end[32];
  std::snprintf(end, sizeof end, "end %llx\n",
                static_cast<unsigned long long>(paddock::content_sum(body)));
  for (const char* stage : {"", "staged\n", "staged\ndone\n", "staged\nundone\n", "stag"})
    check(body + end + stage);
  return 0;
}
