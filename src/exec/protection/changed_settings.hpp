// SPDX-License-Identifier: MIT
#pragma once

// The configurations of repositories of which a command has copies: what it has changed in them is
// carried over when it has ended, as far as no program is run by it.

#include "exec/protection/protected_entries.hpp"
#include "path/git_configuration.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace paddock {

class changed_settings {
public:
  /// Both outlive this; `workspace` is borrowed. To be made before the command begins.
  changed_settings(int workspace, const std::vector<protected_entry>& entries);

  /// The copy of an entry that the command has changed.
  void take(std::uint32_t entry, file_descriptor copy);
  /// Carries them over. What was not, and what others have changed, in sentences without a full
  /// stop.
  [[nodiscard]] std::vector<std::string> carry_over() const;

private:
  [[nodiscard]] is_local_remote local_remotes(const std::string& path) const;
  [[nodiscard]] std::string carry_over(const std::string& path, const std::string& before,
                                       int copy) const;

  int workspace_;
  const std::vector<protected_entry>& entries_;
  std::map<std::uint32_t, std::string> before_; ///< by the entry
  std::map<std::uint32_t, file_descriptor> copies_;
};

} // namespace paddock
