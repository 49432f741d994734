// SPDX-License-Identifier: MIT
#pragma once

// The scratch directories that the commands of a session share: mounts that nobody sees, in
// namespaces that this process holds by their descriptors, or a directory in /tmp that a process of
// the helper keeps. They are gone with this process.

#include "sys/process.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/exec/confinement.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock {

class held_scratch {
public:
  held_scratch() = default;
  held_scratch(held_scratch&& other) noexcept = default;
  held_scratch& operator=(held_scratch&&) = delete;
  held_scratch(const held_scratch&) = delete;
  held_scratch& operator=(const held_scratch&) = delete;
  ~held_scratch();

  file_descriptor user;      ///< that the mounts belong to; none: the one of this process
  file_descriptor mounts;    ///< none: there are no mounts
  std::string directory;     ///< empty: there is none
  file_descriptor channel;   ///< while it is open, the keeper keeps the directory
  sys::child_process keeper; ///< of the directory
  int os_errno = 0;          ///< why there is neither
  std::uint64_t device = 0;  ///< of the workspace that it is for
  std::uint64_t inode = 0;
};

/// What a command in that workspace is given of it; null: nothing.
struct session_mounts {
  const file_descriptor* user = nullptr;
  const file_descriptor* mounts = nullptr;
  std::string_view directory{};
  int os_errno = 0; ///< why it is given nothing, not a directory either, though it is to share it
};
[[nodiscard]] session_mounts session_mounts_of(const confinement_policy& policy, int workspace);

} // namespace paddock
