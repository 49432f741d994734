// SPDX-License-Identifier: MIT
#pragma once

// The two processes below the supervisor: the command's parent, which is the init of its PID
// namespace when it has one, and the command itself until its program runs.

#include "exec/helper/namespaces.hpp"
#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"
#include "exec/helper/root/protection.hpp"
#include "exec/helper/root/visible_paths.hpp"

#include <sys/stat.h>

namespace paddock::exec {

/// Where the command is to run, looked up before anything changes.
struct places {
  char workspace[PATH_MAX]; ///< canonical; empty when it has no name (it was deleted)
  char directory[PATH_MAX];
  struct stat workspace_status;
  struct stat directory_status;
};
void find_places(const options& given, places& found);

struct command_setup {
  options given;
  const policy& wanted;
  const places& where;
  const visible_paths& visible;
  protection& entries;
  shared_state& shared;
  int supervisor; ///< a pidfd
};

[[noreturn]] void run_parent(const command_setup& setup, const new_namespaces& made);

} // namespace paddock::exec
