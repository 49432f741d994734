// SPDX-License-Identifier: MIT
#pragma once

// Some paths, and whether another one is among them or lies in one. What it takes to answer does
// not grow with their number.

#include "history/file_index.hpp"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::history {

class path_tops {
public:
  path_tops() = default;
  explicit path_tops(std::span<const std::string> paths) : tops_(paths.begin(), paths.end()) {}

  void add(std::string path) { tops_.insert(std::move(path)); }
  [[nodiscard]] const auto& all() const noexcept { return tops_; }
  [[nodiscard]] bool empty() const noexcept { return tops_.empty(); }
  [[nodiscard]] bool has(std::string_view path) const { return tops_.contains(path); }
  /// Whether one of them lies in the directory.
  [[nodiscard]] bool has_beneath(const std::string& directory) const {
    const std::string begin = directory + '/';
    const auto at = tops_.lower_bound(begin);
    return at != tops_.end() && at->starts_with(begin);
  }
  /// Whether the path is one of them or lies in one; everything lies in "".
  [[nodiscard]] bool cover(std::string_view path) const {
    for (;; path = parent_of(path)) {
      if (tops_.contains(path)) return true;
      if (path.empty()) return false;
    }
  }

  /// Like `cover`, but an empty list selects everything.
  [[nodiscard]] bool mean(std::string_view path) const { return empty() || cover(path); }

private:
  std::set<std::string, std::less<>> tops_;
};

} // namespace paddock::history
