// SPDX-License-Identifier: MIT
#include "exec/held_scratch.hpp"

#include "exec/confinement_policy.hpp"
#include "exec/held_helper.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

namespace paddock {
namespace {

/// A machine that takes longer to make one does without.
constexpr std::int64_t scratch_ms_max = 10'000;
constexpr std::int64_t removal_ms_max = 10'000;

/// The answers of the helper, until it has said all: see exec_protocol.hpp.
void receive_scratch(held_scratch& made) {
  made.os_errno = ECHILD;
  while (!made.mounts && made.directory.empty()) {
    std::array<pollfd, 1> event{{{made.channel.get(), POLLIN, 0}}};
    if (const auto ready = sys::poll(event, scratch_ms_max); !ready || *ready == 0) return;
    sys::scratch_answer told{};
    file_descriptor passed;
    const auto size =
        sys::recv_nowait(made.channel.get(), {reinterpret_cast<char*>(&told), sizeof told}, passed);
    if (!size || *size != sizeof told) return;
    const std::string_view name(told.directory, sizeof told.directory);
    if (told.part == sys::scratch_part::user && passed)
      made.user = std::move(passed);
    else if (told.part == sys::scratch_part::mounts && passed)
      made.mounts = std::move(passed);
    else if (told.part == sys::scratch_part::directory)
      made.directory = name.substr(0, name.find(char{}));
    else {
      made.os_errno = told.os_errno != 0 ? told.os_errno : EMFILE;
      return;
    }
  }
  made.os_errno = 0;
}

result<held_scratch> ask_for_scratch(const confinement_policy& policy, int workspace,
                                     const std::string& path) {
  held_scratch made;
  PADDOCK_TRY(const auto status, sys::status_at(workspace, ""));
  made.device = status.device;
  made.inode = status.inode;
  PADDOCK_TRY(const auto program, hold_helper(path));
  PADDOCK_TRY(auto ends, sys::socketpair(SOCK_SEQPACKET));
  PADDOCK_TRY(const auto place, sys::duplicate(workspace));
  PADDOCK_TRY(const std::string bytes, confine::encode(policy, {}));
  PADDOCK_TRY(const auto memory, sys::sealed_memory(bytes));
  const std::array inherited{ends.second.get(), place.get(), memory.get()};
  std::array<std::string, 2 + sys::make_scratch_arguments> words{"paddock-exec-helper",
                                                                 sys::make_scratch_option};
  for (std::size_t i = 0; i < inherited.size(); ++i)
    words[2 + i] = std::to_string(inherited[i]);
  std::array<char*, words.size() + 1> argv{};
  for (std::size_t i = 0; i < words.size(); ++i)
    argv[i] = words[i].data();
  std::array<char*, 1> environment{nullptr};
  PADDOCK_TRY(made.keeper, spawn(*program, argv.data(), environment.data(), inherited));
  ends.second.reset();
  made.channel = std::move(ends.first);
  receive_scratch(made);
  if (!made.directory.empty()) return made;
  (void)sys::pidfd_send_signal(made.keeper.handle.get(), SIGKILL); // it has said all, or never will
  sys::wait(made.keeper);
  made.keeper = {};
  made.channel.reset();
  return made;
}

} // namespace

/// The keeper removes the directory when it meets the end of the channel. One that takes longer
/// goes on without being waited for: what commands left there may be much.
held_scratch::~held_scratch() {
  if (!keeper.handle) return;
  channel.reset();
  sys::wait_for(keeper, removal_ms_max);
}

session_mounts session_mounts_of(const confinement_policy& policy, int workspace) {
  if (!confine::shares_scratch(policy)) return {};
  const held_scratch& held = *policy.scratch;
  if (held.os_errno != 0) return {.os_errno = held.os_errno};
  const auto status = sys::status_at(workspace, "");
  if (!status) return {.os_errno = EIO};
  if (status->device != held.device || status->inode != held.inode) return {.os_errno = EXDEV};
  return {.user = &held.user, .mounts = &held.mounts, .directory = held.directory};
}

std::shared_ptr<const held_scratch> hold_scratch(const confinement_policy& policy, int workspace,
                                                 const std::string& helper) {
  auto made = ask_for_scratch(policy, workspace, helper);
  if (made) return std::make_shared<const held_scratch>(*std::move(made));
  auto none = std::make_shared<held_scratch>();
  none->os_errno = made.error().os_errno != 0 ? made.error().os_errno : EIO;
  return none;
}

} // namespace paddock
