// SPDX-License-Identifier: MIT
#pragma once

// What git writes in a repository of its own accord, where a person has only looked. Pure.

#include <optional>
#include <string>
#include <string_view>

namespace paddock::history {

/// Whether git calls an index so.
[[nodiscard]] bool is_git_index(std::string_view path);

/// Whether git notes something there whatever one does: the log of a reference, what a branch was
/// before. Nothing else follows from it. The log of `refs/stash` is none: it is the stash.
[[nodiscard]] bool is_git_note(std::string_view path);

/// What an index stages: of each entry name, mode, object and flags, and what git does not call
/// optional. What it knows of the files that it has looked at, such as their times, is left out.
/// It has no more bytes than the index has. Nothing where the bytes are no index, or one of a form
/// that is not known.
[[nodiscard]] std::optional<std::string> staged_in(std::string_view bytes);

} // namespace paddock::history
