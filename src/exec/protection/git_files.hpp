// SPDX-License-Identifier: MIT
#pragma once

// Reads and writes single files of a repository beneath a held directory. Thread-safety: any number
// of threads.

#include <paddock/base/file_status.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

inline constexpr std::size_t git_file_bytes_max = 256UL * 1024;
inline constexpr std::size_t git_index_bytes_max = 512UL * 1024 * 1024;
inline constexpr unsigned owner_may = 0700;

/// Nothing where it is no file, cannot be read, or is too long for what it is.
[[nodiscard]] std::optional<std::string> text_of_file(int directory, const char* name,
                                                      std::size_t bytes_max = git_file_bytes_max);

/// Whether a file does, or cannot be read.
[[nodiscard]] bool may_begin_with(int directory, const char* name, std::string_view begin);

/// Where nothing is; without a word of what fails.
void write_git_file(int directory, const char* name, std::string_view text, unsigned mode);

[[nodiscard]] std::string_view without_line_ends(std::string_view text);

/// What git reads in a file or link called `.git` as the place of the repository.
[[nodiscard]] std::optional<std::string> pointed_at(int directory, entry_kind kind);

/// What a file or link called `.git` leads to, also outside of the workspace; nothing where nothing
/// is there.
[[nodiscard]] std::optional<file_status> led_to(int top, const std::string& path, entry_kind kind);

struct followed_entry {
  std::string path; ///< relative to the repository
  file_status status;
};
/// The files of a repository by which git could be led elsewhere: those of `git_followed` and
/// `git_followed_in`.
[[nodiscard]] std::vector<followed_entry> files_followed(int repository);

/// Its references that were changed since then, or came with a directory that was; 0: all.
[[nodiscard]] std::vector<followed_entry> references_since(int repository, std::int64_t changed_ns);

/// What the configuration says, which a worktree shares with the repository two directories above
/// it; empty: nothing.
[[nodiscard]] std::string extension_of(int repository, std::string_view key);

using on_entry = std::function<void(const std::string& directory, std::string_view name)>;
/// Calls for each link in a directory of git's own and in those beneath it, and for what makes a
/// repository of one of those.
void for_each_link(int directory, const std::string& path, const on_entry& call,
                   const on_entry& makes_repository);

/// The repository that a directory outside of the workspace is, or is a folder of; empty: none.
[[nodiscard]] std::string repository_of(const std::string& directory);

/// Whether a path that `git` at `directory`, beneath `top`, is given leads to a repository in the
/// workspace, without a link on the way: commands cannot take one away.
[[nodiscard]] bool leads_to_repository(int top, std::string directory, std::string_view path);

/// As seen from `/`.
[[nodiscard]] std::string without_root(const std::string& path);

/// Its owner may have locked it; while this lives, it is open.
class unlocked_directory {
public:
  explicit unlocked_directory(int fd);
  unlocked_directory(const unlocked_directory&) = delete;
  unlocked_directory& operator=(const unlocked_directory&) = delete;
  ~unlocked_directory();

private:
  int fd_;
  std::optional<unsigned> was_;
};

} // namespace paddock
