// SPDX-License-Identifier: MIT
#include "history/store_directory.hpp"

#include <paddock/history/changes.hpp>

namespace paddock::history {

std::string_view name_of(author by) noexcept {
  switch (by) {
  case author::tool:
    return "tool";
  case author::exec:
    return "exec";
  case author::other:
    break;
  }
  return "other";
}

std::string_view name_of(change_kind kind) noexcept {
  switch (kind) {
  case change_kind::created:
    return "created";
  case change_kind::modified:
    return "modified";
  case change_kind::deleted:
    return "deleted";
  case change_kind::moved:
    return "moved";
  case change_kind::mode:
    break;
  }
  return "mode";
}

std::string_view reason_of(holding why) noexcept {
  switch (why) {
  case holding::held:
    return "it is held";
  case holding::ignored:
    return "it lies in an ignored directory";
  case holding::too_large:
    return "the file is too large to be held";
  case holding::over_budget:
    return "the store had no room for it";
  case holding::unreadable:
    return "it could not be read";
  case holding::special:
    return "it is a FIFO, socket or device";
  case holding::not_read_yet:
    return "it changed before it was read";
  case holding::never_read:
    return "it has kept everybody out since it was first met";
  case holding::too_deep:
    return "what is in it has paths that are too long";
  case holding::lost:
    break;
  }
  return "the store failed or is damaged";
}

std::string_view advice_for(const error& e) noexcept {
  if (e.code != error_code::no_space) return advice(e.code);
  return std::string_view(e.operation) == budget_operation
             ? "`paddock history gc` makes room"
             : "free some space on the disk of the workspace, and on the one of the history";
}

} // namespace paddock::history
