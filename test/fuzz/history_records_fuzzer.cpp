// SPDX-License-Identifier: MIT

// Records of the journal and of a restore under way, of any bytes: what is read has paths as the
// history has them, and is the same when it is written and read again. Input: a record's body; its
// head is made here.

#include "fuzz_input.hpp"
#include "history/content_sum.hpp"
#include "history/journal_records.hpp"
#include "history/restore_intent.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace paddock::history;
using paddock::test::require;

void check_record(std::string_view bytes) {
  (void)record_size(bytes.substr(0, record_head_size));
  const auto record = parse_record(bytes);
  if (!record) return;
  for (const transition& each : record->transitions)
    require(is_path(each.path));
  const std::string written = render(*record);
  require(record_size(written) == written.size());
  const auto again = parse_record(written);
  require(again && render(*again) == written);
}

void check_intent(std::string_view bytes) {
  const auto intent = parse_intent(bytes);
  if (!intent) return;
  for (const restore_step& each : intent->plan.steps)
    require(is_path(each.path));
  for (const restore_move& each : intent->plan.moves)
    require(is_path(each.from) && is_path(each.to));
  const std::string written = render(*intent);
  const auto again = parse_intent(written);
  require(again && render(*again) == written);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size); // NOLINT: bytes are bytes
  check_record(body);
  check_intent(body);
  std::string record;
  put_u32(record, static_cast<std::uint32_t>(size + record_head_size));
  put_u64(record, sum_of(body));
  check_record(record + body);
  std::string intent = "paddock restore 1\n";
  put_u64(intent, sum_of(body));
  check_intent(intent + body);
  return 0;
}
