// SPDX-License-Identifier: MIT
#pragma once

// Repositories that appeared in a workspace while a command ran. A person's git runs what their
// configuration and hooks name as soon as a repository around them has an entry for them, or the
// person goes there: so what would run a program is moved aside, as it is at the top.

#include "exec/protection/directory_index.hpp"

#include <paddock/base/file_status.hpp>
#include <paddock/path/protected_names.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Entries that others had in a workspace when a command began, by what they are and not by their
/// names: they are not touched. Not thread-safe.
class entries_before {
public:
  /// `leads_to`: of a file or link called `.git`, what it leads to; that may change alone.
  void add(const file_status& status, const std::optional<file_status>& leads_to = {});
  /// Of a directory.
  void remove(const file_status& status);
  [[nodiscard]] bool contains(const file_status& status,
                              const std::optional<file_status>& leads_to = {}) const;
  /// Drops what is not in the other.
  void keep_those_of(const entries_before& other);

  /// As lines of text.
  [[nodiscard]] std::string render() const;
  [[nodiscard]] static std::string render_removal(const file_status& status);
  /// Reads what follows the first word of a line; false where that is none.
  [[nodiscard]] bool parse(const std::string& word, std::istream& in);

private:
  struct object {
    std::uint64_t device;
    std::uint64_t inode;
    std::int64_t changed_ns;             ///< 0: of a directory, which may change
    std::uint64_t led_device, led_inode; ///< 0: it leads nowhere
    auto operator<=>(const object&) const = default;
  };
  static object of(const file_status& status, const std::optional<file_status>& leads_to);

  std::set<object> all_;
};

struct workspace_then {
  entries_before entries;
  bool complete = false; ///< everything was looked at
  std::int64_t began_ns = 0;
  std::int64_t ended_ns = 0; ///< what was born later was made by somebody else; 0: nothing was
  /// The settings of which the command has copies, by the link that it finds in their place.
  std::map<std::string, std::string> settings{};
  /// Whether a path of a worktree is hidden.
  std::function<bool(std::string_view path)> is_hidden = [](std::string_view) { return false; };
  /// Directories outside of the workspace that the command could change.
  std::vector<std::string> outside{};
  /// And what it could read there.
  std::vector<std::string> readable{};
};

struct made_entry {
  std::string path;
  std::string moved_to; ///< empty: it could not be moved
  int os_errno = 0;
  std::size_t rule = 0; ///< of the names
};

struct made_repositories {
  std::vector<made_entry> moved;
  std::vector<file_status> changed; ///< repositories in which something was moved
};

/// Whether a directory looks like a repository that is not called `.git`.
[[nodiscard]] bool is_bare_repository(std::string_view path, const directory_index::directory& in);

/// Adds what git would take for a repository, or for the way to one, but for what `is_own` tells
/// of.
void note_repositories(int top, const directory_index::directories& directories,
                       entries_before& into, const std::function<bool(const std::string&)>& is_own);

/// The same of what git follows in directories outside of the workspace.
void note_outside(const std::vector<std::string>& directories, entries_before& into);

/// Moves aside in them what makes git run a program, as far as it is one of the names. A
/// configuration is replaced by what is harmless in it. Of a repository outside, such as what git
/// keeps of a worktree, only what git follows is looked at.
[[nodiscard]] made_repositories sweep_repositories(int top,
                                                   const std::vector<protected_name>& names,
                                                   const directory_index::directories& directories,
                                                   const workspace_then& then);

/// Opens directories that were closed meanwhile, and those in them, for whom they belong to. Returns
/// whether any was.
[[nodiscard]] bool open_closed_directories(int top, const directory_index::directories& directories,
                                           const entries_before& then);

} // namespace paddock
