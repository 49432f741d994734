// SPDX-License-Identifier: MIT
#pragma once

// What processes change, in the history of the workspace: theirs, for as long as they run.

#include <paddock/exec/process.hpp>
#include <paddock/history/history.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace paddock::mcp {

/// Thread-safe.
class process_changes {
public:
  void add(const process& of, history::recording begun) {
    const std::lock_guard guard(lock_);
    open_.push_back({of, std::move(begun)});
  }
  /// Puts down what those have changed that ended since the last time. For the end of each, and for
  /// every call of a tool that changes or recalls something: what that does is not theirs.
  void settle() {
    const std::lock_guard until_put_down(settling_); // by whoever has seen the end first
    for (entry& each : take_ended())
      (void)each.begun.finish(history::command_reach::anywhere,
                              each.of.status().outcome->read_only);
  }

private:
  struct entry {
    process of;
    history::recording begun;
  };
  [[nodiscard]] std::vector<entry> take_ended() {
    const std::lock_guard guard(lock_);
    const auto running =
        std::ranges::partition(open_, [](const entry& each) { return each.of.status().running(); });
    std::vector<entry> ended(std::move_iterator(running.begin()),
                             std::move_iterator(running.end()));
    open_.erase(running.begin(), running.end());
    return ended;
  }

  std::mutex settling_;
  std::mutex lock_; ///< taken after `settling_`
  std::vector<entry> open_;
};

} // namespace paddock::mcp
