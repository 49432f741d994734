// SPDX-License-Identifier: MIT
#include "mcp/stdio/connection.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/mcp/stdio_transport.hpp>

#include <gsl/assert>

#include <fcntl.h>

#include <utility>

namespace paddock::mcp {
namespace {

/// Input that is at its end: a root without /dev/null has a pipe that nobody writes to.
result<file_descriptor> nothing_to_read() {
  auto null = sys::openat(AT_FDCWD, "/dev/null", O_RDONLY);
  if (null || null.error().code != error_code::not_found) return null;
  PADDOCK_TRY(auto ends, sys::pipe2(0));
  return std::move(ends.first);
}

} // namespace

result<serve_outcome> serve(const server& s, int in, int out, serve_options options) {
  Expects(options.threads_max > 0);
  sys::ignore_sigpipe();
  PADDOCK_TRY(file_descriptor wake, sys::eventfd());
  const auto c = std::make_shared<connection>(s.shared_core(), in, out, std::move(wake), options);
  return c->supervise();
}

result<serve_outcome> serve_stdio(const server& s, serve_options options) {
  PADDOCK_TRY(const file_descriptor in, sys::duplicate(0));
  PADDOCK_TRY(const file_descriptor out, sys::duplicate(1));
  PADDOCK_TRY(const file_descriptor nothing, nothing_to_read());
  PADDOCK_TRY(const file_descriptor stop, sys::eventfd());
  PADDOCK_CHECK(sys::replace(0, nothing.get()));
  PADDOCK_CHECK(sys::replace(1, 2));
  if (options.stop_fd < 0) {
    options.stop_fd = stop.get();
    sys::redirect_termination(stop.get());
  }
  const auto outcome = serve(s, in.get(), out.get(), options);
  if (options.stop_fd == stop.get()) sys::redirect_termination(-1);
  PADDOCK_CHECK(sys::replace(0, in.get()));
  PADDOCK_CHECK(sys::replace(1, out.get()));
  return outcome;
}

} // namespace paddock::mcp
