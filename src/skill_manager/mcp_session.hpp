// SPDX-License-Identifier: MIT
#pragma once

// One session of an MCP skill with its server, from its start to its loss. A skill that is started
// again has another one.

#include "skill_manager/calls.hpp"

#include <paddock/skill_manager/mcp_skill.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace paddock::skill_manager {

using definition_list = std::shared_ptr<const std::vector<tool_definition>>;

struct mcp_skill::session {
public:
  /// What the skill does about what happens here.
  struct hooks {
    std::function<void()> lost;
    std::function<void(std::string text)> warn;
  };
  /// Connects and selects the tools. Errors: those of client::connect.
  [[nodiscard]] static result<std::shared_ptr<session>, skill_error>
  open(const mcp_options& options, const hooks& on, const cancellation& stop);

  session(const mcp_options& o, const hooks& on) : options_(o), hooks_(on) {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() { close(); }

  [[nodiscard]] mcp::client& client() { return *client_; }
  /// The tools that are offered, fetched again when the server said that they changed.
  [[nodiscard]] result<definition_list, skill_error> definitions();
  /// As last fetched.
  [[nodiscard]] definition_list known() const;
  [[nodiscard]] bool connected() const;
  /// Whether the server answers a ping, in whatever way.
  [[nodiscard]] bool answers_ping(const cancellation& stop);
  /// Counts as lost from here on.
  void give_up(std::string_view why) { on_lost(why); }
  /// Why the server was lost; empty when it is not known.
  [[nodiscard]] std::string why_lost() const;
  void close() noexcept;

  std::atomic<unsigned> calls_in_flight{0};
  std::atomic<bool> left_unanswered{false}; ///< a call, and nothing has been answered since

private:
  void select();
  void announce();
  void on_lost(std::string_view why);
  bool tell_end(std::unique_lock<std::mutex>& lock, std::string why);
  void tell(const any_event& e) const { skill_manager::tell(options_.on_event, e); }

  const mcp_options& options_; // of the skill, which lives longer
  const hooks& hooks_;         // likewise
  std::atomic<bool> stale_{false};

  mutable std::mutex guard_;
  definition_list definitions_;

  // Not held while an event is told. Who comes before "connected" has been told leaves
  // "disconnected" to the one who tells that; who sets `ended_` tells it.
  mutable std::mutex events_guard_;
  bool announced_ = false; // "connected" has been told
  bool ended_ = false;
  std::optional<std::string> lost_;

  std::optional<mcp::client> client_; // last: its callbacks use the rest
};

} // namespace paddock::skill_manager
