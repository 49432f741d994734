// SPDX-License-Identifier: MIT
#pragma once

// A directory of others as the command's own: what it reads is theirs, what it changes is not.

namespace paddock::exec {

struct overlay_places {
  const char* below;   ///< what is there, and stays as it is
  const char* changed; ///< an empty directory for what is made and changed
  const char* work;    ///< another one beside that, which belongs to the kernel then
};

/// A detached mount, or -1 and errno: before Linux 5.11 an ordinary user has none.
int new_overlay(const overlay_places& places);

} // namespace paddock::exec
