// SPDX-License-Identifier: MIT
#pragma once

// A root directory for one command: an empty file system with the visible paths in it, and nothing
// else. Everything that is to be seen is copied as a detached mount first; then the old root is
// left for good, and the new one is put together where nothing of the old one can be reached.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"
#include "exec/helper/root/mounts.hpp"
#include "exec/helper/root/visible_paths.hpp"

namespace paddock::exec {

/// Whether the old /proc may serve where the kernel makes no new one: only if the command gets
/// neither the processes that it lists (leave_only_tables()) nor rights over its mounts.
enum class old_proc : bool { refused, allowed };

class private_root {
public:
  /// `git_configuration` is a text that git is to read; empty: none. The mounts of the session are
  /// used up. `has_settings`: there is a directory for copies of settings.
  private_root(const visible_paths& visible, const char* git_configuration,
               const session_copies& session, bool has_settings, old_proc fallback)
      : visible_(visible), git_configuration_(git_configuration), session_(session),
        has_settings_(has_settings), fallback_(fallback) {}

  /// Takes copies of everything that is needed. 0 or an errno; nothing has changed then.
  int prepare();
  /// Replaces the root directory of this process. 0 or an errno; then the process is of no use any
  /// more.
  int enter();
  /// A detached mount of an empty directory, to be closed by the caller.
  [[nodiscard]] int cover() const { return cover_; }
  /// Whether /proc lists processes of other PID namespaces: leave_only_tables() before any program.
  [[nodiscard]] bool has_foreign_proc() const { return has_foreign_proc_; }

private:
  bool take_proc();
  int copy(const visible_path& entry, int& mount) const;
  int make_own_file_system();
  int make_cache(const visible_path& entry, int own, unsigned long number, int& mount) const;
  int leave_old_root();
  int put(const visible_path& entry, int mount);
  int make_devices();
  int make_terminals() const;
  int make_identity() const;
  int put_settings() const;

  static constexpr std::size_t capacity = 512;
  const visible_paths& visible_;
  const char* git_configuration_;
  const session_copies& session_;
  const bool has_settings_;
  const old_proc fallback_;
  bool has_foreign_proc_ = false;
  int settings_ = -1;
  int mounts_[capacity];
  int root_ = -1;
  int proc_ = -1;
  int cover_ = -1;
  int terminals_ = -1; ///< absent where it has none
};

/// Writes a text to a file that is not there yet; one that is there stays. 0 or an errno.
int write_new_file(const char* path, const char* text);
/// Mounts made here from now on, and those made elsewhere, stay there. 0 or an errno.
int isolate_mounts();

} // namespace paddock::exec
