// SPDX-License-Identifier: MIT
#include "exec/held_egress.hpp"

#include "exec/held_helper.hpp"
#include "exec/protocol/egress_protocol.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/path/lexical_path.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace paddock {
namespace {

constexpr const char* program_name = "paddock-egress";
constexpr std::size_t remembered_max = 2'000;
/// Without an answer by then, late events count for a later command.
constexpr std::int64_t flush_ms_max = 500;
constexpr std::int64_t look_again_ms = 10;
constexpr std::int64_t end_ms_max = 50; // it goes on by itself

std::string text_in(const char* text, std::size_t size) {
  const std::string_view all(text, size);
  return std::string(all.substr(0, all.find('\0')));
}

static_assert(static_cast<std::size_t>(sys::egress_kind::gateway_ended) ==
              static_cast<std::size_t>(network_event::outcome::gateway_ended));

network_event event_of(const sys::egress_event& event) {
  return {.what = static_cast<network_event::outcome>(event.kind),
          .host = text_in(event.host, sizeof event.host),
          .port = event.port,
          .detail = text_in(event.detail, sizeof event.detail),
          .sent = event.sent,
          .received = event.received};
}

result<std::shared_ptr<held_helper>> hold_program(const std::string& helper) {
  std::string own = helper;
  if (own.empty()) {
    PADDOCK_TRY(own, find_command_helper());
  }
  return hold_helper(join(parent(own), program_name));
}

} // namespace

result<std::shared_ptr<held_egress>>
held_egress::start(const confinement_policy& policy, const std::vector<file_descriptor>& listeners,
                   const std::string& helper) {
  PADDOCK_TRY(const auto program, hold_program(helper));
  PADDOCK_TRY(auto ends, sys::socketpair(SOCK_SEQPACKET));
  PADDOCK_TRY(const auto list, sys::sealed_memory(policy.hosts.text()));
  std::vector<int> inherited{ends.second.get(), list.get()};
  std::vector<std::string> words{program_name, std::to_string(ends.second.get()),
                                 std::to_string(list.get()), policy.egress_proxy};
  for (const file_descriptor& each : listeners) {
    inherited.push_back(each.get());
    words.push_back(std::to_string(each.get()));
  }
  const std::vector<char*> argv = pointers_to(words);
  std::array<char*, 1> environment{nullptr};
  std::shared_ptr<held_egress> made(new held_egress);
  PADDOCK_TRY(made->program_, spawn(*program, argv.data(), environment.data(), inherited));
  made->channel_ = std::move(ends.first);
  return made;
}

/// It goes on until the bytes that ended commands have sent are delivered, as the kernel does for
/// programs that have ended.
held_egress::~held_egress() {
  channel_.reset();
  if (program_.handle) sys::wait_for(program_, end_ms_max);
}

/// False when there is nothing to take.
bool held_egress::take_one() {
  sys::egress_event event;
  const auto size =
      sys::recv_nowait(channel_.get(), {reinterpret_cast<char*>(&event), sizeof event});
  if (!size && size.error().os_errno == EAGAIN) return false;
  if (!size || *size != sizeof event) {
    is_over_ = true;
    return false;
  }
  if (event.kind >= sys::egress_kind::flushed) {
    flushed_ = std::max(flushed_, event.began);
    return true;
  }
  events_.push_back({next_++, event.began, event_of(event)});
  if (events_.size() <= remembered_max) return true;
  // However many connections there are, they hide no refusal.
  const auto at = std::ranges::find_if(events_, [](const numbered& each) {
    return each.what.what <= network_event::outcome::ended;
  });
  events_.erase(at == events_.end() ? events_.begin() : at);
  return true;
}

int held_egress::news() {
  const std::lock_guard guard(lock_);
  return is_over_ ? -1 : channel_.get();
}

std::vector<network_event> held_egress::take_new() {
  const std::lock_guard guard(lock_);
  while (take_one()) {
  }
  std::vector<network_event> found;
  const std::uint64_t first = std::exchange(new_, next_);
  for (const numbered& each : events_)
    if (each.number >= first) found.push_back(each.what);
  return found;
}

/// Never waits with the lock: others have commands to look after.
void held_egress::wait_for_flush() {
  std::unique_lock guard(lock_);
  const sys::egress_flush request{++asked_};
  if (is_over_ ||
      !sys::send_nowait(channel_.get(), {reinterpret_cast<const char*>(&request), sizeof request}))
    return;
  const std::int64_t deadline_ms = sys::monotonic_ms() + flush_ms_max;
  while (flushed_ < request.number && !is_over_) {
    if (take_one()) continue;
    guard.unlock();
    std::array<pollfd, 1> event{{{channel_.get(), POLLIN, 0}}};
    const auto left_ms = deadline_ms - sys::monotonic_ms();
    // Another thread may take the answer.
    if (left_ms <= 0 || !sys::poll(event, std::min(left_ms, look_again_ms))) return;
    guard.lock();
  }
}

std::uint64_t held_egress::mark() {
  wait_for_flush();
  const std::lock_guard guard(lock_);
  return flushed_;
}

std::vector<network_event> held_egress::since(std::uint64_t mark) {
  wait_for_flush();
  const std::lock_guard guard(lock_);
  std::vector<network_event> found;
  for (const numbered& each : events_)
    if (each.began >= mark) found.push_back(each.what);
  if (is_over_)
    found.push_back({.what = network_event::outcome::gateway_ended, .host = program_name});
  return found;
}

bool held_egress::is_over() {
  const std::lock_guard guard(lock_);
  while (take_one()) {
  }
  return is_over_;
}

} // namespace paddock
