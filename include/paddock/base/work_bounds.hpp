// SPDX-License-Identifier: MIT
#pragma once

/// How long an operation may work, whether it is still wanted, and how much memory it and others
/// may hold together.
///
/// Operations that may take long look at their bounds every few MiB or thousand entries, so a
/// passed deadline or a cancellation ends them within a fraction of a second. What cannot be ended
/// is a single system call that waits, on a file system of the network that does not answer for
/// example.
///
/// Thread-safety: a bound may be looked at, a budget used and a cancellation requested from any
/// number of threads at once.

#include <paddock/base/result.hpp>

#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

namespace paddock {

class memory_share;
struct work_bounds;

/// Bytes that operations which run at the same time may hold together. It counts what they say;
/// it allocates nothing.
class memory_budget {
public:
  explicit memory_budget(std::uint64_t bytes) noexcept : bytes_(bytes) {}
  memory_budget(const memory_budget&) = delete;
  memory_budget& operator=(const memory_budget&) = delete;

  /// The whole budget.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// What is taken at the moment.
  [[nodiscard]] std::uint64_t held() const noexcept {
    return held_.load(std::memory_order_relaxed);
  }

private:
  friend class memory_share;
  [[nodiscard]] bool try_take(std::uint64_t bytes) noexcept;

  const std::uint64_t bytes_;
  std::atomic<std::uint64_t> held_{0};
};

/// Bytes taken out of a budget, given back at the end. Moves only.
class memory_share {
public:
  memory_share() noexcept = default;
  memory_share(memory_share&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  memory_share& operator=(memory_share&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~memory_share() { give_back(); }

  /// Takes this many bytes more. If there are not enough, a share that holds nothing waits for
  /// others; one that holds something fails at once, because others may wait for what it holds.
  /// Whoever holds a second share of the same budget must not wait either: `work_bounds::held` says
  /// how much it holds. Without a budget in `bounds` everything can be had. Errors: too_large (more
  /// than the whole budget, with the bytes held), too_many (others hold it, until the deadline
  /// where this waits), cancelled.
  [[nodiscard]] result<void> grow(std::uint64_t bytes, const work_bounds& bounds);
  /// Takes over what another share of the same budget holds.
  void join(memory_share other) noexcept;
  /// Gives everything back now.
  void give_back() noexcept;
  /// What this share holds.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
  memory_budget* budget_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// The bounds of one operation. The default has none.
struct work_bounds {
  static constexpr std::int64_t no_deadline = std::numeric_limits<std::int64_t>::max();

  std::int64_t deadline_ms = no_deadline;       ///< of the monotonic clock, see `deadline_in`
  const std::atomic<bool>* cancelled = nullptr; ///< set by whoever does not want the result
  memory_budget* memory = nullptr;              ///< large buffers are taken out of it
  std::uint64_t held = 0; ///< bytes of it that other shares of this operation hold

  /// Nothing while the work may go on. Errors: cancelled, timed_out.
  [[nodiscard]] result<void> check() const noexcept;
  /// Whether `check` may ever say anything.
  [[nodiscard]] bool is_bounded() const noexcept {
    return cancelled != nullptr || deadline_ms != no_deadline;
  }
};

/// The deadline for work that begins now and may take so long; no_deadline when that is 0.
[[nodiscard]] std::int64_t deadline_in(std::uint64_t timeout_ms) noexcept;

} // namespace paddock
