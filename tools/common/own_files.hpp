// SPDX-License-Identifier: MIT
#pragma once

// The files that belong to the program itself: an agent that changes one decides what the next
// start of the program does.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace paddock::cli {

/// The executable, the libraries it runs with and their loader, the helper, and the files named in
/// `others` (the empty string is none); and each link on the way by which one of them is found.
/// Only what lies beneath one of `places`, which are canonical, or is one; the links by canonical
/// directories. What does not exist is left out. Where the
/// program's own files are is looked at once per process. Reads the file system, any thread.
[[nodiscard]] std::vector<std::string> own_files(std::span<const std::string> others,
                                                 std::span<const std::string> places);

/// Whether a path is the directory or lies in it, by their names; both are canonical.
[[nodiscard]] bool lies_within(const std::filesystem::path& path,
                               const std::filesystem::path& directory);

} // namespace paddock::cli
