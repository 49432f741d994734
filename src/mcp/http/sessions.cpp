// SPDX-License-Identifier: MIT
#include "mcp/http/sessions.hpp"

#include "http/server/secret.hpp"

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t id_bytes = 24;

} // namespace

result<std::shared_ptr<legacy_session>> session_table::add(std::shared_ptr<session> talk,
                                                           std::int64_t now_ms) {
  PADDOCK_TRY(std::string id, http::new_secret(id_bytes));
  if (by_id_.size() >= sessions_max_) {
    auto oldest = by_id_.end();
    for (auto each = by_id_.begin(); each != by_id_.end(); ++each)
      if (each->second->calls_open == 0 &&
          (oldest == by_id_.end() || each->second->used_ms < oldest->second->used_ms))
        oldest = each;
    if (oldest == by_id_.end()) return error{error_code::too_many, 0, "sessions"};
    by_id_.erase(oldest);
  }
  const auto made = std::make_shared<legacy_session>(
      legacy_session{.id = id, .talk = std::move(talk), .calls_open = 0, .used_ms = now_ms});
  by_id_.emplace(std::move(id), made);
  return made;
}

std::shared_ptr<legacy_session> session_table::find(std::string_view id, std::int64_t now_ms) {
  const auto found = by_id_.find(std::string(id));
  if (found == by_id_.end()) return nullptr;
  found->second->used_ms = now_ms;
  return found->second;
}

bool session_table::end(std::string_view id) {
  const auto found = by_id_.find(std::string(id));
  if (found == by_id_.end()) return false;
  (void)found->second->talk->end(); // it has no subscription
  by_id_.erase(found);
  return true;
}

void session_table::end_all() {
  for (const auto& [id, each] : by_id_)
    (void)each->talk->end();
}

std::int64_t session_table::expire(std::int64_t now_ms, std::int64_t never) {
  std::int64_t next_ms = never;
  std::erase_if(by_id_, [&](const auto& entry) {
    if (entry.second->calls_open > 0) return false; // its end will be a use
    const std::int64_t at_ms = entry.second->used_ms + idle_ms_;
    if (at_ms <= now_ms) return true;
    next_ms = std::min(next_ms, at_ms);
    return false;
  });
  return next_ms;
}

} // namespace paddock::mcp
