// SPDX-License-Identifier: MIT
#pragma once

// The way back of a change of several files, and what is cleared away behind it. It finds out from
// what is there which renames were made, so it can be broken off and begun again.

#include "file/change_record.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>

#include <string_view>

namespace paddock {

/// Under what a record is acted upon. One that was found is obeyed in what two roots allow: the
/// one that is asked for, and one where the usual names are protected.
class change_ground {
public:
  explicit change_ground(const root& root) : root_(root) {} ///< of this operation itself
  change_ground(const root& root, const paddock::root& usual, const work_bounds& bounds)
      : root_(root), usual_(&usual), bounds_(bounds) {}

  /// Not of a record that was found.
  [[nodiscard]] bool is_of_this_operation() const noexcept { return usual_ == nullptr; }
  /// Where an entry is, whether or not it exists; nothing where its directory is gone or, of a
  /// record that was found, it may not be changed. This operation has asked the rules of names
  /// before; what it made may have changed their answer. Errors: those that may be gone the next
  /// time; all, of this operation.
  [[nodiscard]] result<std::optional<place>> find(std::string_view resolved) const;
  /// Whether a file or link may get another name: `now` is what is at `from`.
  [[nodiscard]] bool is_movable(const file_status& now, std::string_view from,
                                std::string_view to) const;
  [[nodiscard]] const root& top() const noexcept { return root_; }
  /// Of this operation itself there are none: what it has begun it also ends.
  [[nodiscard]] const work_bounds& bounds() const noexcept { return bounds_; }

private:
  [[nodiscard]] result<std::optional<place>> find_again(std::string_view resolved) const;

  const root& root_;
  const root* usual_ = nullptr;
  work_bounds bounds_{};
};

// All of these end at the bounds of the ground.

/// Takes back the renames that were made, the last one first.
[[nodiscard]] result<void> undo_steps(const change_ground& ground, const change_record& record);

/// Removes what has temporary names, as well as can be. Errors: of the first that stays.
[[nodiscard]] result<void> remove_temporary(const change_ground& ground,
                                            const change_record& record);
/// Removes those directories of the record that are empty. Errors: cancelled, timed_out.
[[nodiscard]] result<void> remove_made_directories(const change_ground& ground,
                                                   const change_record& record);

/// Puts the entries of all directories with changed files on the disk, where the record says that
/// this counts.
[[nodiscard]] result<void> sync_places(const change_ground& ground, const change_record& record);

/// Moves an entry to a name that nobody has. Errors: already_exists.
[[nodiscard]] result<void> move_to_unused(int from_directory, const component& from,
                                          int to_directory, const component& to);

/// The mark of what is there now, links not followed; a sum only where `wanted` has one.
[[nodiscard]] result<bool> has_mark(int directory, const component& name,
                                    const content_mark& wanted, const work_bounds& bounds);

} // namespace paddock
