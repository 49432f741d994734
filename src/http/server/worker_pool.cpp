// SPDX-License-Identifier: MIT
#include "http/server/worker_pool.hpp"

#include "base/start_thread.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::http {

bool worker_pool::start() {
  const std::lock_guard lock(guard_);
  return add_thread();
}

bool worker_pool::add_thread() {
  std::thread t;
  if (!start_thread(t, [self = shared_from_this()] { self->work_until_finished(); })) return false;
  threads_.push_back(std::move(t));
  return true;
}

/// Without a new thread the jobs wait for one that exists.
void worker_pool::add_thread_if_wanted() {
  if (queue_.size() > idle_ && threads_.size() < running_max_ + waiting_) (void)add_thread();
}

void worker_pool::submit(std::unique_ptr<job> j) {
  const std::lock_guard lock(guard_);
  queue_.push_back(std::move(j));
  add_thread_if_wanted();
  wake_.notify_one();
}

void worker_pool::place::give_up() {
  const std::lock_guard lock(of_.guard_);
  if (is_given_up_ || of_.finished_) return;
  is_given_up_ = true;
  of_.willing_.push_back(this);
  of_.let_wait();
}

/// As many as may wait, in the order in which they gave up their places.
void worker_pool::let_wait() {
  while (waiting_ < waiting_max_ && !willing_.empty()) {
    willing_.front()->is_waiting_ = true;
    willing_.pop_front();
    ++waiting_;
    add_thread_if_wanted();
  }
}

void worker_pool::end(const place& of) {
  std::erase(willing_, &of);
  if (of.is_waiting_) --waiting_;
  let_wait();
}

/// Whether there is one thread too many, because a job that had given up its place has ended; it is
/// this one then.
bool worker_pool::leave() {
  if (finished_ || threads_.size() <= running_max_ + waiting_) return false;
  for (std::thread& each : gone_)
    each.join(); // they need the guard no more
  gone_.clear();
  const auto mine = std::ranges::find(threads_, std::this_thread::get_id(), &std::thread::get_id);
  gone_.push_back(std::move(*mine));
  threads_.erase(mine);
  return true;
}

void worker_pool::work_until_finished() {
  std::unique_lock lock(guard_);
  while (!leave()) {
    ++idle_;
    wake_.wait(lock, [&] { return finished_ || !queue_.empty(); });
    --idle_;
    if (finished_) return;
    std::unique_ptr<job> j = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    place mine(*this);
    j->run(mine);
    lock.lock();
    --running_; // before it is known to be done: whoever knows may stop the pool and count
    end(mine);
    lock.unlock();
    j->done();
    j.reset();
    lock.lock();
  }
}

std::size_t worker_pool::stop() {
  std::vector<std::thread> threads;
  std::size_t left = 0;
  {
    const std::lock_guard lock(guard_);
    finished_ = true;
    left = running_ + queue_.size();
    queue_.clear();
    threads.swap(threads_);
    std::ranges::move(gone_, std::back_inserter(threads));
    gone_.clear();
  }
  wake_.notify_all();
  for (std::thread& t : threads) {
    if (left == 0)
      t.join();
    else
      t.detach(); // each keeps this object alive
  }
  return left;
}

} // namespace paddock::http
