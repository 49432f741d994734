// SPDX-License-Identifier: MIT
#include "mcp/protocol/waiter.hpp"

#include "sys/cancellation.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::mcp {
namespace {

/// Without a descriptor to sleep on the thread looks around this often.
constexpr std::int64_t look_ms = 10;

} // namespace

waiter::waiter(std::int64_t deadline_ms, const cancellation* cancel) noexcept
    : cancel_(cancel), deadline_ms_(deadline_ms) {
  if (cancel == nullptr) return;
  if (const auto watched = cancellation_watch::descriptor(*cancel)) cancel_descriptor_ = *watched;
}

bool waiter::is_over() const noexcept {
  return is_finished() || (cancel_ != nullptr && cancel_->requested()) || left_ms() == 0;
}

std::int64_t waiter::left_ms() const noexcept {
  return std::max<std::int64_t>(0, deadline_ms_.load() - sys::monotonic_ms());
}

std::int64_t waiter::poll_ms() const noexcept {
  const bool deaf = cancel_ != nullptr && cancel_descriptor_ < 0;
  return deaf ? std::min(left_ms(), look_ms) : left_ms();
}

void waiter::sleep() {
  if (!owned_event_)
    if (auto event = sys::eventfd()) {
      owned_event_ = *std::move(event);
      event_.store(owned_event_.get()); // either finish sees it, or this thread sees the finish
    }
  if (is_over()) return;
  const std::int64_t wait_ms = owned_event_ ? poll_ms() : std::min(poll_ms(), look_ms);
  std::array<pollfd, 2> entries{{{.fd = owned_event_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = cancel_descriptor_, .events = POLLIN, .revents = 0}}};
  const auto ready = sys::poll(entries, wait_ms);
  if (ready && entries[0].revents != 0) sys::clear_event(owned_event_.get());
}

void waiter::finish() noexcept {
  finished_.store(true);
  wake();
}

void waiter::wake() noexcept {
  if (const int event = event_.load(); event >= 0) sys::raise_event(event);
}

} // namespace paddock::mcp
