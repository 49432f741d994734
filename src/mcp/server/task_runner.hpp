// SPDX-License-Identifier: MIT
#pragma once

// Threads that do one thing each, at most so many at once: the tasks of one connection or of all
// clients of an HTTP server, and answers of process_socket.
//
// Thread-safety: from any thread. A thread that does not end in time is left behind; what it needs
// lives as long as it runs.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace paddock::mcp {

class task_runner {
public:
  explicit task_runner(std::size_t running_max) : running_max_(running_max) {}
  task_runner(const task_runner&) = delete;
  task_runner& operator=(const task_runner&) = delete;
  ~task_runner();

  /// What a work calls before it tells anybody that it is done: the next one may begin then.
  using settling = std::function<void()>;
  /// False when too many are at work already, or the system has no thread left.
  [[nodiscard]] bool start(std::function<void(const settling&)> work);
  [[nodiscard]] std::size_t running() const;
  /// Whether all have ended by then.
  bool wait_until(std::chrono::steady_clock::time_point deadline) const;

private:
  struct shared {
    std::mutex guard;
    std::condition_variable ended;
    std::size_t working = 0; ///< those that have not settled
    std::size_t running = 0;
  };
  struct entry {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };
  void collect();

  const std::size_t running_max_;
  const std::shared_ptr<shared> shared_ = std::make_shared<shared>();
  std::mutex entries_guard_;
  std::vector<entry> entries_;
};

} // namespace paddock::mcp
