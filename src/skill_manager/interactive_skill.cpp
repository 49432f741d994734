// SPDX-License-Identifier: MIT
#include "skill_manager/calls.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/skill_manager/interactive_skill.hpp>

#include <algorithm>
#include <utility>

namespace paddock::skill_manager {
namespace {

/// The members that the schema requires and the arguments do not have: "a, b".
std::string missing_members(mcp::json_view schema, mcp::json_view arguments) {
  std::string missing;
  schema["required"].for_each_element([&](mcp::json_view element) {
    const auto name = element.string();
    if (!name || arguments[*name].exists()) return;
    if (!missing.empty()) missing += ", ";
    missing += *name;
  });
  return missing;
}

} // namespace

interactive_skill::interactive_skill(interactive_options options) : options_(std::move(options)) {}
interactive_skill::~interactive_skill() = default;

result<void, skill_error> interactive_skill::init() {
  mcp::json_document document;
  for (const interactive_tool& tool : options_.tools) {
    const auto schema = document.parse(tool.input_schema);
    if (!schema || !schema->is(mcp::json_kind::object))
      return fail(name(), error_code::invalid_argument,
                  "the input schema of " + tool.name + " must be a JSON object");
  }
  return start_once(state_, name());
}

void interactive_skill::close() noexcept {
  state_ = skill_manager::state::closed;
}

result<std::vector<tool_definition>, skill_error> interactive_skill::tool_definitions() {
  PADDOCK_CHECK(check_ready(state_, name()));
  std::vector<tool_definition> all;
  for (const interactive_tool& tool : options_.tools)
    all.push_back({.skill = name(),
                   .name = tool.name,
                   .description = tool.description,
                   .input_schema = tool.input_schema,
                   .type = type()});
  return all;
}

result<call_outcome, skill_error> interactive_skill::call_tool(std::string_view tool,
                                                               std::string_view arguments,
                                                               const mcp::call_options&) {
  PADDOCK_CHECK(check_ready(state_, name()));
  const auto found = std::ranges::find(options_.tools, tool, &interactive_tool::name);
  if (found == options_.tools.end()) return no_such_tool(name(), tool);
  call_arguments given;
  PADDOCK_CHECK(given.parse(arguments, name()));
  mcp::json_document schema;
  PADDOCK_CHECK(schema.parse(found->input_schema)); // init has seen it
  if (const auto missing = missing_members(schema.root(), given.view()); !missing.empty())
    return fail(name(), error_code::invalid_argument, found->name + " requires: " + missing);
  interactive_call call{.skill = name(),
                        .tool = found->name,
                        .description = found->description,
                        .input_schema = found->input_schema,
                        .arguments = given.view().text()};
  tell(options_.on_event, event::interactive{call});
  return call_outcome(std::move(call));
}

} // namespace paddock::skill_manager
