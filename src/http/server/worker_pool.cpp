// SPDX-License-Identifier: MIT
#include "http/server/worker_pool.hpp"

#include "base/start_thread.hpp"

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

void worker_pool::submit(std::unique_ptr<job> j) {
  const std::lock_guard lock(guard_);
  queue_.push_back(std::move(j));
  // Without a new thread the job waits for one that exists.
  if (queue_.size() > idle_ && threads_.size() < threads_max_) (void)add_thread();
  wake_.notify_one();
}

void worker_pool::work_until_finished() {
  std::unique_lock lock(guard_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [&] { return finished_ || !queue_.empty(); });
    --idle_;
    if (finished_) return;
    std::unique_ptr<job> j = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    j->run();
    lock.lock();
    --running_; // before it is known to be done: whoever knows may stop the pool and count
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
