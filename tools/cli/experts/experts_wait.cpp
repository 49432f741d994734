// SPDX-License-Identifier: MIT
#include "experts_wait.hpp"

#include <algorithm>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::chrono::seconds patience(2);

} // namespace

waiting_notices::waiting_notices(std::function<void(const std::string& skill)> say)
    : say_(std::move(say)), thread_([this] { watch(); }) {}

waiting_notices::~waiting_notices() {
  stop();
}

void waiting_notices::stop() {
  {
    const std::lock_guard lock(guard_);
    over_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void waiting_notices::begin(std::string_view skill) {
  {
    const std::lock_guard lock(guard_);
    due_.insert_or_assign(std::string(skill), clock::now() + patience);
  }
  changed_.notify_one();
}

void waiting_notices::end(std::string_view skill) {
  const std::lock_guard lock(guard_);
  if (const auto found = due_.find(skill); found != due_.end()) due_.erase(found);
}

void waiting_notices::watch() {
  std::unique_lock lock(guard_);
  while (!over_) {
    const auto next =
        std::ranges::min_element(due_, {}, [](const auto& each) { return each.second; });
    if (next == due_.end()) {
      changed_.wait(lock);
    } else if (next->second > clock::now()) {
      changed_.wait_until(lock, next->second);
    } else {
      say_(next->first);
      due_.erase(next);
    }
  }
}

} // namespace paddock::cli
