// SPDX-License-Identifier: MIT
#pragma once

// What an MCP skill knows, and how it gets from one session to the next. A remote server that
// was lost is tried again on a thread of the skill (mcp_reconnect.cpp), a program by its next use
// (mcp_skill.cpp).

#include "skill_manager/calls.hpp"
#include "skill_manager/mcp_session.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

namespace paddock::skill_manager {

struct mcp_skill::shared {
  explicit shared(mcp_options o)
      : options(std::move(o)), hooks{[this] { on_lost(); }, [this](std::string t) { warn(t); }} {}

  [[nodiscard]] result<std::shared_ptr<session>, skill_error> use();
  [[nodiscard]] result<std::shared_ptr<session>, skill_error>
  start(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] result<std::shared_ptr<session>, skill_error>
  check(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] result<std::shared_ptr<session>, skill_error>
  replace_lost(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] skill_manager::state visible_state() const;
  [[nodiscard]] result<std::vector<tool_definition>, skill_error> known_tools() const;
  [[nodiscard]] bool may_offer(std::string_view tool) const;
  [[nodiscard]] bool is_remote() const {
    return std::holds_alternative<mcp::http_endpoint>(options.endpoint);
  }
  [[nodiscard]] skill_error remember(skill_error reason);
  [[nodiscard]] skill_error error_of_call(session& asked, const detailed_error& reason);
  [[nodiscard]] std::string after_loss() const;

  // --- connecting again
  void on_lost();
  void begin_reconnecting();
  void reconnect_until_closed();
  [[nodiscard]] bool reconnect(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::string when_again() const;

  void warn(const std::string& text);
  void tell(const any_event& e) const { skill_manager::tell(options.on_event, e); }

  static constexpr unsigned restarts_max = 1;
  static constexpr std::size_t warned_max = 1'000; ///< a server may make up ever new reasons

  const mcp_options options;
  const session::hooks hooks;
  const cancellation stop;

  mutable std::mutex guard;
  std::condition_variable changed;
  skill_manager::state current = skill_manager::state::idle;
  bool busy = false; // a thread starts, checks or closes; the others wait
  bool initialised = false;
  bool closing = false;
  unsigned restarts = 0;
  std::shared_ptr<session> link;             // while ready
  std::optional<skill_error> failed_because; // while failed
  std::set<std::string> warned;
  definition_list offered; // as last asked for; null before that

  std::thread reconnector; // from the first loss of a remote server on
  std::string lost_because;
  unsigned attempt = 0; // to reconnect, since it was connected for long
  std::optional<std::int64_t> asked_pause_ms;
  std::int64_t connected_at_ms = 0;
};

} // namespace paddock::skill_manager
