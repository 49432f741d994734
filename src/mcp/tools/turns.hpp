// SPDX-License-Identifier: MIT
#pragma once

// Calls that need all processors take turns. Those that wait leave their threads to other calls.
// Thread-safe.

#include <paddock/mcp/tool.hpp>

#include <condition_variable>
#include <mutex>

namespace paddock::mcp {

class turns {
public:
  explicit turns(unsigned running_max) : free_(static_cast<int>(running_max)) {}

  /// Held while the work is done.
  class turn {
  public:
    /// Waits until it is this call's turn, or the call is cancelled.
    turn(turns& of, call& c) : of_(of) {
      c.may_block();
      std::unique_lock lock(of_.guard_);
      if (of_.free_ <= 0) {
        lock.unlock();
        c.only_waits();
        c.on_cancel([&all = of_] { all.wake(); });
        lock.lock();
        of_.changed_.wait(lock, [&] { return of_.free_ > 0 || c.cancelled(); });
      }
      --of_.free_;
      lock.unlock();
      c.on_cancel({});
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() {
      const std::lock_guard lock(of_.guard_);
      ++of_.free_;
      of_.changed_.notify_one();
    }

  private:
    turns& of_;
  };

private:
  void wake() {
    const std::lock_guard lock(guard_);
    changed_.notify_all();
  }
  std::mutex guard_;
  std::condition_variable changed_;
  int free_; ///< below zero where cancelled calls did not wait
};

} // namespace paddock::mcp
