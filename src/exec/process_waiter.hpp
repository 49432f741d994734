// SPDX-License-Identifier: MIT
#pragma once

#include "base/later.hpp"
#include "exec/process_record.hpp"
#include "sys/cancellation.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace paddock {

/// Somebody who waits, until a point in time, for what is told by `wake_all`.
class process_record::waiter {
public:
  static result<std::unique_ptr<waiter>> begin(process_record& of, std::int64_t wait_ms,
                                               const cancellation* cancel) {
    int cancel_fd = -1;
    if (cancel != nullptr) {
      PADDOCK_TRY(cancel_fd, cancellation_watch::descriptor(*cancel));
    }
    PADDOCK_TRY(auto event, sys::eventfd());
    return std::unique_ptr<waiter>(
        new waiter(of, later(sys::monotonic_ms(), wait_ms), cancel_fd, std::move(event)));
  }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  ~waiter() {
    const std::lock_guard guard(of_.lock_);
    std::erase(of_.waiting_, event_.get());
  }

  /// False when it is in vain: at the end of the time, and when cancelled. `ms_max`: from now.
  bool wait(std::unique_lock<std::mutex>& lock, std::int64_t ms_max = no_deadline_ms) {
    const std::int64_t now = sys::monotonic_ms();
    const std::int64_t until = std::min(until_, later(now, ms_max));
    if (until <= now) return false;
    sys::clear_event(event_.get());
    lock.unlock();
    std::array<pollfd, 2> events{{{event_.get(), POLLIN, 0}, {cancel_fd_, POLLIN, 0}}};
    const auto ready = sys::poll(events, until - now);
    lock.lock();
    return ready && events[1].revents == 0;
  }
  /// Whether the time is not over.
  [[nodiscard]] bool may_go_on() const { return sys::monotonic_ms() < until_; }

private:
  waiter(process_record& of, std::int64_t until, int cancel_fd, file_descriptor event)
      : of_(of), until_(until), cancel_fd_(cancel_fd), event_(std::move(event)) {
    const std::lock_guard guard(of_.lock_);
    of_.waiting_.push_back(event_.get());
  }

  process_record& of_;
  std::int64_t until_;
  int cancel_fd_;
  file_descriptor event_;
};

} // namespace paddock
