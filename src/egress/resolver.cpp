// SPDX-License-Identifier: MIT
#include "egress/resolver.hpp"

#include "base/start_thread.hpp"
#include "sys/gateway_socket.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace paddock::egress {
namespace {

constexpr unsigned threads_max = 16;
constexpr unsigned threads_of_domain_max = 4;
constexpr std::int64_t known_ms = 5'000;
constexpr std::size_t remembered_max = 1'000;

/// The last two labels.
std::string_view domain_of(std::string_view name) {
  const auto last = name.rfind('.');
  if (last == std::string_view::npos || last == 0) return name;
  const auto before = name.rfind('.', last - 1);
  return before == std::string_view::npos ? name : name.substr(before + 1);
}

} // namespace

resolver::resolver(int event) : event_(event) {}

void resolver::ask(std::uint64_t key, const std::string& name) {
  const std::lock_guard guard(lock_);
  make_room();
  lookup& at = names_[name];
  if (!at.found.empty() && sys::monotonic_ms() < at.until_ms) {
    done_.push_back({key, at.found});
    return sys::raise_event(event_);
  }
  at.waiting.push_back(key);
  if (at.waiting.size() > 1) return; // somebody has asked
  asked_.push_back(name);
  start_worker();
  wanted_.notify_one();
}

void resolver::start_worker() {
  std::thread another;
  if (idle_ >= asked_.size() || threads_ == threads_max ||
      !start_thread(another, [this] { work(); }))
    return;
  another.detach();
  ++threads_;
}

/// Gives up old answers, and the others when there are many.
void resolver::make_room() {
  if (names_.size() < remembered_max) return;
  const std::int64_t now_ms = sys::monotonic_ms();
  const auto drop = [&](std::int64_t until_ms) {
    std::erase_if(names_, [&](const auto& each) {
      return each.second.waiting.empty() && each.second.until_ms <= until_ms;
    });
  };
  drop(now_ms);
  if (names_.size() >= remembered_max) drop(now_ms + known_ms);
}

void resolver::forget(std::uint64_t key, const std::string& name) {
  const std::lock_guard guard(lock_);
  const auto at = names_.find(name);
  if (at == names_.end() || std::erase(at->second.waiting, key) == 0) return;
  const auto asked = std::ranges::find(asked_, name);
  if (!at->second.waiting.empty() || asked == asked_.end()) return;
  asked_.erase(asked);
  names_.erase(at);
}

std::vector<resolved> resolver::take() {
  const std::lock_guard guard(lock_);
  sys::clear_event(event_);
  return std::exchange(done_, {});
}

/// The first name of a domain that has not enough threads already.
std::deque<std::string>::iterator resolver::next() {
  return std::ranges::find_if(asked_, [this](const std::string& name) {
    const auto busy = busy_.find(domain_of(name));
    return busy == busy_.end() || busy->second < threads_of_domain_max;
  });
}

void resolver::work() {
  std::unique_lock guard(lock_);
  while (true) {
    ++idle_;
    wanted_.wait(guard, [this] { return next() != asked_.end(); });
    --idle_;
    const auto chosen = next();
    const std::string name = std::move(*chosen);
    asked_.erase(chosen);
    const std::string domain(domain_of(name));
    ++busy_[domain];
    guard.unlock();
    sys::take_names_as_they_are();
    auto found = sys::getaddrinfo(name.c_str());
    guard.lock();
    if (--busy_[domain] == 0) busy_.erase(domain);
    lookup& at = names_[name];
    at.until_ms = sys::monotonic_ms() + known_ms;
    at.found = found ? *std::move(found) : std::vector<sys::ip_address>{};
    for (const std::uint64_t key : std::exchange(at.waiting, {}))
      done_.push_back({key, at.found});
    sys::raise_event(event_);
  }
}

} // namespace paddock::egress
