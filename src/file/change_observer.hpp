// SPDX-License-Identifier: MIT
#pragma once

// Reports each change of a thread with the entry that it really replaced, which is not always the
// one that was looked at before: somebody may save the same file meanwhile. Per thread, no locks.

#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>

#include <optional>
#include <string>

namespace paddock {

/// The replaced entry, by its name in an open directory; without a name, there was none. `status`
/// is set if another entry may have that name already.
struct displaced_entry {
  int directory = -1;
  const char* name = nullptr;
  const file_status* status = nullptr;
};

/// Sees the changes that file.hpp, directory.hpp and change_set.hpp make in the thread that called
/// `start`. Must be destroyed in that thread. Paths are resolved, relative to the root.
class change_observer {
public:
  change_observer() noexcept = default;
  change_observer(const change_observer&) = delete;
  change_observer& operator=(const change_observer&) = delete;
  virtual ~change_observer();
  void start();

  /// A file or link was put at a path or removed from it. `before` is valid during this call; the
  /// status change time of `after` may be out of date.
  virtual void changed(const std::string& path, const displaced_entry& before,
                       const std::optional<file_status>& after) = 0;
  /// A directory was renamed, with everything in it.
  virtual void moved_directory(const std::string& from, const std::string& to) = 0;
  /// This thread may have changed the entry at a path; how is unknown.
  virtual void changed_somehow(const std::string& path) = 0;
};

/// Whether this thread has an observer.
[[nodiscard]] bool is_observed() noexcept;
void report_change(const std::string& path, const displaced_entry& before,
                   const std::optional<file_status>& after);
void report_moved_directory(const std::string& from, const std::string& to);
void report_unknown_change(const std::string& path);
/// Whether two looks saw the same object with the same content, if a rename, which changes the
/// status change time, was between them.
[[nodiscard]] inline bool same_but_for_name(const file_status& a, const file_status& b) {
  return a.same_object(b) && a.size == b.size && a.modified_ns == b.modified_ns;
}
/// Removes a file or link. With an observer, or if another one than `expected` would stay, it is
/// renamed first, and reported under that name. Errors: is_a_directory, conflict (it is another
/// one), those of unlinkat(2).
[[nodiscard]] result<void> unlink_reported(int directory, const char* name, const std::string& path,
                                           const file_status* expected = nullptr);

} // namespace paddock
