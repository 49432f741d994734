// SPDX-License-Identifier: MIT
#pragma once

/// Changes of several files beneath a root, all of them or none, also when the process is killed in
/// the middle.
///
/// The caller reads, plans in memory, and says for each file what is to be there. Everything is
/// looked at before anything is touched: each path by the rules of file.hpp, that no path is named
/// twice or lies beneath another, that they do not make a repository of git of a directory that is
/// none, and that what was read is still there, byte for byte. New content
/// is then written beside its place under a temporary name. Renames bring it about, what goes at
/// last, in the directories that were looked at, which are held: what gets the place of one of them
/// meanwhile is never worked in. What they replace keeps a temporary name until all of them are
/// made; so a rename that fails is followed by taking back those before it.
///
/// With a `state_directory`, outside of the workspace, a record there says what is under way. Of a
/// process that was killed, it stays. The next `apply_changes` on that workspace, or
/// `recover_changes`, completes the change if everything for it had been prepared, and otherwise
/// removes its remains. A process that still works on its change holds a lock beside the record,
/// and others wait for it. Nothing in the workspace is ever taken for a record: an entry called
/// `.paddock-changes`, as records of earlier versions were, is left alone. What somebody else
/// has changed in the meantime stays as they left it.
///
/// Not guaranteed: without a `state_directory`, or where it cannot be used, anything after a kill;
/// that readers see all changes at the same moment (each file by itself is old or
/// new, except, on file systems without RENAME_EXCHANGE and hard links, for a moment in which it
/// has no name); that directories which others move meanwhile are found again; without a
/// `durability` above `none` anything after a power cut. Directories that become empty stay.
/// Thread-safety: every function may be called from any thread.

#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

enum class change_action : std::uint8_t {
  create,  ///< nothing may be there; missing parents are made
  replace, ///< a regular file, through a link too, which keeps its attributes (file.hpp)
  remove,  ///< a file or a link
  move,    ///< a file or a link, to where nothing is; with `bytes` a file that is changed as well
};

/// One file of a change.
struct file_change {
  change_action action = change_action::replace;
  std::string path{};                  ///< afterwards; of a removed file the one it has
  std::string from{};                  ///< of a moved file, else empty
  std::optional<std::string> bytes{};  ///< to create and replace: needed; to remove: none
  std::optional<std::string> before{}; ///< what was read of the file, and must be there still
  /// Whether those may run it who may read it. Without it, created files may not be run and others
  /// are as they were.
  std::optional<bool> is_executable{};
};

enum class change_effect : std::uint8_t {
  apply,
  check, ///< everything but the writing: what would be refused is refused
};

struct change_options {
  change_effect effect = change_effect::apply;
  /// What a power cut leaves: with `data` all or none, with `full` after success all.
  paddock::durability durability = paddock::durability::none;
  std::size_t files_max = 10'000;
  std::uint64_t bytes_max = limits{}.edit_file_bytes_max; ///< of each file, before and after
  std::uint64_t wait_ms = 10'000; ///< for somebody else's change of the same workspace
  /// Absolute; of this user's programs alone, outside of the workspace, and made where it is not
  /// there. Empty, or where it cannot be made: a kill leaves what was made until then.
  std::string state_directory{};
  work_bounds bounds{}; ///< looked at until the first rename, not from then on
};

/// What became of one change, or would.
struct changed_file {
  change_action action = change_action::replace;
  std::string path{};      ///< resolved, relative to the root
  std::string from{};      ///< the same, of a moved file
  bool is_changed = false; ///< false: it was as it is to be
};

/// How much of a change is made in spite of its failure.
enum class change_extent : std::uint8_t {
  none,
  some, ///< taking it back has failed as well; with a record the next change ends it
};

/// Why not everything is as wanted.
struct change_failure : error {
  static constexpr std::size_t no_change = SIZE_MAX;

  change_failure(const error& reason, std::size_t number = no_change, std::string where = {},
                 std::string text = {})
      : error(reason), change(number), path(std::move(where)), detail(std::move(text)) {}

  std::size_t change; ///< the number of the change that it is about, from 0, or `no_change`
  std::string path;   ///< as that change names it
  std::string detail; ///< what the code does not say, as a clause; of an earlier change, what helps
  change_extent made = change_extent::none;
};

/// Makes all changes, or none. One outcome for each, in their order. Errors: stale (the content is
/// not `before`), invalid_argument (a path is named twice, lies beneath another one, or bytes are
/// missing or too much), already_exists, not_found, is_a_directory, not_a_directory, not_regular,
/// read_only, too_many, too_large, no_space, permission_denied,
/// conflict (somebody else changes the same files, or keeps changing the workspace), cancelled,
/// timed_out, io, those of root::locate; without a path those of recover_changes.
[[nodiscard]] result<std::vector<changed_file>, change_failure>
apply_changes(const root& root, std::span<const file_change> changes,
              const change_options& options = {});

/// What recover_changes has found.
enum class interrupted_change : std::uint8_t {
  none,
  under_way, ///< its process is at work
  undone,   ///< nothing of it is made
  finished, ///< it is made as a whole
};

/// Ends what a killed process has left of its change: for the start of a program, before it serves
/// the workspace. Errors: unsupported (of a version to come), io, no_space, cancelled, timed_out;
/// the record stays then.
[[nodiscard]] result<interrupted_change>
recover_changes(const root& root, std::string_view state_directory, const work_bounds& bounds = {});

/// The paths of a change that a killed process has left to be completed: for a record of who
/// changed which file.
[[nodiscard]] std::vector<std::string> interrupted_paths(const root& root,
                                                         std::string_view state_directory);

/// Whether something in the workspace has the name of a record, which nobody acts on: a command may
/// have written it, or an earlier version of this library.
[[nodiscard]] bool has_foreign_record(const root& root);

} // namespace paddock
