// SPDX-License-Identifier: MIT
#include "skill_manager/calls.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/skill_manager/delegate_skill.hpp>

#include <utility>

namespace paddock::skill_manager {
namespace {

constexpr const char* query_schema =
    R"({"type":"object","properties":{"query":{"type":"string"}},"required":["query"]})";

} // namespace

delegate_skill::delegate_skill(delegate_options options) : options_(std::move(options)) {}
delegate_skill::~delegate_skill() = default;

std::string_view delegate_skill::tool_name() const noexcept {
  const std::string_view expert = options_.expert;
  const std::size_t slash = expert.rfind('/');
  return slash == std::string_view::npos ? expert : expert.substr(slash + 1);
}

result<void, skill_error> delegate_skill::init() {
  if (tool_name().empty())
    return fail(name(), error_code::invalid_argument,
                "the name of an expert must not be empty or end in a slash");
  return start_once(state_, name());
}

void delegate_skill::close() noexcept {
  state_ = skill_manager::state::closed;
}

result<std::vector<tool_definition>, skill_error> delegate_skill::tool_definitions() {
  PADDOCK_CHECK(check_ready(state_, name()));
  return std::vector{tool_definition{.skill = name(),
                                     .name = std::string(tool_name()),
                                     .description = options_.description,
                                     .input_schema = query_schema,
                                     .type = type()}};
}

result<call_outcome, skill_error> delegate_skill::call_tool(std::string_view tool,
                                                            std::string_view arguments,
                                                            const mcp::call_options&) {
  PADDOCK_CHECK(check_ready(state_, name()));
  if (tool != tool_name()) return no_such_tool(name(), tool);
  call_arguments given;
  PADDOCK_CHECK(given.parse(arguments, name()));
  const auto query = given.view()["query"].string();
  if (!query || query->empty())
    return fail(name(), error_code::invalid_argument,
                std::string(tool) + " requires a query: a string that says what to do");
  delegate_call call{
      .expert = options_.expert, .tool = std::string(tool), .query = std::string(*query)};
  tell(options_.on_event, event::delegated{call});
  return call_outcome(std::move(call));
}

} // namespace paddock::skill_manager
