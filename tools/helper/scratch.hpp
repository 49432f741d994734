// SPDX-License-Identifier: MIT
#pragma once

namespace paddock::exec {

/// Removes a directory with everything in it, whatever it is, as far as it goes. Nothing else may
/// be at work in it.
void remove_tree(const char* path);

} // namespace paddock::exec
