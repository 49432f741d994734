// SPDX-License-Identifier: MIT
#include "exec/input_relay.hpp"

#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>

#include <array>
#include <cerrno>

namespace paddock {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{16} * 1024;

} // namespace

input_relay::input_relay(int from)
    : from_(from), buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)) {}

confine::run_manner::streams input_relay::streams() const noexcept {
  return confine::run_manner::streams::given;
}

/// Nothing more is read while the command has not taken what was.
int input_relay::news() const noexcept {
  const bool wants_more = runs_ && !ended_ && unwritten_.empty();
  return wants_more && !sys::is_background_of(from_) ? from_ : -1;
}

void input_relay::runs() {
  runs_ = true;
}

std::optional<std::int64_t> input_relay::take_stop() {
  return std::nullopt;
}

/// What cannot be read has ended.
void input_relay::read_more() {
  std::array<pollfd, 1> ready{{{news(), POLLIN, 0}}};
  const auto found = sys::poll(ready, 0);
  if (!found || ready[0].fd < 0 || ready[0].revents == 0) return;
  const auto size = sys::read(from_, {buffer_.get(), buffer_bytes});
  if (!size && size.error().os_errno == EAGAIN) return;
  ended_ = !size || *size == 0;
  if (size) unwritten_ = {buffer_.get(), *size};
}

input_state input_relay::write_input(int fd) {
  if (unwritten_.empty()) read_more();
  while (!unwritten_.empty()) {
    const auto written = sys::write_quietly(fd, unwritten_);
    if (!written && written.error().os_errno == EAGAIN) return input_state::more;
    if (!written) { // nobody reads it any more
      ended_ = true;
      unwritten_ = {};
      return input_state::closed;
    }
    unwritten_.remove_prefix(*written);
  }
  return ended_ ? input_state::closed : input_state::idle;
}

} // namespace paddock
