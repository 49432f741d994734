// SPDX-License-Identifier: MIT
#pragma once

// A directory of the program's own, outside of the workspace: what an agent could have put there is
// never trusted, so each directory on the way to it is judged.

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock {

struct private_directory {
  file_descriptor fd; ///< O_PATH
  std::string path;   ///< absolute, without links
};

enum class missing_directories : std::uint8_t { make, leave };

/// Opens an absolute path, and makes what is missing of it, or does not. `what` begins the
/// sentences about it. Errors: denied_by_policy (it lies in the workspace, or others may write
/// there), invalid_argument, symlink_loop, those of making and opening.
[[nodiscard]] result<private_directory, detailed_error>
open_private_directory(const file_status& workspace, std::string_view directory,
                       std::string_view what,
                       missing_directories missing = missing_directories::make);

/// What lies in the directory of the state, beside histories: a directory for the changes of
/// several files of a workspace, a file for each command that runs, one for their turns, and one
/// for each change of skills.
inline constexpr std::string_view change_state_prefix = "changes-",
                                  command_mark_prefix = "command-", staging_prefix = ".staging-";
inline constexpr const char* command_turns_name = "turns";

/// Puts the names in a directory on the disk. Some may not be read: nothing is lost then but by a
/// power cut.
void sync_names(int directory);

} // namespace paddock
