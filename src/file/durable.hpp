// SPDX-License-Identifier: MIT
#pragma once

// What has to be on the disk before an operation goes on or says that it is done. A rename is taken
// for one step on the disk as well, as every file system with a journal or copy on write has it.

#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <string_view>

namespace paddock {

/// Puts a file's content on the disk as `wanted` demands: with `full` its mode and owner too.
[[nodiscard]] result<void> sync_file(int fd, durability wanted);

/// A directory as fsync needs it, from one that may be open for looking only. With less than `full`
/// nothing is opened. Opened before a change, because afterwards nothing may fail for lack of
/// permission.
[[nodiscard]] result<file_descriptor> open_for_sync(int directory, durability wanted);
/// Puts the entries of what open_for_sync has opened on the disk.
[[nodiscard]] result<void> sync_directory(const file_descriptor& directory);

/// Puts the entries of the last `count` components of a resolved path on the disk.
[[nodiscard]] result<void> sync_path(const root& root, std::string_view resolved, unsigned count);
/// The same for the parents that `locate` has made for a place.
[[nodiscard]] result<void> sync_made_parents(const root& root, const place& where);

} // namespace paddock
