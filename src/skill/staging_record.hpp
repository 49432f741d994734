// SPDX-License-Identifier: MIT
#pragma once

// What tells the hidden directory of a killed change of skills from one that somebody else has
// given such a name: a file of the same name in the state directory, out of reach of the workspace.
// It is locked while the change lives, and lists the objects that may be at the hidden name. It
// is not synchronised: after a power cut the directory may stay.

#include "file/leftover.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/path/root.hpp>

#include <functional>
#include <string>

namespace paddock {

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

} // namespace paddock
