// SPDX-License-Identifier: MIT
#pragma once

// One directory of a walk: its names, and the ignore files in it.

#include "search/walked_directory.hpp"

#include <paddock/path/root.hpp>

#include <functional>

namespace paddock {

struct names_found {
  bool has_rules = false; ///< an ignore file, or a repository, which ends the rules of others
};

/// Reads the names of an open directory into `into`, unsorted, without what nobody may see and what
/// belongs to version control. `count` is called now and then with how many entries are new; an
/// error of it ends the reading. Errors without an errno are those of `count`.
result<names_found> read_names(const root& root, int fd, walked_directory& into,
                               const std::function<result<void>(std::uint64_t)>& count);

/// Brings what was read in the order of the paths.
void sort_entries(walked_directory& in);

/// Whether there is a file of that name in a directory whose entries are in order.
[[nodiscard]] bool has_file(const walked_directory& in, std::string_view name);

/// Takes so many bytes of the budget, or gives them back where that is negative.
using hold_bytes = std::function<result<void>(std::int64_t)>;

/// Gives a directory the rules that its own files add to `rules`; as git does, files that are links
/// are not read, nor are hidden ones. Errors: those of `hold`.
result<void> add_rules(const root& root, int fd, walked_directory& to, const hold_bytes& hold);

} // namespace paddock
