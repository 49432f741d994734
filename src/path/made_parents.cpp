// SPDX-License-Identifier: MIT
#include "path/made_parents.hpp"

#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <utility>

namespace paddock {

made_parents::made_parents(const root& root, const place& where) : root_(root) {
  if (where.parents_made == 0) return;
  deepest_ = parent(where.path);
  made_.resize(where.parents_made);
  file_descriptor above;
  int at = where.parent.get();
  for (auto each = made_.rbegin(); each != made_.rend(); ++each, at = above.get()) {
    if (const auto status = sys::status_at(at, "")) *each = *status;
    if (auto next = sys::openat(at, "..", O_PATH | O_DIRECTORY)) above = *std::move(next);
  }
}

unsigned made_parents::keep() noexcept {
  return static_cast<unsigned>(std::exchange(made_, {}).size());
}

void made_parents::enter(std::string_view path, const std::optional<file_status>& made) {
  if (!deepest_.empty()) deepest_ += '/';
  deepest_ += path;
  made ? made_.push_back(*made) : made_.clear();
}

made_parents::~made_parents() {
  for (; !made_.empty(); made_.pop_back()) {
    const auto now =
        root_.locate(deepest_, final_link::keep, parents::require, purpose::make_directory);
    const bool is_known = made_.back().inode != 0;
    if (!now || !now->existing || (is_known && !now->existing->same_object(made_.back()))) return;
    if (!sys::unlinkat(now->parent.get(), now->name.c_str(), AT_REMOVEDIR)) return;
    const auto slash = deepest_.rfind('/');
    deepest_.resize(slash == std::string::npos ? 0 : slash);
  }
}

} // namespace paddock
