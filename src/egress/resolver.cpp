// SPDX-License-Identifier: MIT
#include "egress/resolver.hpp"

#include "base/start_thread.hpp"
#include "sys/gateway_socket.hpp"
#include "sys/stream.hpp"

#include <utility>

namespace paddock::egress {
namespace {

constexpr unsigned threads_max = 4;

} // namespace

resolver::resolver(int event) : event_(event) {}

void resolver::ask(std::uint64_t key, std::string name) {
  const std::lock_guard guard(lock_);
  asked_.push_back({key, std::move(name)});
  std::thread another;
  if (threads_ < threads_max && start_thread(another, [this] { work(); })) {
    another.detach();
    ++threads_;
  }
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
  std::unique_lock guard(lock_);
  while (true) {
    wanted_.wait(guard, [this] { return !asked_.empty(); });
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
