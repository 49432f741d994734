// SPDX-License-Identifier: MIT
#pragma once

// The sessions of clients from before 2026-07-28. Belongs to one thread.

#include "mcp/server/session.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace paddock::mcp {

struct legacy_session {
  std::string id;
  std::shared_ptr<session> talk;
  std::size_t calls_open = 0;
  std::int64_t used_ms = 0; ///< when a request of it came, or a call of it ended
};

class session_table {
public:
  session_table(std::size_t sessions_max, std::int64_t idle_ms)
      : sessions_max_(sessions_max), idle_ms_(idle_ms) {}

  /// Makes room by ending the session that was idle for longest. Nothing when all of them have open
  /// calls. Errors: those of the system's random numbers.
  [[nodiscard]] result<std::shared_ptr<legacy_session>> add(std::shared_ptr<session> talk,
                                                            std::int64_t now_ms);
  /// nullptr when there is none.
  [[nodiscard]] std::shared_ptr<legacy_session> find(std::string_view id, std::int64_t now_ms);
  /// Its calls are cancelled. False when there is none.
  bool end(std::string_view id);
  /// Cancels the calls of all.
  void end_all();
  /// Forgets those that were idle for too long; returns when to look again, or `never`.
  [[nodiscard]] std::int64_t expire(std::int64_t now_ms, std::int64_t never);

private:
  const std::size_t sessions_max_;
  const std::int64_t idle_ms_;
  std::unordered_map<std::string, std::shared_ptr<legacy_session>> by_id_;
};

} // namespace paddock::mcp
