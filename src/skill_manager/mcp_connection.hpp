// SPDX-License-Identifier: MIT
#pragma once

// One connection of an MCP skill to its server, from its start to its loss. A skill that is started
// again has another one.

#include <paddock/skill_manager/mcp_skill.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace paddock::skill_manager {

using definition_list = std::shared_ptr<const std::vector<tool_definition>>;

struct mcp_skill::connection {
public:
  /// Connects and selects the tools. Errors: those of client::connect; invalid_argument (`pick` or
  /// `omit` does not fit the tools).
  [[nodiscard]] static result<std::shared_ptr<connection>>
  open(const mcp_options& options, const cancellation& stop, failure* why);

  explicit connection(const mcp_options& o) : options_(o) {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { close(); }

  [[nodiscard]] mcp::client& client() { return *client_; }
  /// The tools that are offered, fetched again when the server said that they changed.
  [[nodiscard]] result<definition_list> definitions(failure* why);
  /// As last fetched.
  [[nodiscard]] definition_list known() const;
  [[nodiscard]] bool connected() const;
  /// Why the server was lost; empty when it is not known.
  [[nodiscard]] std::string why_lost() const;
  void close() noexcept;

private:
  [[nodiscard]] result<void> select(failure* why);
  void announce();
  void on_lost(std::string_view why);
  void tell(const any_event& e) const {
    if (options_.on_event) options_.on_event(e);
  }

  const mcp_options& options_; // of the skill, which lives longer
  std::atomic<bool> stale_{false};

  mutable std::mutex guard_;
  definition_list definitions_;

  // Held while an event is told, so that "connected" comes before "disconnected" and that only
  // once.
  mutable std::mutex events_guard_;
  bool announced_ = false;
  bool ended_ = false;
  std::optional<std::string> lost_;

  std::optional<mcp::client> client_; // last: its callbacks use the rest
};

} // namespace paddock::skill_manager
