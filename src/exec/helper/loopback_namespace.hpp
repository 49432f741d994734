// SPDX-License-Identifier: MIT
#pragma once

// A network namespace with a loopback interface and nothing else, which the commands of a workspace
// share: what one of them listens at, the others reach, and nobody else does.

#include "exec/helper/policy/helper.hpp"

namespace paddock::exec {

/// Makes one and sends it over the channel, with listeners if there are ports
/// (sys::make_loopback_option). The exit code of a program.
int make_loopback(int channel, const char* ports);

/// Makes the namespaces that were given those of this process, and of what it starts. 0 or an
/// errno.
int enter_loopback(const options& given);

} // namespace paddock::exec
