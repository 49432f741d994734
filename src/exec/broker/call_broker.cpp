// SPDX-License-Identifier: MIT
#include "exec/broker/call_broker.hpp"

#include "sys/filtered_call.hpp"

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

void call_broker::answer(short revents) {
  if ((revents & POLLIN) == 0) return listener_.reset(); // nobody is left who could call
  const int listener = listener_.get();
  const auto call = sys::take_filtered_call(listener);
  if (!call) {
    const bool is_over = call.error().os_errno == ENOENT || call.error().os_errno == EINTR;
    if (!is_over) listener_.reset(); // calls that wait are refused
    return;
  }
  // Of a link only the fact counts: its arguments can change before the call runs.
  met_link_ = met_link_ || is_link(call->number);
  const auto answered = is_link(call->number)
                            ? sys::let_go_on(listener, *call)
                            : sys::answer(listener, *call, attributes_.make(listener, *call));
  if (!answered) listener_.reset();
}

} // namespace paddock
