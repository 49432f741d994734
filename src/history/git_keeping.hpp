// SPDX-License-Identifier: MIT
#pragma once

// What git writes in a repository of its own accord, where a person has only looked. Pure.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::history {

/// Whether something is at a path, or was.
using was_there = std::function<bool(const std::string& path)>;

/// The repository whose object, note or index a path is by its name: a `.git`, or what has the
/// marks of one, such as a bare repository or what a `.git` has of a submodule or a worktree. Of
/// several the outermost. Nothing where it is none; empty where it is that of the workspace itself.
using in_repository = std::optional<std::string_view>;
[[nodiscard]] in_repository git_of_object(std::string_view path, const was_there& has);
/// Git notes something there whatever one does: the log of a reference, what a branch was before.
/// Nothing else follows from it. The log of `refs/stash` is none: it is the stash.
[[nodiscard]] in_repository git_of_note(std::string_view path, const was_there& has);
[[nodiscard]] in_repository git_of_index(std::string_view path, const was_there& has);

/// What an index stages: of each entry name, mode, object and flags, and what git does not call
/// optional. What it knows of the files that it has looked at, such as their times, is left out.
/// It has no more bytes than the index has. Nothing where the bytes are no index, or one of a form
/// that is not known.
[[nodiscard]] std::optional<std::string> staged_in(std::string_view bytes);

} // namespace paddock::history
