// SPDX-License-Identifier: MIT
#include "skill_manager/in_process_call.hpp"

#include "base/later.hpp"
#include "base/start_thread.hpp"
#include "sys/cancellation.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::skill_manager {

in_process_call::in_process_call(mcp::json_view arguments, const mcp::call_options& options,
                                 std::size_t message_bytes_max)
    : options_(options), message_bytes_max_(message_bytes_max) {
  arguments_ = arguments;
  if (options.cancel != nullptr && options.cancel->requested()) cancelled_ = true;
}

in_process_call::~in_process_call() {
  finish();
}

void in_process_call::on_cancel(std::function<void()> f) {
  const std::lock_guard lock(guard_);
  on_cancel_ = std::move(f);
  if (on_cancel_ && cancelled_.load()) on_cancel_();
}

void in_process_call::cancel() {
  const std::lock_guard lock(guard_);
  if (!cancelled_.exchange(true) && on_cancel_) on_cancel_();
}

void in_process_call::progress(double progress, std::string_view message) {
  if (!wants_progress()) return;
  const std::lock_guard lock(progress_guard_);
  if (!(progress > last_progress_)) return;
  last_progress_ = progress;
  options_.on_progress(progress, 0, message);
}

void in_process_call::may_block() {
  if (watcher_.joinable()) return;
  auto finished = sys::eventfd();
  if (!finished) return cancel(); // what nobody can end had better not begin
  finished_ = *std::move(finished);
  int cancellation_fd = -1;
  if (options_.cancel != nullptr) {
    const auto fd = cancellation_watch::descriptor(*options_.cancel);
    if (!fd) return cancel();
    cancellation_fd = *fd;
  }
  if (!start_thread(watcher_, [this, cancellation_fd] { watch(cancellation_fd); })) cancel();
}

void in_process_call::watch(int cancellation_fd) {
  const std::int64_t deadline_ms =
      later(sys::monotonic_ms(), std::max<std::int64_t>(options_.timeout_ms_max, 0));
  for (;;) {
    std::array<pollfd, 2> entries{{{finished_.get(), POLLIN, 0}, {cancellation_fd, POLLIN, 0}}};
    const std::int64_t left_ms = deadline_ms - sys::monotonic_ms();
    const auto ready = sys::poll(entries, std::max<std::int64_t>(left_ms, 0));
    if (!ready || entries[0].revents != 0) return;
    if (entries[1].revents != 0) return cancel();
    if (left_ms <= 0) {
      timed_out_ = true;
      return cancel();
    }
  }
}

void in_process_call::finish() {
  if (!watcher_.joinable()) return;
  sys::raise_event(finished_.get());
  watcher_.join();
}

} // namespace paddock::skill_manager
