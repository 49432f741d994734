// SPDX-License-Identifier: MIT
#pragma once

// What the workspace holds, as last seen: for each directory its entries, sorted by name.

#include "history/known_state.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
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
  /// The same, at once where it stands beside the one that was found before, whose place this is:
  /// the kernel hands out names in an order of its own, and often in this one.
  [[nodiscard]] const indexed_entry* find_beside(std::string_view name,
                                                 std::size_t& before) const noexcept;
  void remove(std::size_t at);
};

/// Not thread-safe.
class file_index {
public:
  using directories = std::map<std::string, indexed_directory, std::less<>>;

  file_index() = default;
  file_index(const file_index&) = delete;
  file_index& operator=(const file_index&) = delete;

  /// Absent where nothing is known.
  [[nodiscard]] known_state find(std::string_view path) const;
  /// An absent state forgets the entry, and of a directory all in it.
  void set(std::string_view path, const known_state& state);
  /// "" is the root; null where nothing is known of it.
  [[nodiscard]] const indexed_directory* directory(std::string_view path) const;
  [[nodiscard]] const directories& all() const noexcept { return directories_; }
  void clear();

  /// Entries, directories too.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }
  /// Files and links that are to be held and are not yet.
  [[nodiscard]] std::uint64_t unread() const noexcept { return unread_; }
  /// Those that the store could not write: it is tried again.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

  /// Calls visit(path, state) for all that is beneath a path and for itself, parents first.
  template <class Visit> void for_each_beneath(std::string_view path, Visit&& visit) const {
    if (!path.empty()) {
      const known_state state = find(path);
      if (!state.exists()) return;
      visit(path, state);
    }
    const indexed_directory* in = directory(path);
    if (in == nullptr) return;
    std::string inner(path);
    if (!inner.empty()) inner += '/';
    const std::size_t begin = inner.size();
    for (const indexed_entry& entry : in->entries) { // at most as deep as a path has components
      inner.resize(begin);
      inner += in->name(entry);
      if (entry.state.kind == known_kind::directory)
        for_each_beneath(inner, visit);
      else
        visit(std::string_view(inner), entry.state);
    }
  }

private:
  void count(const known_state& state, int by) noexcept;
  void forget_beneath(std::string_view path);

  directories directories_;
  directories::value_type* last_ = nullptr; ///< what was set last: mostly the next lies beside it
  std::uint64_t size_ = 0, files_ = 0, unread_ = 0, lost_ = 0;
};

/// The directory of a path ("" is the root), and its last component.
[[nodiscard]] std::string_view parent_of(std::string_view path) noexcept;
[[nodiscard]] std::string_view last_of(std::string_view path) noexcept;
/// Whether a path is that directory or lies in it; everything lies in "".
[[nodiscard]] bool is_in(std::string_view path, std::string_view directory) noexcept;

} // namespace paddock::history
