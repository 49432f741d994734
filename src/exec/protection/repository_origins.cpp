// SPDX-License-Identifier: MIT
#include "exec/protection/repository_origins.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace paddock {
namespace {

constexpr std::size_t known_max = 16UL * 1024;

} // namespace

/// File systems that know no time of birth give that of the last change, which is not earlier.
bool repository_origins::is_own(int workspace, const std::string& path) {
  const auto status = sys::status_at(workspace, path.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!status) return false;
  const auto [place, fresh] = known_.try_emplace({.device = status->device, .inode = status->inode},
                                                 origin{false, status->created_ns});
  origin& known = place->second;
  // Another object may have the number by now. Where the last change is told for the birth, that is
  // not certain, and what is protected stays so.
  const bool renewed =
      known.created_ns != status->created_ns && (known.of_command || status->has_birth_time);
  if (!fresh && !renewed) return known.of_command;
  const auto made_by = [&](const auto& command) { // both times are of one clock
    const interval& when = command.second;
    return status->created_ns >= when.begin_ns &&
           (when.end_ns == 0 || status->created_ns <= when.end_ns);
  };
  known = {looked_before_ && std::ranges::any_of(commands_, made_by), status->created_ns};
  return known.of_command;
}

bool repository_origins::was_of_others(const file_status& directory) const {
  const auto known = known_.find({.device = directory.device, .inode = directory.inode});
  return known != known_.end() && !known->second.of_command &&
         (known->second.created_ns == directory.created_ns || !directory.has_birth_time);
}

bool repository_origins::is_of_running(const std::string& path) const {
  return std::ranges::any_of(commands_, [&](const auto& command) {
    return command.second.end_ns == 0 && command.second.absent.contains(path);
  });
}

void repository_origins::looked(look how_far) {
  looked_before_ = how_far == look::complete;
  if (known_.size() > known_max) { // then all of them are protected again
    known_.clear();
    looked_before_ = false;
  }
  std::erase_if(commands_, [](const auto& each) { return each.second.end_ns != 0; });
}

std::uint64_t repository_origins::begin(std::set<std::string> absent) {
  commands_[++last_command_] = {sys::file_time_now_ns(), 0, std::move(absent)};
  return last_command_;
}

void repository_origins::end(std::uint64_t command) {
  const auto ended = commands_.find(command);
  if (ended != commands_.end()) ended->second.end_ns = sys::file_time_now_ns();
}

} // namespace paddock
