// SPDX-License-Identifier: MIT
#include "sys/syscall.hpp"

#include <paddock/base/work_bounds.hpp>

namespace paddock {
namespace {

constexpr int look_ms = 5; // between two looks at a budget that others hold

} // namespace

bool memory_budget::try_take(std::uint64_t bytes) noexcept {
  std::uint64_t held = held_.load(std::memory_order_relaxed);
  do {
    if (bytes > bytes_ || held > bytes_ - bytes) return false;
  } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  return true;
}

result<void> memory_share::grow(std::uint64_t bytes, const work_bounds& bounds) {
  memory_budget* const budget = budget_ != nullptr ? budget_ : bounds.memory;
  if (budget == nullptr || bytes == 0) return {};
  const error too_large{error_code::too_large, 0, "memory budget"};
  const std::uint64_t held = bytes_ + bounds.held;
  if (bytes > budget->bytes() || held > budget->bytes() - bytes) return too_large;
  while (!budget->try_take(bytes)) {
    if (held > 0) return error{error_code::too_many, 0, "memory budget"};
    if (const auto wanted = bounds.check(); !wanted)
      return wanted.error().code == error_code::cancelled
                 ? wanted.error()
                 : error{error_code::too_many, 0, "memory budget"};
    sys::pause_ms(look_ms);
  }
  budget_ = budget;
  bytes_ += bytes;
  return {};
}

void memory_share::join(memory_share other) noexcept {
  if (other.budget_ != nullptr) budget_ = other.budget_;
  bytes_ += std::exchange(other.bytes_, 0);
}

void memory_share::give_back() noexcept {
  if (budget_ != nullptr) budget_->held_.fetch_sub(bytes_, std::memory_order_relaxed);
  budget_ = nullptr;
  bytes_ = 0;
}

result<void> work_bounds::check() const noexcept {
  if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed))
    return error{error_code::cancelled, 0, "bounds"};
  if (deadline_ms != no_deadline && sys::monotonic_ms() >= deadline_ms)
    return error{error_code::timed_out, 0, "bounds"};
  return {};
}

std::int64_t deadline_in(std::uint64_t timeout_ms) noexcept {
  const std::int64_t now = sys::monotonic_ms();
  const auto room = static_cast<std::uint64_t>(work_bounds::no_deadline - now);
  return timeout_ms == 0 || timeout_ms >= room ? work_bounds::no_deadline
                                               : now + static_cast<std::int64_t>(timeout_ms);
}

} // namespace paddock
