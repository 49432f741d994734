// SPDX-License-Identifier: MIT
#pragma once

// The threads on which requests are answered: made when needed, up to a bound; beyond it they wait.
// A job that only waits for others gives its place to the next one, and keeps its thread.

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
  /// What a job has while it runs: one of as many as there are threads.
  class place {
  public:
    explicit place(worker_pool& of) : of_(of) {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    /// From here to its end the job does little but wait. Where too many wait already it keeps its
    /// place until one of them ends. By the job's own thread; may be repeated.
    void give_up();

  private:
    friend worker_pool;
    worker_pool& of_;
    bool is_given_up_ = false;
    bool is_waiting_ = false; ///< as one of `waiting_max`
  };
  class job {
  public:
    virtual ~job() = default;
    virtual void run(place& mine) = 0;
    /// Tells that `run` has returned: who hears it may stop the pool and count.
    virtual void done() = 0;
  };

  /// As many run at once, and beside them `waiting_max` that have given up their places.
  worker_pool(unsigned running_max, unsigned waiting_max)
      : running_max_(running_max), waiting_max_(waiting_max) {}

  /// Makes the first thread. False: the system has none left.
  [[nodiscard]] bool start();
  void submit(std::unique_ptr<job> j);
  /// Ends all threads, or leaves them behind when jobs still run; returns how many do, or wait.
  [[nodiscard]] std::size_t stop();

private:
  [[nodiscard]] bool add_thread();
  void add_thread_if_wanted();
  void let_wait();
  void end(const place& of);
  void work_until_finished();
  [[nodiscard]] bool leave();

  const unsigned running_max_;
  const unsigned waiting_max_;
  std::mutex guard_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<job>> queue_;
  std::deque<place*> willing_; ///< to wait, as soon as they may
  std::vector<std::thread> threads_;
  std::vector<std::thread> gone_; ///< have ended, or are about to
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  std::size_t waiting_ = 0; ///< of those that run
  bool finished_ = false;
};

} // namespace paddock::http
