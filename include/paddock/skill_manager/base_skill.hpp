// SPDX-License-Identifier: MIT
#pragma once

/// The Base Skill: the workspace tools of this library, called in this process. There is no server
/// and no child but the commands that `exec` runs.
///
/// Each base_skill has a todo list of its own, so two runs never share one. A call that may take
/// long ends at `timeout_ms_max`; `timeout_ms` does not matter here, because `exec` has a deadline
/// of its own.
///
/// Thread-safety: as every manager; calls run on the threads that make them.

#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/root.hpp>
#include <paddock/skill_manager/config.hpp>
#include <paddock/skill_manager/manager.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::skill_manager {

struct base_options {
  std::string name = std::string(base_skill_package);
  std::shared_ptr<const root> workspace{}; ///< not null
  mcp::workspace_options tools{};
  observer on_event{};
};

/// The workspace tools, called in this process.
class base_skill final : public manager {
public:
  /// Precondition: there is a workspace.
  explicit base_skill(base_options options);
  ~base_skill() override;

  [[nodiscard]] const std::string& name() const noexcept override;
  [[nodiscard]] skill_type type() const noexcept override { return skill_type::base; }
  [[nodiscard]] skill_manager::state state() const noexcept override;
  /// Errors: conflict (called before), those of workspace_tools.
  [[nodiscard]] result<void, skill_error> init() override;
  /// Cancels running calls and waits for them.
  void close() noexcept override;
  [[nodiscard]] result<std::vector<tool_definition>, skill_error> tool_definitions() override;
  /// For a server of the same tools, with the same todo list and processes. Calls there are not
  /// ended by `close`. Empty before `init`.
  [[nodiscard]] const std::vector<mcp::tool>& tools() const noexcept;
  [[nodiscard]] result<call_outcome, skill_error>
  call_tool(std::string_view tool, std::string_view arguments,
            const mcp::call_options& options = {}) override;

private:
  struct shared;
  const std::unique_ptr<shared> shared_;
};

} // namespace paddock::skill_manager
