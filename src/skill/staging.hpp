// SPDX-License-Identifier: MIT
#pragma once

// How a change of the user's skills becomes visible in one step. What is new is built in a hidden
// directory beside the skills and renamed into its place; what it replaces takes the hidden name
// and is removed. Both are held open and looked at again after each rename; where another directory
// has got one of the names, the rename is undone. What cannot be removed is tried again by this
// process's next change. What a killed process leaves is removed by the next change, if there is a
// record of it (staging_record); else it stays: its name says nothing that anybody else could
// not have written.

#include "file/leftover.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>
#include <paddock/skill/store.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {

/// What tells the hidden directory of a killed change of skills from one that somebody else has
/// given such a name: a file of the same name in the state directory, out of reach of the
/// workspace. It is locked while the change lives, and lists the objects that may be at the hidden
/// name. It is not synchronised: after a power cut the directory may stay.
class staging_record {
public:
  /// To be made before anything is at the hidden name in `user`, which has to outlive it. Where
  /// the state directory is not named, or cannot be used, there is no record.
  staging_record(const root& base, const std::string& state_directory, int user,
                 const component& hidden);
  staging_record(staging_record&&) = default;
  staging_record& operator=(staging_record&&) = delete;
  ~staging_record(); ///< removes the file, unless something is at the hidden name

  /// Says that this object may be at the hidden name from now on.
  void add(const file_status& object) const;

private:
  file_descriptor state_, file_;
  int user_;
  component hidden_;
};

/// Removes what killed changes have left in the directory `user`, by `remove`. Nobody else does so
/// meanwhile.
void remove_abandoned(const root& base, const std::string& state_directory, int user,
                      const std::function<void(own_entry)>& remove);

/// Opens the user's directory for a change, making it first if it is missing, and removes what
/// earlier changes have left: those of this process, and those that were killed.
[[nodiscard]] result<opened> open_for_change(const root& base, const skill_store_options& options);

/// Keeps other changes, of this process and of others, away from a directory while it lives. Where
/// the file system has no such locks it keeps nobody away. Errors: conflict, after some seconds;
/// those of the bounds.
class change_lock {
public:
  [[nodiscard]] static result<change_lock> acquire(int directory, const work_bounds& bounds);

private:
  explicit change_lock(file_descriptor fd) noexcept : fd_(std::move(fd)) {}
  file_descriptor fd_;
};

class staging {
public:
  /// `user` is the user's directory. Both have to outlive this. Errors: conflict (somebody has
  /// exchanged the new directory), and as of sys::mkdirat.
  [[nodiscard]] static result<staging> create(const root& base, const skill_store_options& options,
                                              const opened& user);
  staging(staging&& other) noexcept;
  staging& operator=(staging&&) = delete;
  ~staging(); ///< removes what this has put at the hidden name

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  enum class outcome : std::uint8_t { added, replaced };
  /// Swaps the hidden directory in as `id`. What is in it must be on the disk already if `wanted`
  /// is more than `none`. Errors: already_exists, read_only, unsupported (the file system cannot
  /// exchange two names), conflict (also: a command keeps the old one in place, or somebody has
  /// exchanged one of the directories), timed_out, cancelled.
  [[nodiscard]] result<outcome> publish(const component& id, overwrite existing, durability wanted,
                                        const work_bounds& bounds);

private:
  staging(const root& base, const opened& user, staging_record record, const component& name,
          file_descriptor fd, file_descriptor hidden) noexcept
      : base_(&base), path_(user.path), user_(user.fd.get()), record_(std::move(record)),
        fd_(std::move(fd)), hidden_{.name = name, .made = std::move(hidden)} {}

  const root* base_;
  std::string_view path_; ///< of the user's directory
  int user_ = -1;
  staging_record record_;
  file_descriptor fd_;
  own_entry hidden_; ///< at the hidden name: the new directory, later what it replaced
  bool armed_ = true;
};

/// Moves `id` to a hidden name and removes it from there. When the removal fails, `id` is gone and
/// this process's next change tries again to remove the rest. Errors: not_found, read_only,
/// conflict (a command keeps it in place, or somebody has exchanged it), timed_out, those of
/// removing.
[[nodiscard]] result<void> take_away(const root& base, const skill_store_options& options,
                                     const opened& user, const component& id);

} // namespace paddock
