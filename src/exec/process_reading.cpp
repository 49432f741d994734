// SPDX-License-Identifier: MIT

// How the output of a process is waited for, and read.

#include "exec/command_output.hpp"
#include "exec/process_record.hpp"
#include "exec/process_waiter.hpp"

#include <algorithm>

namespace paddock {
namespace {

/// Output that comes after a longer pause is not waited for, nor is the rest of a line.
constexpr std::int64_t quiet_ms = 50;
/// As much of the output is looked at at once; of a line without an end, this and the half of it
/// that was seen before.
constexpr std::uint64_t piece_bytes = 64UL * 1024;

enum class sighting : std::uint8_t { none, in_open_line, in_line };

/// Looks for something in output that goes on, line by line.
class look_out {
public:
  look_out(detail::function_view<bool(std::string_view)> met, std::uint64_t from)
      : met_(met), at_(from) {}

  /// Whether there is something to look at. `lock` is open while it is looked at.
  [[nodiscard]] bool is_due(const output_ring& output) const { return output.end() > seen_; }
  sighting find(const output_ring& output, std::unique_lock<std::mutex>& lock) {
    at_ = std::max(at_, output.begin());
    const std::string piece = output.bytes(at_, piece_bytes);
    seen_ = at_ + piece.size();
    const std::size_t ended = piece.rfind('\n') + 1; // 0 where no line ends
    const std::string_view lines = std::string_view(piece).substr(0, ended);
    const std::string_view rest = std::string_view(piece).substr(ended);
    lock.unlock();
    const sighting found = !lines.empty() && met_(lines) ? sighting::in_line
                           : !rest.empty() && met_(rest) ? sighting::in_open_line
                                                         : sighting::none;
    lock.lock();
    if (ended > 0)
      at_ += ended;
    else if (piece.size() == piece_bytes)
      at_ += piece_bytes / 2;
    return found;
  }

private:
  detail::function_view<bool(std::string_view)> met_;
  std::uint64_t at_;
  std::uint64_t seen_ = 0;
};

} // namespace

result<process_page> process_record::read(const process_read& asked, const cancellation* cancel) {
  if (asked.bytes_max < 4) return error{error_code::invalid_argument, 0, "bytes_max"};
  std::unique_ptr<process_waiter> waiting;
  if (asked.wait_ms > 0) {
    PADDOCK_TRY(waiting, process_waiter::begin(lock_, waiting_, asked.wait_ms, cancel));
  }
  std::unique_lock lock(lock_);
  const std::uint64_t from = asked.from.value_or(cursor_);
  if (from > output_.end()) return error{error_code::invalid_argument, 0, "from"};
  bool matched = false;
  if (asked.until)
    matched = wait_until(asked.until, from, waiting.get(), lock);
  else if (waiting)
    wait_for_output(asked, from, *waiting, lock);
  process_page page = page_at(from, asked.bytes_max);
  page.matched = matched;
  if (asked.cursor == process_cursor::moves) cursor_ = page.next;
  return page;
}

bool process_record::wait_until(detail::function_view<bool(std::string_view)> met,
                                std::uint64_t from, process_waiter* waiting,
                                std::unique_lock<std::mutex>& lock) {
  look_out looking(met, from);
  std::int64_t line_end_ms = 0; // until when the rest of a line that was found may come
  for (;;) {
    while (looking.is_due(output_)) {
      const sighting found = looking.find(output_, lock);
      if (found == sighting::in_line) return true;
      if (found == sighting::in_open_line && line_end_ms == 0)
        line_end_ms = sys::monotonic_ms() + quiet_ms;
    }
    const std::int64_t wait_ms =
        line_end_ms == 0 ? no_deadline_ms : line_end_ms - sys::monotonic_ms();
    if (outcome_ != nullptr || waiting == nullptr || !waiting->wait(lock, wait_ms))
      return line_end_ms != 0;
  }
}

void process_record::wait_for_output(const process_read& asked, std::uint64_t from,
                                     process_waiter& waiting, std::unique_lock<std::mutex>& lock) {
  const auto is_full = [&] { return output_.end() - from >= asked.bytes_max; };
  if (asked.wait == process_wait::end) {
    while (outcome_ == nullptr && !is_full() && waiting.wait(lock)) {
    }
    return;
  }
  while (outcome_ == nullptr && output_.end() == from)
    if (!waiting.wait(lock)) return;
  for (std::uint64_t seen = from; outcome_ == nullptr && seen != output_.end() && !is_full();) {
    seen = output_.end();
    if (!waiting.wait(lock, quiet_ms)) return;
  }
}

process_page process_record::page_at(std::uint64_t from, std::uint64_t bytes_max) const {
  process_page page;
  page.from = std::max(from, output_.begin());
  page.dropped = page.from - from;
  page.bytes = output_.bytes(page.from, bytes_max);
  const bool last = outcome_ != nullptr && page.from + page.bytes.size() == output_.end();
  if (!last) page.bytes.resize(without_cut_end(page.bytes).size());
  page.next = page.from + page.bytes.size();
  page.status = status_now();
  return page;
}

} // namespace paddock
