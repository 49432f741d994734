// SPDX-License-Identifier: MIT
#pragma once

/// The tools of an MCP server, local or remote.
///
/// `pick` and `omit` decide what is offered and what can be called. A name in them that the server
/// does not have (any more), and that no tool is left, are warnings, told once as events. What the
/// server says of a tool is given without characters that a person does not see; a tool with such
/// characters in its name or in what its server compares is left out, with a warning. A lazy skill
/// is checked by init and connected when its tools are first asked for or called; whoever comes
/// meanwhile waits for the same attempt.
///
/// When the server is lost, the calls in flight fail; nothing is ever called twice. What comes next
/// depends on the server:
/// - A program is started again by the next use, once. When it is lost a second time, the skill has
///   failed.
/// - A program that left a call unanswered until its deadline is `unresponsive`. The next use sends
///   it a ping, unless another call is in flight, which may be what keeps it busy. Without an
///   answer it counts as lost and is ended.
/// - A remote server whose stream of events was lost is `reconnecting`. It is tried again after
///   growing pauses, until it is back, refuses for good (credentials, policy) or the skill is
///   closed. Meanwhile calls fail with `io`, and the list of tools is the last one.
///
/// Thread-safety: as every manager.

#include <paddock/mcp/client.hpp>
#include <paddock/skill_manager/config.hpp>
#include <paddock/skill_manager/manager.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::skill_manager {

/// How long a server that was lost is left alone before it is tried again: twice as long each time,
/// somewhere between half of that and all of it, and not shorter than the server asks (5 minutes at
/// most).
struct reconnect_pauses {
  std::int64_t first_ms = 500;
  std::int64_t max_ms = 30'000;
};

struct mcp_options {
  std::string name{};
  mcp::endpoint endpoint{};
  mcp::client_options client{}; ///< but for the callbacks, which the skill needs for itself
  tool_choice tools{};
  startup start = startup::eager;
  /// In place of the caller's; the caller's timeout_ms_max is raised to it.
  std::optional<std::int64_t> timeout_ms{};
  std::int64_t ping_timeout_ms = 5'000; ///< of a server that left a call unanswered
  reconnect_pauses reconnect{};
  observer on_event{};
};

/// Where an entry leads.
struct entry_endpoint {
  mcp::endpoint to{};
  /// A sentence for each variable of `env` that is left out, because its value stands for one that
  /// is not set.
  std::vector<std::string> left_out{};
};

/// Where the entry leads. `inherited` is this process's environment, "NAME=value". A server gets
/// the usual minimum of it, what the entry requires, and what the entry gives, in this order; later
/// ones replace. Errors: invalid_argument, naming a variable that is required and not set, or
/// empty. Precondition: the entry is of a server.
[[nodiscard]] result<entry_endpoint, skill_error>
endpoint_of(const skill_entry& entry, std::span<const std::string_view> inherited);

/// The tools of an MCP server, which is started or reached when it is needed.
class mcp_skill final : public manager {
public:
  explicit mcp_skill(mcp_options options);
  ~mcp_skill() override;

  [[nodiscard]] const std::string& name() const noexcept override;
  [[nodiscard]] skill_type type() const noexcept override { return skill_type::mcp; }
  /// `idle` after init: lazy, and not used yet.
  [[nodiscard]] skill_manager::state state() const noexcept override;
  [[nodiscard]] result<void, skill_error> init() override;
  void close() noexcept override;
  [[nodiscard]] result<std::vector<tool_definition>, skill_error> tool_definitions() override;
  [[nodiscard]] result<call_outcome, skill_error>
  call_tool(std::string_view tool, std::string_view arguments,
            const mcp::call_options& options = {}) override;

private:
  struct session;
  struct shared;
  const std::unique_ptr<shared> shared_;
};

} // namespace paddock::skill_manager
