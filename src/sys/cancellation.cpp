// SPDX-License-Identifier: MIT
#include "sys/cancellation.hpp"

#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace paddock {

cancellation::cancellation() noexcept : state_(new state{.event = sys::eventfd()}) {}

cancellation::cancellation(const cancellation& other) noexcept : state_(other.state_) {
  state_->owners.fetch_add(1, std::memory_order_relaxed);
}

cancellation& cancellation::operator=(const cancellation& other) noexcept {
  cancellation copy(other);
  std::swap(state_, copy.state_);
  return *this;
}

cancellation::~cancellation() {
  if (state_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete state_;
}

void cancellation::request() const noexcept {
  if (state_->requested.exchange(true) || !state_->event) return;
  const std::uint64_t one = 1;
  const std::string_view bytes(reinterpret_cast<const char*>(&one), sizeof one);
  (void)sys::write(state_->event->get(), bytes).has_value(); // cannot fail: the counter is 0 before
}

bool cancellation::requested() const noexcept {
  return state_->requested;
}

} // namespace paddock
