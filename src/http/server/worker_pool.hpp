// SPDX-License-Identifier: MIT
#pragma once

// The threads on which requests are answered: made when needed, up to a bound; beyond it they wait.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace paddock::http {

class worker_pool : public std::enable_shared_from_this<worker_pool> {
public:
  class job {
  public:
    virtual ~job() = default;
    virtual void run() = 0;
    /// Tells that `run` has returned: who hears it may stop the pool and count.
    virtual void done() = 0;
  };

  explicit worker_pool(unsigned threads_max) : threads_max_(threads_max) {}

  /// Makes the first thread. False: the system has none left.
  [[nodiscard]] bool start();
  void submit(std::unique_ptr<job> j);
  /// Ends all threads, or leaves them behind when jobs still run; returns how many do, or wait.
  [[nodiscard]] std::size_t stop();

private:
  [[nodiscard]] bool add_thread();
  void work_until_finished();

  const unsigned threads_max_;
  std::mutex guard_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<job>> queue_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool finished_ = false;
};

} // namespace paddock::http
