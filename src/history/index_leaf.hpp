// SPDX-License-Identifier: MIT
#pragma once

// A run of the entries that an index of files has, one directory behind the other, and the bytes
// that it is kept as: about fifty for an entry with a short name. Pure.

#include "history/known_state.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

/// One entry of a directory.
struct indexed_entry {
  known_state state{};
  std::uint32_t name_offset = 0; ///< into indexed_directory::names
  std::uint32_t name_size = 0;
};

struct indexed_directory {
  std::string names{};
  std::vector<indexed_entry> entries{}; ///< by name
  std::size_t unused = 0;               ///< bytes of names that no entry has any more

  [[nodiscard]] std::string_view name(const indexed_entry& entry) const noexcept {
    return std::string_view(names).substr(entry.name_offset, entry.name_size);
  }
  /// The place of a name, there or to be made.
  [[nodiscard]] std::size_t place_of(std::string_view name) const noexcept;
  [[nodiscard]] const indexed_entry* find(std::string_view name) const noexcept;
  /// The same, at once where it is next to the one that was found before, whose place this is:
  /// the kernel hands out names in an order of its own, and often in this one.
  [[nodiscard]] const indexed_entry* find_beside(std::string_view name,
                                                 std::size_t& before) const noexcept;
  void insert(std::size_t at, std::string_view name, const known_state& state);
  void remove(std::size_t at);
};

/// All entries of a directory, or those between two names.
struct leaf_part {
  std::string path;
  indexed_directory in;
};
using leaf_parts = std::vector<leaf_part>; ///< by path

[[nodiscard]] std::string pack(std::span<const leaf_part> parts);
[[nodiscard]] leaf_parts unpack(std::string_view bytes);
/// The state in packed bytes; absent where they do not have that name.
[[nodiscard]] known_state find_packed(std::string_view bytes, std::string_view directory,
                                      std::string_view name);
/// Appends the entries that packed bytes have of a directory.
void add_packed(std::string_view bytes, std::string_view directory, indexed_directory& to);

[[nodiscard]] std::size_t entries_of(std::span<const leaf_part> parts) noexcept;
/// Takes away all but the first `kept` entries, and returns them.
[[nodiscard]] leaf_parts split_off(leaf_parts& parts, std::size_t kept);

} // namespace paddock::history
