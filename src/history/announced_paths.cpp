// SPDX-License-Identifier: MIT
#include "history/announced_paths.hpp"

#include "file/leftover.hpp"
#include "history/file_index.hpp"

namespace paddock::history {

void announced_paths::add(const cause& by, std::span<const std::string> paths) {
  for (const std::string& path : paths) {
    at_.insert_or_assign(path, by);
    for (std::string_view above = path; !above.empty();) {
      above = parent_of(above);
      in_.insert_or_assign(std::string(above), by);
    }
  }
}

const cause* announced_paths::who(std::string_view path, known_kind kind) const {
  if (is_empty()) return nullptr;
  for (std::string_view above = path;; above = parent_of(above)) {
    if (const auto found = at_.find(above); found != at_.end()) return &found->second;
    if (above.empty()) break;
  }
  const bool is_temporary = kind == known_kind::file && last_of(path).starts_with(temporary_prefix);
  if (kind != known_kind::directory && !is_temporary) return nullptr;
  const auto found = in_.find(is_temporary ? parent_of(path) : path);
  return found != in_.end() ? &found->second : nullptr;
}

} // namespace paddock::history
