// SPDX-License-Identifier: MIT
#pragma once

/// Another expert as a tool: named by the last part of the expert's name (`@org/writer` is
/// `writer`), with one argument, `query`. A call is checked and handed to the application, which
/// starts the other expert and goes on when that has ended.
///
/// Thread-safety: as every manager.

#include <paddock/skill_manager/manager.hpp>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::skill_manager {

struct delegate_options {
  std::string expert{}; ///< also the skill's name
  std::string description{};
  observer on_event{};
};

/// Another expert, as a tool of one parameter; the caller runs it.
class delegate_skill final : public manager {
public:
  explicit delegate_skill(delegate_options options);
  ~delegate_skill() override;

  [[nodiscard]] const std::string& name() const noexcept override { return options_.expert; }
  [[nodiscard]] skill_type type() const noexcept override { return skill_type::delegate; }
  [[nodiscard]] skill_manager::state state() const noexcept override { return state_; }
  /// Errors: conflict (called before), invalid_argument (a name that ends in a slash, or is empty).
  [[nodiscard]] result<void, skill_error> init() override;
  void close() noexcept override;
  [[nodiscard]] result<std::vector<tool_definition>, skill_error> tool_definitions() override;
  /// Returns a delegate_call.
  [[nodiscard]] result<call_outcome, skill_error>
  call_tool(std::string_view tool, std::string_view arguments,
            const mcp::call_options& options = {}) override;

  /// The name of its one tool, made of the expert's.
  [[nodiscard]] std::string_view tool_name() const noexcept;

private:
  const delegate_options options_;
  std::atomic<skill_manager::state> state_{skill_manager::state::idle};
};

} // namespace paddock::skill_manager
