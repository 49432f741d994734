// SPDX-License-Identifier: MIT
#pragma once

/// What is known of a skill without reading it: the value that the store (store.hpp) hands
/// out and the prompt (prompt.hpp) is made of.
///
/// Thread-safety: a plain value.

#include <paddock/frontmatter/frontmatter.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace paddock {

enum class skill_source : std::uint8_t {
  system, ///< read-only; wins over a user skill with the same id
  user,
};

struct skill {
  std::string id; ///< the directory's name
  std::string name;
  std::string description;
  skill_source source = skill_source::user;
  std::string path;                                 ///< of SKILL.md, relative to the root
  std::vector<frontmatter::diagnostic> diagnostics; ///< warnings only
};

} // namespace paddock
