// SPDX-License-Identifier: MIT
#pragma once

// Changes mode, owner, times, extended attributes and size of files for a command that has no
// mounts of its own: Landlock does not judge these calls, so its filter hands them over.
//
// Each is made here, on the object that its path led to when that was looked at, so the caller
// cannot exchange anything afterwards: in the workspace, except entries protected when the command
// began, and in its scratch directory. Set-ID bits, other owners and attributes beside `user.` are
// refused. Not thread-safe.

#include "exec/protection/workspace_watch.hpp"
#include "sys/filtered_call.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

class attribute_broker {
public:
  /// All are borrowed, `write_paths` only meanwhile.
  attribute_broker(int workspace, const entries_to_protect& entries,
                   const std::vector<std::string>& write_paths);

  void take_scratch(file_descriptor scratch) { scratch_ = std::move(scratch); }
  /// Makes the call of a caller at `listener`; 0 or an errno is the answer to it.
  [[nodiscard]] int make(int listener, const sys::filtered_call& call) const;

private:
  [[nodiscard]] bool may_change(int place, const file_status& status) const;
  [[nodiscard]] bool is_in_workspace(const std::string& name, const file_status& status) const;

  int workspace_;
  std::vector<std::string> write_paths_; ///< canonical
  std::set<std::string_view> protected_; ///< paths in the workspace, with all beneath
  file_descriptor scratch_;
};

} // namespace paddock
