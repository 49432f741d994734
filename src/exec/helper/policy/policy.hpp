// SPDX-License-Identifier: MIT
#pragma once

// The policy as it comes from the library.

#include "exec/protocol/enforcement.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <cstddef>

namespace paddock::exec {

enum class wish : unsigned char { off, best_effort, required };

/// Views of the memory that the library has sealed.
struct policy {
  const sys::exec_policy* fixed = nullptr;
  const char* read_paths = nullptr; ///< the first of fixed->read_paths strings, and so on
  const char* write_paths = nullptr;
  const char* cache_paths = nullptr;
  const char* protected_entries = nullptr;
  const char* search_path = nullptr;       ///< the operator's, as PATH has it; may be empty
  const char* home = nullptr;              ///< the operator's home directory; may be empty
  const char* git_configuration = nullptr; ///< a text that git reads; may be empty
  const char* scratch = nullptr; ///< a directory of the session, for a command without a root of
                                 ///< its own; may be empty

  [[nodiscard]] bool wants(confine::layer which) const { return fixed->wanted[which] != 0; }
  [[nodiscard]] bool requires_layer(confine::layer which) const {
    return fixed->wanted[which] == static_cast<unsigned char>(wish::required);
  }
};

/// False when it is not exactly a policy.
bool map_policy(int fd, policy& mapped);

/// The string after this one.
const char* next(const char* string);

} // namespace paddock::exec
