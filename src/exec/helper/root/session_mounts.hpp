// SPDX-License-Identifier: MIT
#pragma once

// The scratch directories that the commands of a session share: a file system of their own, in a
// mount namespace that has nothing else and no process. What a command is to see below one of them
// (its workspace in the home directory, say) needs a place there. All places are made and mounted
// on themselves before the first command, and every command gets them so: then none can be moved or
// replaced, by no command of the session, and what is mounted there is found by its path. A command
// that sees something in another place gets scratch directories of its own.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/root/visible_paths.hpp"

namespace paddock::exec {

/// Makes the directories and places for what is visible, and nothing else, the root directory of
/// this process, in its own mount namespace, of which nobody has seen a mount. 0 or an errno.
int make_session_mounts(const visible_paths& visible);

/// Detached copies for one command, which sees what is visible. 0 or an errno, EXDEV: it needs
/// another place; then there is none. Starts a process and waits for it.
int copy_session(const options& given, const visible_paths& visible, session_copies& copies);

} // namespace paddock::exec
