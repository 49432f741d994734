// SPDX-License-Identifier: MIT
#pragma once

// The directories of a workspace, with the few of their names that matter. Asked again, it looks at
// each directory's times and lists only those that have changed.

#include <paddock/base/result.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Whether a look at a path failed because there is nothing, in contrast to one that is refused.
[[nodiscard]] inline bool tells_absence(const error& e) {
  return e.code == error_code::not_found || e.code == error_code::not_a_directory;
}

class directory_index {
public:
  static constexpr std::size_t directories_max = 50'000;
  static constexpr std::int64_t refresh_ms_max = 250; ///< unless a caller can wait

  struct directory {
    std::vector<std::string> names;          ///< those that matter, in no order
    std::vector<std::string> subdirectories; ///< that are looked into, sorted
    file_status status;
    std::int64_t settled_ns = 0; ///< what has changed before then was seen
    bool unreadable = false;
  };
  /// By path: relative to the top, "" for the top.
  using directories = std::map<std::string, directory, std::less<>>;
  enum class interest : std::uint8_t {
    none,
    noted,
    closed, ///< noted, and not looked into
  };
  /// What a name in a directory means.
  using name_filter = std::function<interest(std::string_view name)>;

  explicit directory_index(name_filter matters, std::size_t known_max = directories_max)
      : matters_(std::move(matters)), known_max_(known_max) {}

  /// Brings everything up to date, as far as the bounds allow: what is known first, then what is
  /// new. Errors: those of looking at the top.
  result<void> refresh(int top, std::int64_t time_ms = refresh_ms_max);
  /// The next refresh lists every directory with a name that matters, whatever its times say.
  void doubt();

  [[nodiscard]] const directories& all() const noexcept { return known_; }
  /// Whether the last refresh looked at everything; else what is left is looked at by the next.
  [[nodiscard]] bool complete() const noexcept { return !unlisted_ && !outdated_; }

private:
  [[nodiscard]] bool is_in_reach(const std::string& path) const;
  std::vector<std::string> take_changed(int top);
  void find_unlisted();
  void add_pending(std::string path);
  void list(int top, const std::string& path);
  void forget(const std::string& path);

  name_filter matters_;
  std::size_t known_max_;
  directories known_;
  std::deque<std::string> pending_; ///< new ones to be listed, during a refresh
  bool unlisted_ = false;           ///< not every subdirectory of a known one is known
  bool outdated_ = false;           ///< not everything that has changed was listed
};

} // namespace paddock
