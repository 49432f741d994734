// SPDX-License-Identifier: MIT
#pragma once

// One thread's wait for an answer that another thread, or the thread itself, receives.

#include <paddock/base/cancellation.hpp>
#include <paddock/base/file_descriptor.hpp>

#include <atomic>
#include <cstdint>

namespace paddock::mcp {

class waiter {
public:
  waiter(std::int64_t deadline_ms, const cancellation* cancel) noexcept;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  // --- of the thread that waits
  /// Finished, cancelled, or too late.
  [[nodiscard]] bool is_over() const noexcept;
  /// Until it is over, or somebody wakes it; also now and then without a reason.
  void sleep();
  /// A descriptor that becomes readable on cancellation; -1: none.
  [[nodiscard]] int cancel_descriptor() const noexcept { return cancel_descriptor_; }
  /// How long a poll on that descriptor may take.
  [[nodiscard]] std::int64_t poll_ms() const noexcept;

  // --- of any thread, as long as the waiter is known to exist
  void finish() noexcept;
  [[nodiscard]] bool is_finished() const noexcept { return finished_.load(); }
  /// Wakes the thread so that it looks around.
  void wake() noexcept;
  void set_deadline_ms(std::int64_t deadline_ms) noexcept { deadline_ms_.store(deadline_ms); }

private:
  [[nodiscard]] std::int64_t left_ms() const noexcept;

  const cancellation* const cancel_;
  int cancel_descriptor_ = -1;
  std::atomic<std::int64_t> deadline_ms_;
  std::atomic<bool> finished_{false};
  std::atomic<int> event_{-1}; ///< of owned_event_, made when the thread first sleeps
  file_descriptor owned_event_;
};

} // namespace paddock::mcp
