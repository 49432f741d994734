// SPDX-License-Identifier: MIT
#include "exec/broker/call_broker.hpp"

#include "sys/process_facts.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>
#include <vector>

namespace paddock {

namespace {

constexpr int every_group = -1;
constexpr std::size_t depth_max = 512; ///< of processes that have started each other
constexpr int passes_max = 16;         ///< over a group that grows meanwhile
constexpr int looks_max = 50'000;      ///< at processes in one call: the command's time limit waits

int errno_of(const result<void>& done) {
  return done ? 0 : done.error().os_errno;
}

int int_at(const sys::filtered_call& call, std::size_t index) {
  return static_cast<int>(call.arguments.at(index)); // the kernel takes no more of it
}

} // namespace

bool signal_broker::is_about(int call) noexcept {
  return call == SYS_kill || call == SYS_tkill || call == SYS_tgkill ||
         call == SYS_rt_sigqueueinfo || call == SYS_rt_tgsigqueueinfo ||
         call == SYS_pidfd_send_signal;
}

std::optional<int> signal_broker::make(int listener, const sys::filtered_call& call) const {
  const auto caller = sys::facts_of(call.caller);
  if (!caller || !sys::is_waiting(listener, call)) return EPERM;
  return send(call, caller->process);
}

/// Where the caller is the target its numbers stay its own: it waits.
std::optional<int> signal_broker::send(const sys::filtered_call& call, int caller) const {
  const int target = int_at(call, 0);
  switch (call.number) {
  case SYS_pidfd_send_signal:
    return send_by_descriptor(call);
  case SYS_rt_sigqueueinfo:
    if (target == caller) return std::nullopt;
    return send_queued(call);
  case SYS_tgkill:
  case SYS_rt_tgsigqueueinfo:
    if (target == caller) return std::nullopt;
    return EPERM; // threads of others
  case SYS_tkill: {
    if (target == call.caller) return std::nullopt;
    const auto thread = sys::facts_of(target);
    if (!thread) return ESRCH;
    if (thread->process != caller) return EPERM;
    return errno_of(sys::send_to_thread(caller, target, int_at(call, 1)));
  }
  default: // kill
    if (target == caller) return std::nullopt;
    int looks = looks_max;
    return target > 0 ? send_to(target, int_at(call, 1), looks)
                      : send_to_group(target, caller, int_at(call, 1), looks);
  }
}

int signal_broker::send_by_descriptor(const sys::filtered_call& call) const {
  if (call.arguments[2] != 0 || call.arguments[3] != 0) return EINVAL; // as before Linux 6.9
  const auto target = sys::descriptor_of_caller(call, int_at(call, 0));
  if (!target) return target.error().os_errno;
  const auto process = sys::process_of(target->get());
  if (!process) return process.error().os_errno;
  int looks = looks_max;
  if (!is_in_tree(*process, looks)) return EPERM;
  return errno_of(sys::send_signal(target->get(), int_at(call, 1)));
}

int signal_broker::send_queued(const sys::filtered_call& call) const {
  std::array<char, sizeof(siginfo_t)> info{};
  if (const auto read = sys::read_of_caller(call, call.arguments[2], info); !read)
    return read.error().os_errno;
  const int signal = int_at(call, 1);
  std::memcpy(info.data() + offsetof(siginfo_t, si_signo), &signal, sizeof signal);
  int looks = looks_max;
  return send_to(int_at(call, 0), signal, looks, info);
}

int signal_broker::send_to(int process, int signal, int& looks, std::span<const char> info) const {
  const auto target = sys::open_process(process);
  if (!target) return target.error().os_errno;
  if (!is_in_tree(process, looks)) return EPERM;
  return errno_of(sys::send_signal(target->get(), signal, info));
}

/// As kill(2): 0 is the caller's group, -1 everything but the caller. The caller comes last. EAGAIN
/// when it takes too many looks; some processes have the signal then.
int signal_broker::send_to_group(int group, int caller, int signal, int& looks) const {
  const auto own = sys::facts_of(caller);
  if (!own || group == INT_MIN) return ESRCH;
  const int wanted = group == 0 ? own->group : -group;
  int answer = ESRCH;
  std::set<int> met{caller};
  for (std::size_t before = 0, pass = 0; met.size() != before && pass < passes_max; ++pass) {
    before = met.size();
    const auto all = sys::all_processes();
    if (!all) return all.error().os_errno;
    for (const int each : *all) {
      if (met.contains(each)) continue;
      if (--looks < 0) return EAGAIN;
      const auto facts = sys::facts_of(each);
      if (!facts || (group != every_group && facts->group != wanted)) continue;
      met.insert(each);
      const int sent = send_to(each, signal, looks);
      if (sent == 0 || answer == ESRCH) answer = sent;
    }
  }
  if (group != every_group && own->group == wanted) return send_to(caller, signal, looks);
  return answer;
}

/// Each link is read twice, on the way up and on the way back: a process keeps its parent until
/// that ends, so in between none of the numbers on the way was given anew.
bool signal_broker::is_in_tree(int process, int& looks) const {
  if (process == supervisor_ || process == parent_) return false;
  std::vector<int> way{process};
  while (way.back() != supervisor_) {
    const auto facts = sys::facts_of(way.back());
    if (!facts || facts->parent <= 1 || way.size() == depth_max) return false;
    way.push_back(facts->parent);
    looks -= 2;
  }
  for (std::size_t i = way.size() - 1; i > 0; --i) {
    const auto facts = sys::facts_of(way[i - 1]);
    if (!facts || facts->parent != way[i]) return false;
  }
  return true;
}

namespace {

bool is_link(int call) {
#ifdef SYS_link
  if (call == SYS_link) return true;
#endif
  return call == SYS_linkat;
}

} // namespace

/// Of a link only the fact counts: its arguments can change before the call runs.
std::optional<int> call_broker::make(const sys::filtered_call& call) {
  if (is_link(call.number)) {
    met_link_ = true;
    return std::nullopt;
  }
  if (signal_broker::is_about(call.number)) return signals_.make(listener_.get(), call);
  return attributes_.make(listener_.get(), call);
}

void call_broker::answer(short revents) {
  if ((revents & POLLIN) == 0) return listener_.reset(); // nobody is left who could call
  const int listener = listener_.get();
  const auto call = sys::take_filtered_call(listener);
  if (!call) {
    const bool is_over = call.error().os_errno == ENOENT || call.error().os_errno == EINTR;
    if (!is_over) listener_.reset(); // calls that wait are refused
    return;
  }
  const std::optional<int> made = make(*call);
  const auto sent = made ? sys::answer(listener, *call, *made) : sys::let_go_on(listener, *call);
  if (!sent) listener_.reset();
}

} // namespace paddock
