// SPDX-License-Identifier: MIT
#pragma once

// How long something runs, for who waits at a terminal, out of the way of its output.

#include <chrono>
#include <string_view>

namespace paddock::cli {

/// A line on standard error that tells that something still runs, once it has been silent for a
/// while. There is none where standard error is no terminal, and none behind a line of output that
/// has no end yet.
class progress_line {
public:
  explicit progress_line(std::string_view program);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { erase(); }

  /// Before output is written: takes the line away.
  void make_room(std::string_view output);
  /// To be called now and then.
  void tick();

private:
  using clock = std::chrono::steady_clock;
  void erase();

  const std::string_view program_;
  const bool wanted_;
  const clock::time_point began_ = clock::now();
  clock::time_point silent_since_ = began_;
  std::chrono::seconds shown_{0}; ///< 0: nothing is
  bool at_line_start_ = true;
};

} // namespace paddock::cli
