// SPDX-License-Identifier: MIT
#include "exec/broker/call_broker.hpp"

#include <poll.h>
#include <sys/syscall.h>

#include <cerrno>

namespace paddock {
namespace {

bool is_link(int call) {
#ifdef SYS_link
  if (call == SYS_link) return true;
#endif
  return call == SYS_linkat;
}

} // namespace

/// Of a link only the fact counts: its arguments can change before the call runs.
std::optional<int> call_broker::make(const sys::filtered_call& call) {
  if (is_link(call.number)) {
    met_link_ = true;
    return std::nullopt;
  }
  if (signal_broker::is_about(call.number)) return signals_.make(listener_.get(), call);
  return attributes_.make(listener_.get(), call);
}

void call_broker::answer(short revents) {
  if ((revents & POLLIN) == 0) return listener_.reset(); // nobody is left who could call
  const int listener = listener_.get();
  const auto call = sys::take_filtered_call(listener);
  if (!call) {
    const bool is_over = call.error().os_errno == ENOENT || call.error().os_errno == EINTR;
    if (!is_over) listener_.reset(); // calls that wait are refused
    return;
  }
  const std::optional<int> made = make(*call);
  const auto sent = made ? sys::answer(listener, *call, *made) : sys::let_go_on(listener, *call);
  if (!sent) listener_.reset();
}

} // namespace paddock
