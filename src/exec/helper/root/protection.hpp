// SPDX-License-Identifier: MIT
#pragma once

// The protected entries of a policy: in the command's mount namespace each is covered, or mounted
// on itself so that it can be neither changed nor moved. What was not there when the command
// started, and is there when it has ended, is moved aside: never deleted, because somebody else may
// have made it.

#include "exec/helper/policy/policy.hpp"
#include "exec/helper/root/resolved_entry.hpp"
#include "exec/helper/root/visible_paths.hpp"

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

namespace paddock::exec {

class protection {
public:
  explicit protection(const policy& wanted) : wanted_(wanted) {}

  /// Before any process is started and anything is covered: what they share about the entries,
  /// which of them are not there, and the directories in which those might appear, by whatever name
  /// they are found then. 0 or an errno.
  int share(int workspace);
  /// In a process that does not sweep: closes those directories again.
  void release() const;
  /// Directories that could not be kept open.
  [[nodiscard]] std::uint32_t unheld() const { return unheld_; }

  /// Mounts what is to be protected, in this mount namespace. `cover` is a detached mount of an
  /// empty directory, and closed, or -1. 0 or an errno; ESTALE: what was seen in the workspace is
  /// no longer in its place.
  int hold(const char* workspace, const visible_paths& visible, int cover);

  /// In the process that has done that, whenever it gets a SIGIO: what somebody has replaced is
  /// protected again, also for those who have copies of the mounts.
  void hold_again();

  /// In the same process: passes on the copies of settings that were changed.
  void hand_over(int channel) const;

  /// When nothing of the command is left.
  void sweep(int workspace, int channel);

private:
  enum class state : std::uint32_t {
    unknown,
    absent, ///< seen to be, in the tree itself: only this is ever moved aside
    held,   ///< covered, or mounted on itself: the mount is gone once somebody replaces the entry
  };
  struct note {
    state now;
    std::uint64_t device;
    std::uint64_t inode;
    bool mounted;  ///< something was, over it
    bool replaced; ///< and had to be again
    // Written before any process is started.
    int directory;         ///< in which it might appear; -1: none was kept open
    std::uint32_t skipped; ///< bytes of the path that lead there
    bool is_link;
    std::uint64_t target_device; ///< of what the link leads to; 0: nothing
    std::uint64_t target_inode;
    std::uint64_t copy_inode; ///< of settings, as they were given to the command; 0: they were not
    std::int64_t copy_changed_ns;
  };

  /// The part in front of the path.
  static sys::exec_entry kind_of(const char* entry) { return static_cast<sys::exec_entry>(*entry); }
  /// Of a relative path, or an absolute one.
  static const char* path_of(const char* entry) { return entry + (entry[1] == '/' ? 2 : 1); }
  /// Calls act(entry, index) until it fails.
  template <class Action> int for_each(Action act) const {
    const char* entry = wanted_.protected_entries;
    for (std::uint32_t i = 0; i < wanted_.fixed->protected_entries; ++i, entry = next(entry))
      if (const int failed = act(entry, i); failed != 0) return failed;
    return 0;
  }
  void note_absence(int workspace, const char* entry, note& about);
  void hold_directory(int workspace, const char* path, note& about);
  int keep_open(int directory);
  int hold_all();
  int hold_one(const char* entry, std::uint32_t index, trail& way);
  bool is_replaced(const char* entry, std::uint32_t index) const;
  int hold_at(const resolved_entry& at, const char* entry, std::uint32_t index, trail& way);
  int give_copy(const resolved_entry& at, std::uint32_t index);
  void watch(int directory) const;
  int hide(const resolved_entry& at);
  int hide_around(const resolved_entry& in, int top, const char* path);
  int keep_target(const char* path);
  int keep_in_place(const char* path);
  void note_target(int workspace, const char* path, note& about) const;
  void sweep_target(int workspace, const char* path, std::uint32_t index, int channel);
  int bind(int entry, std::uint64_t attributes, int* mounted = nullptr);
  [[nodiscard]] bool is_changeable(const char* path) const;
  /// What was not there; `skipped` bytes of its path lead to the top of the trail.
  struct missing {
    const char* path;
    std::uint32_t index;
    std::uint32_t skipped;
  };
  bool is_in_place(int workspace, const char* path, const note& about);
  void sweep_one(const missing& entry, trail& way, int workspace, int channel);
  void move_aside(const resolved_entry& at, const missing& entry, int workspace, int channel);
  void tell(const sys::exec_appeared& told, const resolved_entry& at, const missing& entry,
            int workspace, int channel);

  const policy& wanted_;
  note* notes_ = nullptr;
  const visible_paths* visible_ = nullptr;
  const char* workspace_ = nullptr; ///< its path
  int top_ = -1;                    ///< the workspace, in this mount namespace
  int root_ = -1;                   ///< the root directory
  int cover_ = -1;
  bool is_held_ = false;
  std::uint32_t told_ = 0;
  const char* held_path_ = nullptr; ///< the last path whose directory was kept open
  note held_{};
  bool held_in_place_ = false; ///< the path still leads to it
  std::uint32_t unheld_ = 0;
  rlimit open_files_{};
  rlim_t open_files_at_first_ = 0;
};

} // namespace paddock::exec
