// SPDX-License-Identifier: MIT
#pragma once

// What the history knows of one entry, and how contents are named.

#include <paddock/base/file_status.hpp>
#include <paddock/history/changes.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace paddock::history {

/// Names bytes: a sum of 128 bits, keyed so that nobody who only writes files can forge collisions.
struct content_id {
  std::uint64_t high = 0, low = 0;

  friend auto operator<=>(const content_id&, const content_id&) = default;
};
struct content_id_hash {
  std::size_t operator()(const content_id& id) const noexcept { return id.low; }
};

/// What names of contents are made with: nobody else knows it.
using content_key = std::array<char, 192>;

enum class known_kind : std::uint8_t { absent, file, directory, link, special };

/// An entry as it was seen. Of a link the content is its target.
struct known_state {
  known_kind kind = known_kind::absent;
  holding held = holding::held;
  bool is_ignored = false; ///< it lies in an ignored directory, or is one
  bool is_unsure = false;  ///< it may have changed since, and look as it did
  std::uint16_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::uint64_t inode = 0;
  content_id content{}; ///< where it is held

  friend bool operator==(const known_state&, const known_state&) = default;

  [[nodiscard]] bool exists() const noexcept { return kind != known_kind::absent; }
  /// Whether it is of a kind that holds something: a file or a link.
  [[nodiscard]] bool is_content() const noexcept {
    return kind == known_kind::file || kind == known_kind::link;
  }
  [[nodiscard]] bool has_content() const noexcept { return is_content() && held == holding::held; }
  /// Whether the entry looks as it did: then its content is as it was.
  [[nodiscard]] bool looks_like(const known_state& now) const noexcept {
    return kind == now.kind && mode == now.mode && size == now.size &&
           modified_ns == now.modified_ns && changed_ns == now.changed_ns && inode == now.inode;
  }
  /// Whether the two hold the same, as far as that is known.
  [[nodiscard]] bool same_content(const known_state& other) const noexcept {
    if (kind != other.kind) return false;
    if (!is_content()) return true;
    if (held == holding::held && other.held == holding::held) return content == other.content;
    return inode == other.inode && size == other.size && modified_ns == other.modified_ns;
  }
  [[nodiscard]] bool same_but_for_time(const known_state& other) const noexcept {
    return same_content(other) && (kind == known_kind::link || mode == other.mode);
  }
  /// Whether a restore from one to the other has nothing to do.
  [[nodiscard]] bool same_as(const known_state& other) const noexcept {
    return same_but_for_time(other) && modified_ns == other.modified_ns;
  }
};

[[nodiscard]] inline known_kind known_kind_of(entry_kind kind) noexcept {
  switch (kind) {
  case entry_kind::file:
    return known_kind::file;
  case entry_kind::directory:
    return known_kind::directory;
  case entry_kind::symlink:
    return known_kind::link;
  case entry_kind::other:
    break;
  }
  return known_kind::special;
}
[[nodiscard]] inline entry_kind entry_kind_of(known_kind kind) noexcept {
  switch (kind) {
  case known_kind::directory:
    return entry_kind::directory;
  case known_kind::link:
    return entry_kind::symlink;
  case known_kind::special:
    return entry_kind::other;
  case known_kind::absent:
  case known_kind::file:
    break;
  }
  return entry_kind::file;
}

/// Whether it is a directory in which things are, or were, that nobody has seen.
[[nodiscard]] inline bool hides_content(const known_state& state) noexcept {
  return state.held == holding::never_read || state.held == holding::too_deep;
}

/// What the first reading, or one after a failure of the store, has to read.
[[nodiscard]] inline bool is_to_read(const known_state& state) noexcept {
  return state.held == holding::not_read_yet || state.held == holding::lost;
}

/// What a status says, nothing yet of the content. The size of a directory means nothing.
[[nodiscard]] inline known_state state_of(const file_status& status) noexcept {
  known_state state;
  state.kind = known_kind_of(status.kind);
  state.mode = static_cast<std::uint16_t>(status.mode);
  state.size = state.kind == known_kind::directory ? 0 : status.size;
  state.modified_ns = status.modified_ns;
  state.changed_ns = status.changed_ns;
  state.inode = status.inode;
  if (state.is_content())
    state.held = holding::not_read_yet;
  else if (state.kind == known_kind::special)
    state.held = holding::special;
  return state;
}

} // namespace paddock::history
