// SPDX-License-Identifier: MIT
#pragma once

// How a path becomes a descriptor. Two pieces, and one rule between them:
//
//   expand_links   translates a path into one without symbolic links, by walking it on held
//   descriptors. It decides
//                  nothing: its answer is a string.
//   open_strict    opens a path beneath the root and refuses every symbolic link on it. Only its
//   descriptors are used.
//
// Whatever changes between the two makes open_strict fail, and the caller translates again. So the
// safety of every operation rests on open_strict alone: one openat2 call, or its component-wise
// equivalent.

#include "sys/syscall.hpp"

#include <paddock/path/root.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::resolve {

/// What a resolution needs to know of a root.
struct scope {
  int root = -1;
  paddock::resolver resolver = paddock::resolver::openat2;
  paddock::mounts mounts = paddock::mounts::enter;
  std::uint64_t mount = 0;  ///< the root's mount id
  std::uint64_t device = 0; ///< and device
  std::string_view configured;
  std::string_view canonical;
  const paddock::root* reserving = nullptr; ///< whose reserved entries are not looked into
};

/// Of a directory that is no `root`: nothing in it is reserved, and mounts are entered.
[[nodiscard]] scope scope_beneath(int top);

/// The components of a path, without empty ones and `.`; `..` stays.
[[nodiscard]] std::vector<std::string_view> components(std::string_view path);

/// Whether collapse has nothing to do: no component is empty or begins with a dot.
[[nodiscard]] bool is_plain(std::string_view path) noexcept;

/// Removes `.`, empty components and `x/..` pairs. Exact for a path that open_strict has opened.
/// Errors: escapes_root.
[[nodiscard]] result<std::string> collapse(std::string_view path);

/// Opens `path` ("" is the root) beneath the root without following any link.
/// Errors: symlink_loop with ELOOP when a link is on the path; escapes_root; crosses_mount;
/// conflict when the tree kept changing; as open(2).
[[nodiscard]] result<file_descriptor> open_strict(const scope& in, const std::string& path,
                                                  std::uint64_t flags);

/// Whether an error of open_strict means that a symbolic link is on the path.
[[nodiscard]] inline bool met_link(const error& e) {
  return e.code == error_code::symlink_loop;
}

struct expansion {
  std::string path;          ///< free of links, `.` and `..`; "" is the root
  std::size_t existing = 0;  ///< bytes of `path` that exist, ending at a component boundary
  bool through_link = false; ///< the first missing component was named by a link

  [[nodiscard]] bool complete() const { return existing == path.size(); }
};

/// Follows the links of `path`, the last component's too.
/// Errors: escapes_root, absolute_symlink, absolute_symlink_inside, symlink_loop, dangling_symlink
/// (a link in the middle), not_a_directory, not_found (`..` after a missing component),
/// path_too_long; below a reserved entry protected_entry instead of all these.
[[nodiscard]] result<expansion> expand_links(const scope& in, std::string_view path);

} // namespace paddock::resolve
