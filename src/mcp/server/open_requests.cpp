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
const request_id& id_of_subscription(const std::shared_ptr<subscription>& it) noexcept {
  return it->id();
}

} // namespace

bool open_requests::contains(const request_id& id) const {
  const std::lock_guard lock(guard_);
  return std::ranges::find(calls_, id, id_of) != calls_.end() ||
         std::ranges::find(subscriptions_, id, id_of_subscription) != subscriptions_.end();
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

bool open_requests::subscribe(std::shared_ptr<subscription> it) {
  const std::lock_guard lock(guard_);
  if (subscriptions_.size() >= subscriptions_max) return false;
  subscriptions_.push_back(std::move(it));
  return true;
}

void open_requests::cancel(const request_id& id) {
  std::unique_lock lock(guard_);
  std::erase_if(subscriptions_, [&](const std::shared_ptr<subscription>& each) {
    if (each->id() != id) return false;
    each->end();
    return true;
  });
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
  std::vector<request_id> over;
  for (const auto& each : std::exchange(subscriptions_, {})) {
    each->end();
    over.push_back(each->id());
  }
  return over;
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
