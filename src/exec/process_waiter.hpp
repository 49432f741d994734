// SPDX-License-Identifier: MIT
#pragma once

#include "base/later.hpp"
#include "sys/cancellation.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace paddock {

/// Somebody who waits, until a point in time, for one of the events in a list to be raised.
class process_waiter {
public:
  /// Adds an event to `waiting`, which `lock` guards. Both outlive this.
  static result<std::unique_ptr<process_waiter>> begin(std::mutex& lock, std::vector<int>& waiting,
                                                       std::int64_t wait_ms,
                                                       const cancellation* cancel) {
    int cancel_fd = -1;
    if (cancel != nullptr) {
      PADDOCK_TRY(cancel_fd, cancellation_watch::descriptor(*cancel));
    }
    PADDOCK_TRY(auto event, sys::eventfd());
    return std::unique_ptr<process_waiter>(new process_waiter(
        lock, waiting, later(sys::monotonic_ms(), wait_ms), cancel_fd, std::move(event)));
  }
  process_waiter(const process_waiter&) = delete;
  process_waiter& operator=(const process_waiter&) = delete;
  ~process_waiter() {
    const std::lock_guard guard(lock_);
    std::erase(waiting_, event_.get());
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
  process_waiter(std::mutex& lock, std::vector<int>& waiting, std::int64_t until, int cancel_fd,
                 file_descriptor event)
      : lock_(lock), waiting_(waiting), until_(until), cancel_fd_(cancel_fd),
        event_(std::move(event)) {
    const std::lock_guard guard(lock_);
    waiting_.push_back(event_.get());
  }

  std::mutex& lock_;
  std::vector<int>& waiting_;
  std::int64_t until_;
  int cancel_fd_;
  file_descriptor event_;
};

} // namespace paddock
