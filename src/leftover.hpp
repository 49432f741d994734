// SPDX-License-Identifier: MIT
#pragma once

// Telling what a killed process has left behind from what somebody is still making. Both have a
// name that nobody else would choose, a prefix and 32 hexadecimal digits; whoever makes something
// holds a lock on it, and the lock ends with the process. So what has such a name and no lock
// belongs to nobody.

#include <paddock/result.hpp>
#include <paddock/root.hpp>

#include <string_view>

namespace paddock {

/// What atomic replaces write beside their target.
inline constexpr std::string_view temporary_prefix = ".paddock-tmp-";

[[nodiscard]] result<component> unused_name(std::string_view prefix);
[[nodiscard]] bool is_unused_name(std::string_view name, std::string_view prefix);

/// Opens what has this name with `flags` and takes the lock on it. Errors: those of opening;
/// conflict when somebody has it, when the file system has no locks, when the name leads elsewhere
/// by now.
[[nodiscard]] result<file_descriptor> claim(int directory, const component& name, int flags);

/// Removes a temporary file of a killed process; does nothing to one that is in use or only seconds
/// old, because it has no lock yet when it has just been made.
void remove_abandoned_file(int directory, const component& name);

/// The same for all in a directory, which is read from its beginning.
void remove_abandoned_files(int directory);

} // namespace paddock
