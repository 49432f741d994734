// SPDX-License-Identifier: MIT
#pragma once

// What the workspace holds, as last seen: directories by path, and their entries by name. Runs of
// some hundred entries (leaves) are packed; beyond a bound of memory they lie in a file without a
// name.

#include "history/index_leaf.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::history {

/// A directory, and a name in it.
using index_place = std::pair<std::string, std::string>;

/// Thread-safe but for the counters, which the mutex of the store guards.
class file_index {
public:
  /// The directory for the file, borrowed; below 0: everything stays in memory, and so it does
  /// where the file cannot be written.
  explicit file_index(int directory = -1, std::size_t memory_bytes_max = default_memory_bytes);
  file_index(const file_index&) = delete;
  file_index& operator=(const file_index&) = delete;

  /// Absent where nothing is known.
  [[nodiscard]] known_state find(std::string_view path) const;
  /// An absent state forgets the entry, and of a directory all in it.
  void set(std::string_view path, const known_state& state);
  /// "" is the root; empty where nothing is known of it.
  [[nodiscard]] indexed_directory directory(std::string_view path) const;
  void clear();
  /// The file could not be read: nothing counts any more, before `clear`.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

  /// Entries, directories too.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }
  /// Files and links that are to be held and are not yet.
  [[nodiscard]] std::uint64_t unread() const noexcept { return unread_; }
  /// Those that the store could not write: it is tried again.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

  using visit_unread = std::function<bool(std::string_view directory, std::string_view name,
                                          const known_state& state)>;
  /// Calls visit for each unread or lost entry from a place on, until that returns false.
  void for_each_unread(const index_place& from, const visit_unread& visit);

  /// Calls visit(path, state) for all that is beneath a path and for itself, parents first.
  template <class Visit> void for_each_beneath(std::string_view path, Visit&& visit) const {
    if (!path.empty()) {
      const known_state state = find(path);
      if (!state.exists()) return;
      visit(path, state);
    }
    const indexed_directory in = directory(path);
    std::string inner(path);
    if (!inner.empty()) inner += '/';
    const std::size_t begin = inner.size();
    for (const indexed_entry& entry : in.entries) { // at most as deep as a path has components
      inner.resize(begin);
      inner += in.name(entry);
      if (entry.state.kind == known_kind::directory)
        for_each_beneath(inner, visit);
      else
        visit(std::string_view(inner), entry.state);
    }
  }

private:
  static constexpr std::size_t default_memory_bytes = std::size_t{4608} << 10U;
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  struct leaf {
    std::string bytes{};
    std::uint32_t slot = no_slot; ///< of the file, where the bytes are there
    std::uint32_t size = 0;       ///< in it
    std::uint32_t unread = 0;     ///< or lost
  };
  using place_view = std::pair<std::string_view, std::string_view>;
  struct less {
    using is_transparent = void;
    bool operator()(const place_view& a, const place_view& b) const noexcept { return a < b; }
  };
  /// By a place that is not behind their first entry, nor before the end of the leaf before.
  using leaves = std::map<index_place, leaf, less>;
  /// A leaf that is being worked on.
  struct unpacked {
    leaves::iterator at{};
    leaf_parts parts{};
    std::size_t entries = 0;
    bool is_changed = false;
  };

  [[nodiscard]] static place_view view(const index_place& place) noexcept { return place; }
  [[nodiscard]] leaves::iterator leaf_of(const place_view& place) const;
  [[nodiscard]] const unpacked* opened(leaves::const_iterator at) const noexcept;
  [[nodiscard]] unpacked& open(const place_view& place);
  [[nodiscard]] unpacked& open(leaves::iterator at);
  void settle(unpacked& open);
  void store(leaves::iterator at, leaf_parts&& parts);
  /// A leaf for these, which were split off from one before.
  void store_behind(leaf_parts&& parts);
  void drop(leaves::iterator at);
  void insert(const place_view& place, const known_state& state);
  void keep(leaf& of, std::string&& bytes);
  /// Read into the buffer, or as they are in memory.
  [[nodiscard]] std::string_view bytes_of(const leaf& of, std::string& buffer) const;
  [[nodiscard]] bool write_to_file(leaf& of, std::string_view bytes);
  void count(const known_state& state, int by) noexcept;
  void forget_in(const std::string& first, bool beneath);

  mutable std::mutex mutex_; ///< of all below
  mutable leaves leaves_;
  std::list<unpacked> open_; ///< the last one used in front
  int directory_;
  std::size_t memory_bytes_max_;
  std::size_t memory_bytes_ = 0;
  file_descriptor file_;
  std::uint32_t slots_ = 0;
  std::vector<std::uint32_t> free_;
  mutable bool has_failed_ = false;
  std::uint64_t size_ = 0, files_ = 0, unread_ = 0, lost_ = 0;
};

/// The directory of a path ("" is the root), and its last component.
[[nodiscard]] std::string_view parent_of(std::string_view path) noexcept;
[[nodiscard]] std::string_view last_of(std::string_view path) noexcept;
/// Whether a path is that directory or lies in it; everything lies in "".
[[nodiscard]] bool is_in(std::string_view path, std::string_view directory) noexcept;

} // namespace paddock::history
