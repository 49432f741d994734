// SPDX-License-Identifier: MIT
#pragma once

// The directories of a workspace, with the few of their names that matter. Asked again, it looks at
// each directory's times and lists only those that have changed.

#include <paddock/result.hpp>
#include <paddock/root.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

class directory_index {
public:
  static constexpr std::size_t directories_max = 50'000;
  static constexpr std::int64_t refresh_ms_max = 250;

  struct directory {
    std::vector<std::string> names;          ///< those that matter, in no order
    std::vector<std::string> subdirectories; ///< that are looked into, sorted
    file_status status;
    std::int64_t settled_ns = 0; ///< what has changed before then was seen
    bool unreadable = false;
  };
  /// By path: relative to the top, "" for the top.
  using directories = std::map<std::string, directory, std::less<>>;
  /// Whether a name in a directory matters.
  using name_filter = std::function<bool(std::string_view name)>;

  explicit directory_index(name_filter matters) : matters_(std::move(matters)) {}

  /// Brings everything up to date, as far as the bounds allow. Errors: those of looking at the top.
  result<void> refresh(int top);

  [[nodiscard]] const directories& all() const noexcept { return known_; }
  /// Whether the last refresh looked at everything; else what is left is looked at by the next.
  [[nodiscard]] bool complete() const noexcept { return pending_.empty() && !full_; }

private:
  void find_changed(int top);
  [[nodiscard]] bool is_in_reach(const std::string& path) const;
  void list(int top, const std::string& path);
  void forget(const std::string& path);

  name_filter matters_;
  directories known_;
  std::vector<std::string> pending_; ///< to be listed
  bool full_ = false;
};

/// A path below a directory of the index.
[[nodiscard]] std::string below(std::string_view directory, std::string_view name);

} // namespace paddock
