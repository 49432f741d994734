// SPDX-License-Identifier: MIT
#pragma once

// Who keeps account of what a thread changes is told what each change has displaced: the entry that
// was there at that very moment, which somebody else may have put there just before.

#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>

#include <optional>
#include <string>

namespace paddock {

/// An entry by its name in a directory; no name: there was none. `status`: where another one may
/// have that name by now.
struct displaced_entry {
  int directory = -1;
  const char* name = nullptr;
  const file_status* status = nullptr;
};

/// Is told of what file.hpp, directory.hpp and change_set.hpp change in the thread in which it is
/// started, until its end, which comes in the same thread. Paths are resolved, relative to the
/// root.
class change_observer {
public:
  change_observer() noexcept = default;
  change_observer(const change_observer&) = delete;
  change_observer& operator=(const change_observer&) = delete;
  virtual ~change_observer();
  void start();

  /// A file or link has come to a path, or gone from it: `before` is what was there, for the time
  /// of this call, `after` what is, but for its time of change of status.
  virtual void changed(const std::string& path, const displaced_entry& before,
                       const std::optional<file_status>& after) = 0;
  /// A directory has another path, with all in it.
  virtual void moved_directory(const std::string& from, const std::string& to) = 0;
  /// This thread may have changed what is at a path, and cannot say how.
  virtual void changed_all(const std::string& path) = 0;
};

/// Whether anybody wants to be told, in this thread.
[[nodiscard]] bool is_observed() noexcept;
void tell_changed(const std::string& path, const displaced_entry& before,
                  const std::optional<file_status>& after);
void tell_moved_directory(const std::string& from, const std::string& to);
void tell_changed_all(const std::string& path);
/// Removes a file or link, which gets another name first where somebody wants to know what it was.
/// Errors: is_a_directory, those of removing.
[[nodiscard]] result<void> unlink_observed(int directory, const char* name,
                                           const std::string& path);

} // namespace paddock
