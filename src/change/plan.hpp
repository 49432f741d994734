// SPDX-License-Identifier: MIT
#pragma once

// A plan, as a value: which entries are there, and what they are to become. Changes of several
// files and restores both produce one. Paths are relative to the root and resolved.

#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Identifies an entry: which object it is, and its size and time of change.
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

/// Names a content to its source.
struct content_ref {
  std::uint64_t high = 0, low = 0;

  friend bool operator==(const content_ref&, const content_ref&) = default;
};

/// Provides contents: edited texts, or the packs of a history.
class content_source {
public:
  virtual ~content_source() = default;
  /// Valid until the next call. Errors: those of reading.
  [[nodiscard]] virtual result<std::string_view> bytes(const content_ref& of) = 0;
};

/// Turns an entry that is `present` into one as `wanted`. Their kinds say how: it is created,
/// replaced or removed, or only gets other attributes.
struct change_step {
  std::string path;
  entry_stamp present{}, wanted{};
  bool keeps_content = false; ///< a file or link that only gets the mode and time of `wanted`
  content_ref content{};      ///< of a file or link that comes
  /// Whether a file that comes gets the mode and time of `wanted`. If not: the attributes of
  /// `taken_from`, or those of any new file, and the current time.
  bool has_wanted_attributes = false;
  std::string taken_from{}; ///< path of the file whose attributes it takes over; may be empty
  std::optional<bool> is_executable{};
  /// Whether it may be made though a rule protects the path: its planner knows why.
  bool is_above_rules = false;
  std::size_t of = 0; ///< the caller's number for what this belongs to

  friend bool operator==(const change_step&, const change_step&) = default;

  /// Whether a file or link comes to the path.
  [[nodiscard]] bool brings_content() const noexcept {
    return wanted.is_content() && !keeps_content;
  }
  [[nodiscard]] bool makes_directory() const noexcept {
    return wanted.is_directory() && !present.is_directory();
  }
};

/// Renames an entry, before anything in it is changed.
struct change_move {
  std::string now;  ///< where it is
  std::string home; ///< where it is to be
  entry_stamp object{};
  std::size_t of = 0;

  friend bool operator==(const change_move&, const change_move&) = default;
};

/// Identifies the directory at a path. A path may have two if the plan moves directories.
struct known_directory {
  std::string path;         ///< empty for the root
  std::uint64_t device = 0; ///< 0: not known
  std::uint64_t inode = 0;

  friend bool operator==(const known_directory&, const known_directory&) = default;
};

/// How a plan is carried out.
struct change_manner {
  /// Stage each file in the directory it is for, which gives new files their group and access
  /// list, and never leave a file without a name. If false, stage everything in one directory, out
  /// of the workspace where renames lead from there.
  bool is_beside = false;
  /// Open directories that keep their owner out, and afterwards give every directory the mode and
  /// time it had.
  bool keeps_directories = false;
  /// Ask the rules of protected names again when another process ends this change.
  bool asks_rules = false;
  bool is_durable = false; ///< survive a power cut, too

  friend bool operator==(const change_manner&, const change_manner&) = default;
};

struct change_plan {
  change_manner how{};
  std::string staging;                        ///< an unused temporary name
  std::vector<known_directory> directories{}; ///< that the steps and moves lead through
  /// Directories above what is in them; what is present takes the moves for made.
  std::vector<change_step> steps{};
  std::vector<change_move> moves{}; ///< none within another

  friend bool operator==(const change_plan&, const change_plan&) = default;
};

} // namespace paddock
