// SPDX-License-Identifier: MIT
#pragma once

// inotify(7) on directories.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <sys/inotify.h>

#include <cstddef>
#include <cstdint>

namespace paddock::sys {

/// Reading it never waits.
result<file_descriptor> inotify_init();
/// How many watches one user may have in all, by inotify(7); 0: that cannot be read.
std::size_t inotify_watches_of_user();
/// By descriptor, so no name is looked up again. A directory that is watched already keeps its
/// number.
result<int> inotify_add_watch(int inotify, int directory, std::uint32_t mask);

} // namespace paddock::sys
