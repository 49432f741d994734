// SPDX-License-Identifier: MIT
#pragma once

/// One MCP connection over a pair of descriptors: one message per line in, one per line out.
///
/// The thread that reads a message also handles it, so a small call costs no hand-off. A call that
/// declares that it may block, or is seen to run for some milliseconds, keeps its thread, and
/// another one reads on: pings and cancellations are answered while any number of tools run.
/// Threads are made when needed, up to a bound; beyond it calls wait in a bounded queue. Up to 256
/// calls that only wait (`call::only_waits`) have threads beside those. No more is read while the
/// queue is full, while the client does not read its answers, or while the calls under way came in
/// lines of more than 32 MiB together (twice message_in_bytes_max). Responses may be out of order.
///
/// Guaranteed: lines out are whole, whoever writes them; memory is bounded; an idle connection
/// never wakes. Not guaranteed: that a handler which ignores `call::cancelled()` is stopped. After
/// the end such a handler is left behind on its thread, counted in the outcome, and the program
/// should exit at once.
///
/// Thread-safety: `serve` may run on several threads for several pairs of descriptors;
/// `serve_stdio` once per process. SIGPIPE is ignored from then on in the whole process.

#include <paddock/base/result.hpp>
#include <paddock/mcp/server.hpp>

#include <cstddef>
#include <cstdint>

namespace paddock::mcp {

enum class end_reason : std::uint8_t {
  input_ended,   ///< the client closed its end, and what it had sent was answered
  output_closed, ///< nobody reads the answers any more, or they cannot be written
  stopped,       ///< stop_fd became readable
};

struct serve_outcome {
  end_reason reason = end_reason::input_ended;
  std::size_t calls_abandoned =
      0; ///< handlers that did not return in time; their threads still run
};

struct serve_options {
  int stop_fd = -1;          ///< when it becomes readable, the connection is ended; -1 for none
  unsigned threads_max = 32; ///< at least 1; with 1 a running tool keeps the connection waiting
};

/// Serves one connection until it ends, then returns within a second: calls still running get 250
/// ms to finish, then they are cancelled. The descriptors stay the caller's. Errors: too_many (no
/// descriptors left), io.
[[nodiscard]] result<serve_outcome> serve(const server& s, int in, int out,
                                          serve_options options = {});

/// Serves standard input and output, until they end or SIGTERM or SIGINT arrives. Meanwhile
/// descriptor 0 is /dev/null and 1 is standard error, so that nothing but the protocol reaches the
/// client.
[[nodiscard]] result<serve_outcome> serve_stdio(const server& s, serve_options options = {});

} // namespace paddock::mcp
