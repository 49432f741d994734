// SPDX-License-Identifier: MIT
#pragma once

// The loopback interface that the commands of one workspace have to themselves: namespaces without
// a process in them, which this process holds by their descriptors. They are gone with it.

#include "exec/held_egress.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/exec/confinement.hpp>

#include <memory>
#include <string>

namespace paddock {

struct own_loopback {
  file_descriptor user;    ///< that the network belongs to; none: the one of this process
  file_descriptor network; ///< none: there is no loopback
  int os_errno = 0;        ///< why there is none
  /// Where the policy lets commands reach hosts by name; otherwise null.
  std::shared_ptr<held_egress> egress;
};

/// That of the directory, made when it is first asked for with such a list of hosts. Those that
/// were used least lately and that no command uses are given up when there are many. Thread-safe.
[[nodiscard]] std::shared_ptr<const own_loopback>
loopback_of(const confinement_policy& policy, int workspace, const std::string& helper);

} // namespace paddock
