// SPDX-License-Identifier: MIT
#include "exec/own_loopback.hpp"

#include "exec/held_helper.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "sys/process.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr std::size_t loopbacks_max = 16;
/// A machine that takes longer to make one does without.
constexpr std::int64_t answer_ms_max = 5'000;

/// The answers of the helper, until it has said all: see exec_protocol.hpp.
own_loopback receive(int channel, std::vector<file_descriptor>& listeners) {
  own_loopback made{.user = {}, .network = {}, .os_errno = ECHILD, .egress = {}};
  while (!made.network) {
    std::array<pollfd, 1> event{{{channel, POLLIN, 0}}};
    if (const auto ready = sys::poll(event, answer_ms_max); !ready || *ready == 0) return made;
    sys::loopback_answer answer{};
    file_descriptor passed;
    const auto size =
        sys::recv_nowait(channel, {reinterpret_cast<char*>(&answer), sizeof answer}, passed);
    if (!size || *size != sizeof answer) return made;
    if (answer.os_errno != 0 || !passed) {
      made.os_errno = answer.os_errno != 0 ? answer.os_errno : EMFILE;
      return made;
    }
    if (answer.part == sys::loopback_part::listener)
      listeners.push_back(std::move(passed));
    else
      (answer.part == sys::loopback_part::user ? made.user : made.network) = std::move(passed);
  }
  made.os_errno = 0;
  return made;
}

/// The ports of the list between commas; empty: nobody is reached by name.
std::string ports_for(const confinement_policy& policy) {
  std::string text;
  if (policy.reach != network_reach::hosts) return text;
  for (const std::uint16_t port : policy.hosts.ports())
    text.append(text.empty() ? "" : ",").append(std::to_string(port));
  return text;
}

result<own_loopback> ask_helper(const confinement_policy& policy, const std::string& path) {
  PADDOCK_TRY(const auto program, hold_helper(path));
  PADDOCK_TRY(auto channel, sys::socketpair(SOCK_SEQPACKET));
  std::string name = "paddock-exec-helper";
  std::string option = sys::make_loopback_option;
  std::string number = std::to_string(channel.second.get());
  std::string ports = ports_for(policy);
  std::array<char*, 5> argv{name.data(), option.data(), number.data(), ports.data(), nullptr};
  std::array<char*, 1> environment{nullptr};
  const std::array inherited{channel.second.get()};
  PADDOCK_TRY(const auto child, spawn(*program, argv.data(), environment.data(), inherited));
  channel.second.reset();
  std::vector<file_descriptor> listeners;
  own_loopback made = receive(channel.first.get(), listeners);
  (void)sys::pidfd_send_signal(child.handle.get(), SIGKILL); // it has said all, or never will
  sys::wait(child);
  if (made.os_errno != 0 || ports.empty()) return made;
  PADDOCK_TRY(made.egress, held_egress::start(policy, listeners, path));
  return made;
}

/// A directory, the user whose namespaces they are, and what may be reached there.
struct owner {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t user = 0;
  host_list hosts{};
  std::string proxy{};
};

struct kept_loopback {
  owner of;
  std::shared_ptr<const own_loopback> what;
};

struct kept_loopbacks {
  std::mutex lock;
  std::vector<kept_loopback> all; ///< the one that was used last is the last one
};

/// Never destroyed: threads may run commands while the process ends.
kept_loopbacks& loopbacks() {
  static auto* const kept = new kept_loopbacks;
  return *kept;
}

/// What may be otherwise at the next call: too many of something.
bool is_for_now(int os_errno) {
  constexpr std::array causes{ENOSPC, EAGAIN, ENOMEM, EMFILE, ENFILE, EUSERS, ECHILD};
  return std::ranges::find(causes, os_errno) != causes.end();
}

/// Moves unused ones to `gone`, the least lately used first.
void make_room(std::vector<kept_loopback>& all, std::vector<kept_loopback>& gone) {
  for (auto at = all.begin(); all.size() >= loopbacks_max && at != all.end();) {
    if (at->what.use_count() != 1) {
      ++at;
      continue;
    }
    gone.push_back(std::move(*at));
    at = all.erase(at);
  }
}

} // namespace

std::shared_ptr<const own_loopback> loopback_of(const confinement_policy& policy, int workspace,
                                                const std::string& helper) {
  const auto status = sys::status_at(workspace, "");
  const auto failed = [](const error& why) {
    return std::make_shared<const own_loopback>(
        own_loopback{.user = {},
                     .network = {},
                     .os_errno = why.os_errno != 0 ? why.os_errno : EIO,
                     .egress = {}});
  };
  if (!status) return failed(status.error());
  const std::uint32_t user = sys::effective_uid();
  const bool by_name = policy.reach == network_reach::hosts;
  const auto is_wanted = [&](const kept_loopback& each) {
    const owner& of = each.of;
    return of.device == status->device && of.inode == status->inode && of.user == user &&
           (by_name ? of.hosts == policy.hosts && of.proxy == policy.egress_proxy
                    : of.hosts.empty());
  };
  kept_loopbacks& kept = loopbacks();
  std::vector<kept_loopback> gone; // ended after the lock is free, which may take a moment
  const std::lock_guard guard(kept.lock);
  const auto found = std::ranges::find_if(kept.all, is_wanted);
  if (found != kept.all.end() && found->what->egress && found->what->egress->is_over()) {
    gone.push_back(std::move(*found));
    kept.all.erase(found);
  } else if (found != kept.all.end()) {
    std::rotate(found, found + 1, kept.all.end());
    return kept.all.back().what;
  }
  auto made = ask_helper(policy, helper);
  if (!made) return failed(made.error());
  if (is_for_now(made->os_errno)) return std::make_shared<const own_loopback>(*std::move(made));
  make_room(kept.all, gone);
  owner of{status->device, status->inode, user};
  if (by_name) {
    of.hosts = policy.hosts;
    of.proxy = policy.egress_proxy;
  }
  kept.all.push_back({std::move(of), std::make_shared<const own_loopback>(*std::move(made))});
  return kept.all.back().what;
}

} // namespace paddock
