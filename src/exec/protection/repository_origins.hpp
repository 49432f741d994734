// SPDX-License-Identifier: MIT
#pragma once

// Who made a repository of a workspace: a command of this process, whose own it is then, or
// somebody else. Thread-safety: one thread at a time.

#include <paddock/path/root.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace paddock {

class repository_origins {
public:
  /// Whether a command made what is at the path, `.git` and the like. Decided when it is seen for
  /// the first time.
  [[nodiscard]] bool is_own(int workspace, const std::string& path);
  /// Whether a directory was seen as somebody else's repository, whatever has become of what is in
  /// it.
  [[nodiscard]] bool was_of_others(const file_status& directory) const;
  /// Whether a command that still runs began without this name.
  [[nodiscard]] bool is_of_running(const std::string& path) const;

  enum class look : bool { partial, complete };
  /// After a look at the repositories: what is new at the next one was made since.
  void looked(look how_far);

  /// A command begins, without the watched names that are `absent`. Returns its number, for `end`.
  std::uint64_t begin(std::set<std::string> absent);
  void end(std::uint64_t command);

private:
  struct interval {
    std::int64_t begin_ns;
    std::int64_t end_ns; ///< 0: still running
    std::set<std::string> absent;
  };
  struct object {
    std::uint64_t device;
    std::uint64_t inode;
    auto operator<=>(const object&) const = default;
  };
  struct origin {
    bool of_command;
    std::int64_t created_ns;
  };

  std::map<object, origin> known_;
  bool looked_before_ = false; ///< at everything
  std::uint64_t last_command_ = 0;
  std::map<std::uint64_t, interval> commands_; ///< those since the last look
};

} // namespace paddock
