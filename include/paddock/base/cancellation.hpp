// SPDX-License-Identifier: MIT
#pragma once

/// A request to end what runs, made from another thread or a signal handler: a command, a call to a
/// server. It asks; whoever runs the work looks at it, and the work ends soon after.
///
/// Thread-safety: everything here may be called from any thread, and `request` also from a signal
/// handler.

namespace paddock {

/// Ends running commands from another thread. Copies refer to the same request, which cannot be
/// taken back; any number of commands may watch one.
class cancellation {
public:
  /// Holds one descriptor. When none can be had, `run` refuses to start with too_many.
  cancellation() noexcept;
  cancellation(const cancellation& other) noexcept;
  cancellation& operator=(const cancellation& other) noexcept;
  ~cancellation();

  /// The commands get SIGTERM now and SIGKILL after their grace. Repeating it changes nothing.
  void request() const noexcept;
  /// Whether `request` was called on this or a copy.
  [[nodiscard]] bool requested() const noexcept;

private:
  friend class cancellation_watch;
  struct state;
  state* state_; ///< counted; never null
};

} // namespace paddock
