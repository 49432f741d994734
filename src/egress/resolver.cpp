// SPDX-License-Identifier: MIT
#include "egress/resolver.hpp"

#include "sys/gateway_socket.hpp"
#include "sys/stream.hpp"

#include <utility>

namespace paddock::egress {
namespace {

constexpr unsigned threads_max = 4;

} // namespace

resolver::resolver(int event) : event_(event) {}

/// Threads that look something up cannot be woken; the process ends without them.
resolver::~resolver() {
  const std::lock_guard guard(lock_);
  ends_ = true;
  wanted_.notify_all();
  for (std::thread& each : threads_)
    each.detach();
}

void resolver::ask(std::uint64_t key, std::string name) {
  const std::lock_guard guard(lock_);
  asked_.push_back({key, std::move(name)});
  if (threads_.size() < threads_max && threads_.size() < asked_.size() + 1)
    threads_.emplace_back([this] { work(); });
  wanted_.notify_one();
}

void resolver::forget(std::uint64_t key) {
  const std::lock_guard guard(lock_);
  std::erase_if(asked_, [key](const asked& each) { return each.key == key; });
}

std::vector<resolved> resolver::take() {
  const std::lock_guard guard(lock_);
  sys::clear_event(event_);
  return std::exchange(done_, {});
}

void resolver::work() {
  sys::block_signals();
  std::unique_lock guard(lock_);
  while (true) {
    wanted_.wait(guard, [this] { return ends_ || !asked_.empty(); });
    if (ends_) return;
    const asked next = std::move(asked_.front());
    asked_.pop_front();
    guard.unlock();
    sys::take_names_as_they_are();
    auto found = sys::getaddrinfo(next.name.c_str());
    guard.lock();
    done_.push_back({next.key, found ? *std::move(found) : std::vector<sys::ip_address>{}});
    sys::raise_event(event_);
  }
}

} // namespace paddock::egress
