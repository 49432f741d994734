// SPDX-License-Identifier: MIT
#pragma once

// What the processes of a command are set up from.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"
#include "exec/helper/root/protection.hpp"
#include "exec/helper/root/visible_paths.hpp"

#include <limits.h>
#include <sys/stat.h>

namespace paddock::exec {

/// Where the command is to run, looked up before anything changes.
struct places {
  char workspace[PATH_MAX]; ///< canonical; empty when it has no name (it was deleted)
  char directory[PATH_MAX];
  struct stat workspace_status;
  struct stat directory_status;
};

struct command_setup {
  options given;
  const policy& wanted;
  const places& where;
  const visible_paths& visible;
  protection& entries;
  shared_state& shared;
  int supervisor; ///< a pidfd
};

} // namespace paddock::exec
