// SPDX-License-Identifier: MIT
#pragma once

// A list of protected names, made ready to be asked about paths. Nothing here looks at a file
// system.

#include <paddock/base/result.hpp>
#include <paddock/path/protected_names.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace paddock {

/// Stands in the name of what a command made under a protected name, and what was moved aside from
/// there.
inline constexpr std::string_view moved_aside_mark = ".made-by-command-";

/// The same text for as long as the process lives, so that an error can point to it. There are as
/// many as lists name.
[[nodiscard]] const char* kept_name(std::string_view name);

/// What errors name in place of a rule, from which how_to_allow tells who wanted it.
[[nodiscard]] const char* told_name(const protected_name& rule);

class name_rules {
public:
  /// Errors: invalid_name.
  static result<name_rules> make(std::span<const protected_name> names);

  /// False for nearly every path: then no rule can concern it.
  [[nodiscard]] bool could_concern(std::string_view path) const noexcept {
    return has_marked(path, begins);
  }
  /// False for nearly every path: then no part of it is called like what git obeys in a repository.
  [[nodiscard]] bool could_be_of_repository(std::string_view path) const noexcept {
    return has_marked(path, begins_in_git);
  }
  /// Whether a component is a hidden name, or that of what was moved aside from one.
  [[nodiscard]] bool is_hidden(std::string_view component) const;
  /// Whether a component of the path is. `..` is a name like any other.
  [[nodiscard]] bool leads_through_hidden(std::string_view path) const;

  /// How a path stands to a read-only name.
  enum class relation : std::uint8_t {
    none,
    inside, ///< it is the protected entry, or beneath it
    above,  ///< the entry is a part of the name's own path: `.git` of `.git/config`
  };
  struct match {
    relation how = relation::none;
    const char* name = nullptr; ///< valid for as long as the process lives
    std::string_view rest{};    ///< above: what leads from the path to the protected entry
  };
  /// What has to be looked up in the file system.
  struct look_up {
    std::function<bool(std::string_view directory)> holds_repository; ///< it has an entry `.git`
    std::function<bool(std::string_view rest)> counts_above; ///< whether being above that matters
    bool of_moved = false; ///< what is above a name beside a repository counts too
  };
  /// Whether the path is a directory that makes a `.git` one, there or below its modules.
  [[nodiscard]] bool is_directory_of_git(std::string_view resolved) const;
  /// Whether what is there may only be moved by git: all in a `.git`, and in other repositories
  /// those of submodules and worktrees. `is_repository` as in find_of_repository.
  [[nodiscard]] bool
  is_moved_by_git(std::string_view resolved,
                  const std::function<bool(std::string_view directory)>& is_repository) const;
  /// Whether the repository of a submodule or worktree, or the directory of some, is there or
  /// above. What is within one of them is not. `is_repository` as in find_of_repository.
  [[nodiscard]] bool
  is_removed_by_git(std::string_view resolved,
                    const std::function<bool(std::string_view directory)>& is_repository) const;
  /// Whether `asked` says so of a part of the path by which git tells a repository, except in a
  /// `.git` itself: of the directory that it is in, and of its plain name.
  [[nodiscard]] bool has_mark(
      std::string_view resolved,
      const std::function<bool(std::string_view directory, std::string_view mark)>& asked) const;
  /// What git would obey in a repository that is not called `.git`: a bare one, or one that a file
  /// `.git` names. `is_repository` is asked about a directory only where a part of the path has
  /// such a name. Returns the name of the rule, or null.
  [[nodiscard]] const char*
  find_of_repository(std::string_view resolved,
                     const std::function<bool(std::string_view directory)>& is_repository) const;
  /// `resolved` is relative to the top, without `.` and `..`.
  [[nodiscard]] match find_read_only(std::string_view resolved, const look_up& look) const;

private:
  struct rule {
    const char* name;
    const char* told;                    ///< what a match calls it
    std::vector<std::string_view> parts; ///< of `name`
    bool anywhere;                       ///< in every repository by its own first component
  };
  static constexpr std::uint8_t begins = 1;        ///< a protected name begins with this byte
  static constexpr std::uint8_t odd = 2;           ///< a file system may take it for another
  static constexpr std::uint8_t begins_in_git = 4; ///< what git obeys begins with this byte

  /// Whether a part of the path begins with a byte of that mark, or has an odd one anywhere.
  [[nodiscard]] bool has_marked(std::string_view path, unsigned mark) const noexcept {
    unsigned seen = 0;
    unsigned mask = mark | odd;
    for (const char c : path) {
      seen |= table_[static_cast<unsigned char>(c)] & mask;
      mask = c == '/' ? mark | odd : unsigned{odd};
    }
    return seen != 0;
  }
  /// As could_concern, for a component, of which a walk asks about every one. Precondition: it is
  /// not empty.
  [[nodiscard]] bool could_concern_name(std::string_view component) const noexcept {
    for (const char c : component)
      if ((table_[static_cast<unsigned char>(c)] & odd) != 0) return true;
    return (table_[static_cast<unsigned char>(component[0])] & begins) != 0;
  }
  void note_in_git(std::string_view part);
  [[nodiscard]] static match match_at(const rule& asked, std::span<const std::string_view> parts);

  std::array<std::uint8_t, 256> table_{};
  std::vector<const char*> hidden_;
  std::vector<rule> read_only_;
  bool guards_git_ = false; ///< a rule is about what git obeys: what git keeps is then git's alone
};

} // namespace paddock
