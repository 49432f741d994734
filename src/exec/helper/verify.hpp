// SPDX-License-Identifier: MIT
#pragma once

namespace paddock::exec {

/// The other use of this program: run as a confined command it tries what it should not be able to
/// do. argv: a file outside, a file to be made outside, one whose attributes are to be changed, a
/// protected entry (or nothing) and its device and inode, a process outside, the key of a piece of
/// shared memory. Returns a bit per confine::layer that failed.
int verify(const char** argv);

} // namespace paddock::exec
