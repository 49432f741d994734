// SPDX-License-Identifier: MIT
#pragma once

/// All skills of one expert: started together, used by the names of their tools, closed together.
///
/// `init` starts the Base Skill, then all servers at the same time, then interactive skills, then
/// delegates. When one fails, the others are not waited for: everything that had started or was
/// starting is closed, and only then the error is returned, naming the skill and the cause. Two
/// skills of one name, or two tools of one name, are an error that names both; there is no order in
/// which one of them would win.
///
/// Lazy skills are started when a list of all tools is asked for, or when a tool is called that no
/// started skill has. One that then brings a name that is taken is reported as that error, and the
/// tools known before stay usable.
///
/// A skill that fails later (its server was lost for the second time, or a lazy one cannot be
/// started) is reported once and then left out of the list; calls of its tools say why.
///
/// Thread-safety: all members may be called from any number of threads at once; `close` also ends a
/// running `init`, which then fails with `cancelled`. Observers may not call the set.

#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/root.hpp>
#include <paddock/skill_manager/config.hpp>
#include <paddock/skill_manager/manager.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::skill_manager {

struct set_options {
  /// Of the Base Skill.
  std::shared_ptr<const root> workspace{};
  /// Of the Base Skill, but for `pick` and `omit`, which the configuration decides. Confined
  /// servers use the same helper.
  mcp::workspace_options base{};
  /// "NAME=value" of this process; servers get the part of it that they may have.
  std::vector<std::string_view> environment{};
  mcp::client_options client{}; ///< of all servers, but for what the configuration says
  observer on_event{};          ///< hears all skills, one event at a time
};

/// The managers of an expert's skills, nothing of them started. Errors: invalid_argument (a
/// required variable is missing, a Base Skill without a workspace).
[[nodiscard]] result<std::vector<std::unique_ptr<manager>>, skill_error>
make_managers(const config& from, const expert& of, const set_options& options);

/// The skills of one expert, and which of them has the tool of a name.
class skill_set {
public:
  /// Precondition: none is null.
  explicit skill_set(std::vector<std::unique_ptr<manager>> managers);
  skill_set(const skill_set&) = delete;
  skill_set& operator=(const skill_set&) = delete;
  ~skill_set(); ///< closes

  /// Errors: conflict (called before, or a name that two have), cancelled, and those of the skills.
  [[nodiscard]] result<void, skill_error> init();
  /// Closes every skill, at the same time, and waits for all. May be repeated.
  void close() noexcept;
  /// Of all skills, in the order in which they were started. Errors: conflict, and those of the
  /// skills.
  [[nodiscard]] result<std::vector<tool_definition>, skill_error> tool_definitions();
  /// Errors: not_found (no skill has the tool), conflict, and those of the skill.
  [[nodiscard]] result<call_outcome, skill_error> call_tool(std::string_view tool,
                                                            std::string_view arguments,
                                                            const mcp::call_options& options = {});

  /// In the order in which they are started.
  [[nodiscard]] std::span<const std::unique_ptr<manager>> managers() const noexcept;

private:
  struct shared;
  const std::unique_ptr<shared> shared_;
};

/// "base", "mcp", "interactive", "delegate".
[[nodiscard]] std::string_view name_of(skill_type type) noexcept;
/// "idle", "starting", "ready", "failed", "closed", "unresponsive", "reconnecting".
[[nodiscard]] std::string_view name_of(state s) noexcept;

} // namespace paddock::skill_manager
