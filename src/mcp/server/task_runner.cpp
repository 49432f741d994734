// SPDX-License-Identifier: MIT
#include "mcp/server/task_runner.hpp"

#include "base/start_thread.hpp"

#include <utility>

namespace paddock::mcp {

task_runner::~task_runner() {
  for (entry& each : entries_) {
    if (each.done->load())
      each.thread.join();
    else
      each.thread.detach();
  }
}

/// Joins those that are done. The caller holds `entries_guard_`.
void task_runner::collect() {
  std::erase_if(entries_, [](entry& each) {
    if (!each.done->load()) return false;
    each.thread.join();
    return true;
  });
}

bool task_runner::start(std::function<void(const settling&)> work) {
  {
    const std::lock_guard lock(shared_->guard);
    if (shared_->working >= running_max_) return false;
    ++shared_->working;
    ++shared_->running;
  }
  const auto done = std::make_shared<std::atomic<bool>>(false);
  std::thread thread;
  const bool started =
      start_thread(thread, [work = std::move(work), done, common = shared_]() mutable {
        const settling settle = [&common, settled = false]() mutable {
          if (std::exchange(settled, true)) return;
          const std::lock_guard lock(common->guard);
          --common->working;
        };
        work(settle);
        settle();
        work = nullptr; // what it held goes before anybody hears of the end
        const std::lock_guard lock(common->guard);
        --common->running;
        done->store(true);
        common->ended.notify_all();
      });
  if (!started) {
    const std::lock_guard lock(shared_->guard);
    --shared_->working;
    --shared_->running;
    return false;
  }
  const std::lock_guard lock(entries_guard_);
  collect();
  entries_.push_back({std::move(thread), done});
  return true;
}

std::size_t task_runner::running() const {
  const std::lock_guard lock(shared_->guard);
  return shared_->running;
}

bool task_runner::wait_until(std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(shared_->guard);
  return shared_->ended.wait_until(lock, deadline, [&] { return shared_->running == 0; });
}

} // namespace paddock::mcp
