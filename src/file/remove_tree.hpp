// SPDX-License-Identifier: MIT
#pragma once

// Removing whatever is at a place, with everything in it.

#include <paddock/file/directory.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>

namespace paddock {

/// Removes the directory at `top` and what is in it; never follows a link, never crosses a mount.
/// Hidden entries of `keeping`, if given, end it. Returns the number of entries removed. Errors: as
/// remove_directory; not_a_directory.
[[nodiscard]] result<std::uint64_t> remove_tree(const place& top, const remove_options& options,
                                                const root* keeping = nullptr);

} // namespace paddock
