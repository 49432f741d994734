// SPDX-License-Identifier: MIT
#pragma once

// What a command must find protected in its workspace: the names of the policy at the top, in every
// repository and, where they are hidden, in every directory.

#include "exec/protection/directory_index.hpp"
#include "exec/protection/omissions.hpp"
#include "exec/protection/repository_origins.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "path/name_rules.hpp"

#include <paddock/path/protected_names.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace paddock {

/// In place of a rule: by such a name git would take a directory for a repository.
inline constexpr std::size_t rule_of_git = SIZE_MAX - 1;

struct protected_entry {
  sys::exec_entry how{};
  std::string path;
  std::size_t rule =
      SIZE_MAX; ///< which of the policy's names it is of; rule_of_git, or too large: of none
};

/// What is known of a workspace, borrowed.
struct known_workspace {
  int top = -1;
  const std::vector<protected_name>& names;
  const name_rules& rules;
  const directory_index::directories& directories;
  repository_origins& origins;     ///< learns of what is new whose it is
  std::size_t entry_bytes_max = 0; ///< a longer path cannot be protected
};

struct collected_entries {
  std::vector<protected_entry> list; ///< in the order that the helper expects
  omissions without;
};

/// What is to be protected of it, and what there was no room for.
[[nodiscard]] collected_entries collect_entries(const known_workspace& of);

} // namespace paddock
