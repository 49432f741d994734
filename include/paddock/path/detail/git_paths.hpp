// SPDX-License-Identifier: MIT
#pragma once

/// Which paths are git's own, by their names alone.
///
/// Thread-safety: functions of their arguments alone; no errors.

#include <cstddef>
#include <string_view>

namespace paddock {

/// A repository's own directory, or a file that leads to it.
inline constexpr std::string_view git_directory = ".git";

/// Whether the last component of the path is such a directory.
[[nodiscard]] constexpr bool is_git_directory(std::string_view path) noexcept {
  return path == git_directory || path.ends_with("/.git");
}

/// The repository's directory that a path lies in; empty: it lies in none.
[[nodiscard]] constexpr std::string_view git_around(std::string_view path) noexcept {
  constexpr std::string_view name = ".git/", inner = "/.git/";
  if (path.starts_with(name)) return path.substr(0, name.size() - 1);
  const std::size_t at = path.find(inner);
  return at == path.npos ? std::string_view() : path.substr(0, at + inner.size() - 1);
}

/// Whether the path is such a directory or leads through one.
[[nodiscard]] constexpr bool is_of_git(std::string_view path) noexcept {
  return is_git_directory(path) || !git_around(path).empty();
}

} // namespace paddock
