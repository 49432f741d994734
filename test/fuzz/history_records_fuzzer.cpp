// SPDX-License-Identifier: MIT

// Records of the journal and of a change or restore under way, of any bytes: what is read has paths
// as the history has them, and is the same when it is written and read again. Input: a record's
// body; its head is made here.

#include "change/change_record.hpp"
#include "fuzz_input.hpp"
#include "history/content_sum.hpp"
#include "history/journal_records.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace paddock;
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

void check_change(std::string_view bytes) {
  const auto found = parse_change_record(bytes);
  if (!found || !*found) return;
  const change_record& record = **found;
  for (const change_step& each : record.plan.steps)
    require(is_path(each.path));
  for (const change_move& each : record.plan.moves)
    require(is_path(each.now) && is_path(each.home));
  std::string written = render(record.plan);
  if (record.is_staged) written += render_staged(record.staged);
  written += render_made(record.made);
  if (record.goes_back) written += render_way_back();
  const auto again = parse_change_record(written);
  require(again && *again && (*again)->plan == record.plan && (*again)->staged == record.staged &&
          (*again)->made == record.made && (*again)->goes_back == record.goes_back);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size); // NOLINT: bytes are bytes
  check_record(body);
  check_change(body);
  std::string record;
  put_u32(record, static_cast<std::uint32_t>(size + record_head_size));
  put_u64(record, sum_of(body));
  check_record(record + body);
  std::string change = "paddock changes 4\np";
  put_u64(change, size);
  put_u64(change, record_sum(body));
  check_change(change + body);
  return 0;
}
