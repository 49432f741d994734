// SPDX-License-Identifier: MIT
#pragma once

// Which entries of a workspace were there when a command began, by what they are and not by their
// names. Not thread-safe.

#include <paddock/base/file_status.hpp>

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>

namespace paddock {

/// Entries that others had in a workspace when a command began: they are not touched.
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
    std::int64_t changed_ns; ///< 0: of a directory, which may change
    std::uint64_t led_device, led_inode; ///< 0: it leads nowhere
    auto operator<=>(const object&) const = default;
  };
  static object of(const file_status& status, const std::optional<file_status>& leads_to);

  std::set<object> all_;
};

} // namespace paddock
