// SPDX-License-Identifier: MIT
#include "base/start_thread.hpp"
#include "skill_manager/mcp_skill_state.hpp"
#include "skill_manager/reconnect_pause.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::skill_manager {
namespace {

/// What another attempt would meet again.
bool is_for_good(const error& e) {
  return e.code == error_code::permission_denied || e.code == error_code::denied_by_policy;
}

std::uint32_t random_bits() {
  std::uint32_t bits = 0;
  // Without a source of randomness the pauses only lose their jitter.
  (void)sys::getrandom({reinterpret_cast<char*>(&bits), sizeof bits}).has_value();
  return bits;
}

} // namespace

/// On a thread of the client.
void mcp_skill::shared::on_lost() {
  const std::lock_guard lock(guard);
  if (!closing && !busy && is_remote() && current == skill_manager::state::ready)
    begin_reconnecting();
}

/// Under the guard.
void mcp_skill::shared::begin_reconnecting() {
  if (sys::monotonic_ms() - connected_at_ms > options.reconnect.max_ms) attempt = 0;
  current = skill_manager::state::reconnecting;
  lost_because = link->why_lost();
  asked_pause_ms = link->client().retry_ms();
  if (!reconnector.joinable() && !start_thread(reconnector, [this] { reconnect_until_closed(); }))
    (void)remember({options.name,
                    {error_code::too_many, 0, "thread"},
                    "the server was lost (" + lost_because +
                        "), and the system has no thread left to reach it again"});
  changed.notify_all();
}

void mcp_skill::shared::reconnect_until_closed() {
  using skill_manager::state;
  std::unique_lock lock(guard);
  for (;;) {
    changed.wait(lock, [&] { return closing || (current == state::reconnecting && !busy); });
    if (closing || !reconnect(lock)) return;
  }
}

/// One pause and one attempt. False when the skill is closed.
bool mcp_skill::shared::reconnect(std::unique_lock<std::mutex>& lock) {
  using skill_manager::state;
  ++attempt;
  const std::int64_t pause_ms =
      pause_before(options.reconnect, attempt, asked_pause_ms, random_bits());
  const std::string why = lost_because;
  const unsigned number = attempt;
  busy = true; // so that close waits for the event
  lock.unlock();
  tell(event::reconnecting{options.name, why, number, pause_ms});
  lock.lock();
  busy = false;
  changed.notify_all();
  if (changed.wait_for(lock, std::chrono::milliseconds(pause_ms), [&] { return closing; }))
    return false;

  current = state::starting;
  busy = true;
  auto old = std::exchange(link, nullptr);
  lock.unlock();
  old.reset();
  auto made = session::open(options, hooks, stop);
  lock.lock();
  busy = false;
  changed.notify_all();
  if (made) {
    current = state::ready;
    link = *std::move(made);
    connected_at_ms = sys::monotonic_ms();
    if (!link->connected() && !closing) begin_reconnecting();
  } else if (is_for_good(made.error())) {
    (void)remember(std::move(made).error());
  } else {
    current = state::reconnecting;
    lost_because = explain(made.error());
  }
  return !closing;
}

std::string mcp_skill::shared::when_again() const {
  return "it is being connected to again, attempt " + std::to_string(std::max(1U, attempt)) +
         "; call again later";
}

} // namespace paddock::skill_manager
