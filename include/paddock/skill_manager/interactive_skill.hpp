// SPDX-License-Identifier: MIT
#pragma once

/// Tools that a person answers. The skill only has definitions: a call is checked and handed to the
/// application, which asks the person and goes on when it has the answer.
///
/// Checked is what would make the question meaningless: the arguments are a JSON object and have
/// the members that the schema requires at its top. Whether the rest fits the schema is not.
///
/// Thread-safety: as every manager.

#include <paddock/skill_manager/config.hpp>
#include <paddock/skill_manager/manager.hpp>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::skill_manager {

struct interactive_options {
  std::string name{};
  std::vector<interactive_tool> tools{};
  observer on_event{};
};

/// Tools that a person answers; the caller asks them.
class interactive_skill final : public manager {
public:
  explicit interactive_skill(interactive_options options);
  ~interactive_skill() override;

  [[nodiscard]] const std::string& name() const noexcept override { return options_.name; }
  [[nodiscard]] skill_type type() const noexcept override { return skill_type::interactive; }
  [[nodiscard]] skill_manager::state state() const noexcept override { return state_; }
  /// Errors: conflict (called before), invalid_argument (a schema that is no JSON object).
  [[nodiscard]] result<void, skill_error> init() override;
  void close() noexcept override;
  [[nodiscard]] result<std::vector<tool_definition>, skill_error> tool_definitions() override;
  /// Returns an interactive_call.
  [[nodiscard]] result<call_outcome, skill_error>
  call_tool(std::string_view tool, std::string_view arguments,
            const mcp::call_options& options = {}) override;

private:
  const interactive_options options_;
  std::atomic<skill_manager::state> state_{skill_manager::state::idle};
};

} // namespace paddock::skill_manager
