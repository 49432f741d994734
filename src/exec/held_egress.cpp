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

#include <array>
#include <cerrno>
#include <utility>

namespace paddock {
namespace {

constexpr const char* program_name = "paddock-egress";
constexpr std::size_t remembered_max = 2'000;
/// Without an answer by then, late events count for a later command.
constexpr std::int64_t flush_ms_max = 500;
constexpr std::int64_t end_ms_max = 2'000;

std::string text_in(const char* text, std::size_t size) {
  const std::string_view all(text, size);
  return std::string(all.substr(0, all.find('\0')));
}

static_assert(static_cast<std::size_t>(sys::egress_kind::too_many) ==
              static_cast<std::size_t>(network_event::outcome::too_many));

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
  std::vector<int> inherited{ends.second.get()};
  std::vector<std::string> words{program_name, std::to_string(ends.second.get()),
                                 policy.hosts.text(), policy.egress_proxy};
  for (const file_descriptor& each : listeners) {
    inherited.push_back(each.get());
    words.push_back(std::to_string(each.get()));
  }
  const std::vector<char*> argv = pointers_to(words);
  std::array<char*, 1> environment{nullptr};
  std::shared_ptr<held_egress> made(new held_egress);
  PADDOCK_TRY(made->program_, spawn(*program, argv.data(), environment.data(), inherited));
  made->channel_ = std::move(ends.first);
  made->on_event_ = policy.on_network;
  return made;
}

held_egress::~held_egress() {
  channel_.reset();
  if (program_.handle && !sys::wait_for(program_, end_ms_max)) {
    (void)sys::pidfd_send_signal(program_.handle.get(), SIGKILL);
    sys::wait(program_);
  }
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
    flushed_ = true;
    return true;
  }
  events_.push_back(event_of(event));
  if (on_event_) on_event_(events_.back());
  if (events_.size() > remembered_max) {
    events_.pop_front();
    ++first_;
  }
  return true;
}

int held_egress::news() {
  const std::lock_guard guard(lock_);
  return is_over_ ? -1 : channel_.get();
}

void held_egress::listen() {
  const std::lock_guard guard(lock_);
  while (take_one()) {
  }
}

void held_egress::wait_for_flush() {
  flushed_ = false;
  if (is_over_ || !sys::send_nowait(channel_.get(), {&sys::egress_flush, 1})) return;
  const std::int64_t deadline_ms = sys::monotonic_ms() + flush_ms_max;
  while (!flushed_ && !is_over_) {
    if (take_one()) continue;
    std::array<pollfd, 1> event{{{channel_.get(), POLLIN, 0}}};
    const auto left_ms = deadline_ms - sys::monotonic_ms();
    if (left_ms <= 0 || !sys::poll(event, left_ms)) return;
  }
}

std::uint64_t held_egress::mark() {
  const std::lock_guard guard(lock_);
  wait_for_flush();
  return first_ + events_.size();
}

std::vector<network_event> held_egress::since(std::uint64_t mark) {
  const std::lock_guard guard(lock_);
  wait_for_flush();
  const std::uint64_t skipped = mark > first_ ? mark - first_ : 0;
  if (skipped >= events_.size()) return {};
  return {events_.begin() + static_cast<std::ptrdiff_t>(skipped), events_.end()};
}

bool held_egress::is_over() {
  const std::lock_guard guard(lock_);
  while (take_one()) {
  }
  return is_over_;
}

} // namespace paddock
