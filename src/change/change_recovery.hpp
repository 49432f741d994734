// SPDX-License-Identifier: MIT
#pragma once

// The way back of a change of several files, and what is cleared away behind it. It finds out from
// what is there which renames were made, so it can be broken off and begun again.

#include "change/change_record.hpp"
#include "change/held_directories.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

/// Where a record is acted upon: the directories that it was made for, each held.
class change_ground {
public:
  enum class record_is : std::uint8_t { own, found };
  change_ground(const root& root, const change_record& record, record_is whose,
                const work_bounds& bounds = {});
  change_ground(const change_ground&) = delete;
  change_ground& operator=(const change_ground&) = delete;

  /// Not of a record that was found.
  [[nodiscard]] bool is_of_this_operation() const noexcept { return whose_ == record_is::own; }
  /// Where an entry is, whether or not it exists; nothing where its directory is gone, or another
  /// one has its place, or it may not be changed, and the record was found. Errors: conflict
  /// (another one has its place), those of opening.
  [[nodiscard]] result<std::optional<place>> find(std::string_view resolved) const;
  /// Before something new comes to a place. Errors: those of held_directories::check_place.
  [[nodiscard]] result<void> check_place(std::string_view resolved) const;
  /// Makes a directory of the record, in one that is held.
  [[nodiscard]] result<void> make(const std::string& resolved) const;
  /// For syncing. Errors: as of `find`.
  [[nodiscard]] result<file_descriptor> open_directory(std::string_view resolved) const;
  /// Of this operation itself there are none: what it has begun it also ends.
  [[nodiscard]] const work_bounds& bounds() const noexcept { return bounds_; }

private:
  const root& root_;
  record_is whose_;
  work_bounds bounds_;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>, std::less<>> places_;
  mutable held_directories held_;
};

// All of these end at the bounds of the ground.

/// Takes back the renames that were made, the last one first, each as far as it can be. Errors: of
/// the first that stays.
[[nodiscard]] result<void> undo_steps(const change_ground& ground, const change_record& record);

/// Removes what has temporary names, as well as can be; of a record that was found, what it left
/// there. Errors: of the first that stays.
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
