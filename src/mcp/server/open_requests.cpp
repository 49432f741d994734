// SPDX-License-Identifier: MIT
#include "mcp/server/open_requests.hpp"

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t subscriptions_max = 64;

const request_id& id_of(const active_call* c) noexcept {
  return c->request().id;
}

} // namespace

bool open_requests::contains(const request_id& id) const {
  const std::lock_guard lock(guard_);
  return std::ranges::find(calls_, id, id_of) != calls_.end() ||
         std::ranges::find(subscriptions_, id) != subscriptions_.end();
}

void open_requests::add(active_call& c) {
  const std::lock_guard lock(guard_);
  calls_.push_back(&c);
  if (ending_) c.cancel(*ending_);
}

void open_requests::close(active_call& c) {
  const std::lock_guard lock(guard_);
  const std::lock_guard call_lock(c.guard);
  std::erase(calls_, &c);
}

bool open_requests::subscribe(const request_id& id) {
  const std::lock_guard lock(guard_);
  if (subscriptions_.size() >= subscriptions_max) return false;
  subscriptions_.push_back(id);
  return true;
}

void open_requests::cancel(const request_id& id) {
  std::unique_lock lock(guard_);
  std::erase(subscriptions_, id);
  const auto found = std::ranges::find(calls_, id, id_of);
  if (found == calls_.end()) return;
  active_call& c = **found;
  // Taking the call's lock before giving up the table's keeps the call alive: `close` needs both.
  const std::lock_guard call_lock(c.guard);
  lock.unlock();
  c.cancel(active_call::canceller::client);
}

std::vector<request_id> open_requests::cancel_all(active_call::canceller who) {
  const std::lock_guard lock(guard_);
  ending_ = who;
  for (active_call* c : calls_) {
    const std::lock_guard call_lock(c->guard);
    c->cancel(who);
  }
  return std::exchange(subscriptions_, {});
}

std::size_t open_requests::calls() const {
  const std::lock_guard lock(guard_);
  return calls_.size();
}

bool open_requests::has_subscriptions() const {
  const std::lock_guard lock(guard_);
  return !subscriptions_.empty();
}

} // namespace paddock::mcp
