// SPDX-License-Identifier: MIT
#pragma once

// The directories of a workspace, with the few of their names that matter. Asked again, it looks at
// each directory's times and lists only those that have changed.

#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Whether a look at a path failed because there is nothing, in contrast to one that is refused.
[[nodiscard]] inline bool tells_absence(const error& e) {
  return e.code == error_code::not_found || e.code == error_code::not_a_directory;
}

/// How much an index takes up; what finds no room is told.
struct index_room {
  std::size_t directories = indexed_directories_max;
  std::size_t bytes = indexed_bytes_max; ///< of paths, and of names with what holds them
};

class directory_index {
public:
  static constexpr std::int64_t refresh_ms_max = 250; ///< unless a caller can wait

  struct directory {
    /// The ones that matter, in no order; in a repository's own directories also all links.
    std::vector<std::string> names;
    std::vector<std::string> subdirectories; ///< that are looked into, sorted
    file_status status;
    std::int64_t settled_ns = 0; ///< what has changed before then was seen
    bool unreadable = false;
    bool cut = false; ///< there was no room for all of its names
  };
  /// By path: relative to the top, "" for the top.
  using directories = std::map<std::string, directory, std::less<>>;
  enum class interest : std::uint8_t {
    none,
    noted,
    closed, ///< noted, and at the top not looked into: there no command can make one
  };
  /// What a name in a directory means.
  using name_filter = std::function<interest(std::string_view name)>;

  explicit directory_index(name_filter matters, const index_room& room = {})
      : matters_(std::move(matters)), room_(room) {}

  /// Brings everything up to date, as far as the bounds allow: what is known first, then what is
  /// new. Errors: those of looking at the top.
  result<void> refresh(int top, std::int64_t time_ms = refresh_ms_max);
  /// The next refresh lists every directory with a name that matters, whatever its times say.
  void doubt();

  [[nodiscard]] const directories& all() const noexcept { return known_; }
  /// Of the room for bytes, what is taken.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Whether the last refresh looked at everything; else what is left is looked at by the next.
  [[nodiscard]] bool complete() const noexcept { return !unlisted_ && !outdated_; }

private:
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] directory read(int fd, const std::string& path, directory& before) const;
  [[nodiscard]] bool is_in_reach(const std::string& path) const;
  std::vector<std::string> take_changed(int top);
  void find_unlisted();
  void add_pending(std::string path);
  void list(int top, const std::string& path);
  void forget(const std::string& path);
  directories::iterator erase(directories::iterator which);

  name_filter matters_;
  index_room room_;
  directories known_;
  std::size_t bytes_ = 0;           ///< of what is known
  std::deque<std::string> pending_; ///< new ones to be listed, during a refresh
  std::size_t pending_bytes_ = 0;
  bool unlisted_ = false; ///< not every subdirectory of a known one is known
  bool outdated_ = false; ///< not everything that has changed was listed
};

/// How far the times on the file system of a directory may lag behind: one that was changed within
/// such a step may change again and look as it did.
[[nodiscard]] std::int64_t clock_step_ns(const file_status& status);
[[nodiscard]] bool lists_name(const directory_index::directory& in, std::string_view name);
/// Whether it has what git tells a repository by.
[[nodiscard]] bool looks_like_repository(const directory_index::directory& in);
/// The repository, a `.git` or a bare one, that a directory is, or is git's own in; nothing where
/// it is neither.
[[nodiscard]] std::optional<std::string_view>
repository_around(const directory_index::directories& all, std::string_view path);

} // namespace paddock
