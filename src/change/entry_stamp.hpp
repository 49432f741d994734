// SPDX-License-Identifier: MIT
#pragma once

// Identifies an entry: which object it is, and its size and time of change.

#include <paddock/base/file_status.hpp>

#include <cstdint>
#include <optional>

namespace paddock {

struct entry_stamp {
  std::optional<entry_kind> kind{}; ///< nothing: there is no entry
  std::uint16_t mode = 0;
  std::uint64_t size = 0; ///< means nothing of a directory
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0; ///< 0: not known

  friend bool operator==(const entry_stamp&, const entry_stamp&) = default;

  [[nodiscard]] bool exists() const noexcept { return kind.has_value(); }
  [[nodiscard]] bool is_directory() const noexcept { return kind == entry_kind::directory; }
  /// Whether it is a file or a link.
  [[nodiscard]] bool is_content() const noexcept {
    return kind == entry_kind::file || kind == entry_kind::symlink;
  }
  [[nodiscard]] bool same_object(const entry_stamp& now) const noexcept {
    return exists() && kind == now.kind && inode == now.inode &&
           (device == 0 || now.device == 0 || device == now.device);
  }
  /// The same object with the same content, or the same directory.
  [[nodiscard]] bool same(const entry_stamp& now) const noexcept {
    return same_object(now) &&
           (is_directory() || (size == now.size && modified_ns == now.modified_ns));
  }
};

[[nodiscard]] inline entry_stamp stamp_of(const file_status& status) noexcept {
  return {.kind = status.kind,
          .mode = static_cast<std::uint16_t>(status.mode),
          .size = status.kind == entry_kind::directory ? 0 : status.size,
          .modified_ns = status.modified_ns,
          .inode = status.inode,
          .device = status.device};
}

} // namespace paddock
