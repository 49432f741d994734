// SPDX-License-Identifier: MIT
#pragma once

// Scratch directories for as long as a process of the library lives.

namespace paddock::exec {

/// Makes them for a workspace and a policy, and tells of them over a channel
/// (sys::make_scratch_option, behind which these arguments stand). Where they are mounts, what
/// holds the descriptors keeps them; where they are a directory, this comes back only when the
/// other end of the channel is gone and the directory with it. The exit code of a program.
int make_session(char** arguments);

} // namespace paddock::exec
