// SPDX-License-Identifier: MIT
#pragma once

// The threads on which calls run: made when needed, up to a bound; beyond it calls wait.

#include "mcp/http/exchange.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace paddock::mcp {

class call_pool : public std::enable_shared_from_this<call_pool> {
public:
  struct job {
    std::shared_ptr<exchange> from;
    std::unique_ptr<work> what;
  };

  explicit call_pool(unsigned threads_max) : threads_max_(threads_max) {}

  /// Makes the first thread. False: the system has none left.
  [[nodiscard]] bool start();
  void submit(job j);
  /// Ends all threads, or leaves them behind when calls still run; returns how many do, or wait.
  [[nodiscard]] std::size_t stop();

private:
  [[nodiscard]] bool add_thread();
  void work_until_finished();

  const unsigned threads_max_;
  std::mutex guard_;
  std::condition_variable wake_;
  std::deque<job> queue_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool finished_ = false;
};

} // namespace paddock::mcp
