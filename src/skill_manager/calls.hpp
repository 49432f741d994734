// SPDX-License-Identifier: MIT
#pragma once

// What all managers do with calls: check them, and say what is wrong.

#include <paddock/mcp/json.hpp>
#include <paddock/mcp/tool.hpp>
#include <paddock/skill_manager/config.hpp>
#include <paddock/skill_manager/manager.hpp>

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace paddock::skill_manager {

[[nodiscard]] skill_error fail(std::string_view skill, error_code code, std::string message);

/// Tells an event. The caller holds no mutex: the observer may come back to any skill for what is
/// known of it, and other threads must get past this one.
void tell(const observer& heard_by, const any_event& e);
/// Whether this thread is inside an observer, and so may not wait for a skill: the skill may wait
/// for the observer.
[[nodiscard]] bool is_inside_observer() noexcept;

/// idle becomes ready, for a manager that has nothing to start. Errors: conflict.
[[nodiscard]] result<void, skill_error> start_once(std::atomic<state>& s, std::string_view skill);
/// Errors: conflict (not initialised), cancelled (closed).
[[nodiscard]] result<void, skill_error> check_ready(state s, std::string_view skill);
[[nodiscard]] skill_error no_such_tool(std::string_view skill, std::string_view tool);

/// The arguments, parsed and known to be an object; empty text is an empty one.
class call_arguments {
public:
  /// Errors: invalid_argument.
  [[nodiscard]] result<void, skill_error> parse(std::string_view json, std::string_view skill);
  /// Adds the fallbacks of what is not given. What is wrong instead; empty: nothing.
  [[nodiscard]] std::string complete(const mcp::tool& tool);
  [[nodiscard]] mcp::json_view view() const noexcept { return document_.root(); }

private:
  mcp::json_document document_;
};

/// The value of a variable that must be set and not empty. Errors: invalid_argument.
[[nodiscard]] result<std::string_view, skill_error>
required_value(std::span<const std::string_view> inherited, std::string_view name,
               std::string_view skill);

/// Warns of the names in `pick` and `omit` that are no tools, each once.
void warn_of_unknown(const tool_choice& choice, std::span<const std::string_view> tools,
                     const std::function<void(std::string text)>& warn);

/// A content array with one block of text.
[[nodiscard]] std::string text_content(std::string_view text);

} // namespace paddock::skill_manager
