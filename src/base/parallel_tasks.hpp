// SPDX-License-Identifier: MIT
#pragma once

// Tasks that lead to more tasks, as directories lead to those in them, shared by the calling thread
// and some others.

#include "base/start_thread.hpp"

#include <paddock/base/result.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace paddock {

/// Calls enter(task, tally, more) for each task, and for each one that it puts into `more`; the one
/// that was put there last comes first. A tally is of one thread.
template <class Task, class Tally, class Enter> class parallel_tasks {
public:
  /// `threads_max` counts the calling one. The others begin when so many tasks wait as are worth a
  /// thread; fewer are used where the system has no more.
  parallel_tasks(unsigned threads_max, std::size_t waiting_worth_a_thread, Enter enter)
      : threads_max_(threads_max), worth_(waiting_worth_a_thread), enter_(std::move(enter)) {}

  /// Once. The tallies come in no order, those before an error too. Errors: the first one of
  /// `enter`, which ends it.
  [[nodiscard]] result<void> run(Task first, std::vector<Tally>& tallies) {
    tasks_.push_back(std::move(first));
    work(role::caller);
    for (std::thread& other : others_)
      other.join();
    tallies = std::move(tallies_);
    if (ended_) return *ended_;
    return {};
  }

private:
  enum class role : unsigned char { caller, other };

  void work(role by) {
    Tally met{};
    std::vector<Task> more;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !tasks_.empty() || busy_ == 0 || ended_; });
      if (tasks_.empty() || ended_) break;
      Task next = std::move(tasks_.back());
      tasks_.pop_back();
      ++busy_;
      lock.unlock();
      const result<void> entered = enter_(next, met, more);
      next = {};
      lock.lock();
      --busy_;
      if (!entered && !ended_) ended_ = entered.error();
      std::ranges::move(more, std::back_inserter(tasks_));
      more.clear();
      if (by == role::caller && others_.empty()) start_others();
      if (!others_.empty()) changed_.notify_all();
    }
    tallies_.push_back(std::move(met));
    changed_.notify_all();
  }

  void start_others() {
    if (tasks_.size() < worth_) return;
    while (others_.size() + 1 < threads_max_) {
      std::thread other;
      if (!start_thread(other, [this] { work(role::other); })) return;
      others_.push_back(std::move(other));
    }
  }

  const unsigned threads_max_;
  const std::size_t worth_;
  Enter enter_;

  std::mutex mutex_; // of all below
  std::condition_variable changed_;
  std::vector<Task> tasks_;
  std::size_t busy_ = 0;
  std::optional<error> ended_;
  std::vector<Tally> tallies_;
  std::vector<std::thread> others_; // of the caller alone
};

} // namespace paddock
