// SPDX-License-Identifier: MIT
#include "skill_manager/calls.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/base/detail/nearest_name.hpp>
#include <paddock/base/detail/visible_text.hpp>
#include <paddock/exec/environment.hpp>

#include <gsl/assert>
#include <gsl/util>

#include <algorithm>
#include <utility>

namespace paddock::skill_manager {
namespace {

thread_local unsigned observers_entered = 0;

} // namespace

std::string tool_reply::text() const {
  return mcp::call_reply{.json = result, .failed = failed}.text();
}

std::string tool_reply::structured() const {
  return mcp::call_reply{.json = result, .failed = failed}.structured();
}

void tell(const observer& heard_by, const any_event& e) {
  if (!heard_by) return;
  ++observers_entered;
  const auto leave = gsl::finally([] { --observers_entered; });
  heard_by(e);
}

bool is_inside_observer() noexcept {
  return observers_entered > 0;
}

skill_error fail(std::string_view skill, error_code code, std::string message) {
  return {skill, {code, 0, "skill_manager"}, std::move(message)};
}

result<void, skill_error> start_once(std::atomic<state>& s, std::string_view skill) {
  state expected = state::idle;
  if (s.compare_exchange_strong(expected, state::ready)) return {};
  return fail(skill, error_code::conflict, "the skill was initialised before");
}

result<void, skill_error> check_ready(state s, std::string_view skill) {
  if (s == state::ready) return {};
  if (s == state::closed) return fail(skill, error_code::cancelled, "the skill was closed");
  return fail(skill, error_code::conflict, "the skill is not initialised");
}

skill_error no_such_tool(std::string_view skill, std::string_view tool) {
  return fail(skill, error_code::not_found, "the skill has no tool " + detail::excerpt(tool));
}

std::string call_arguments::complete(const mcp::tool& tool) {
  std::string problems = mcp::problems_of(tool, view());
  if (!problems.empty() || !tool.input_schema.empty()) return problems;
  if (const auto all = mcp::with_fallbacks(tool.parameters, view())) {
    const auto parsed = document_.parse(*all);
    Expects(parsed.has_value());
  }
  return {};
}

result<void, skill_error> call_arguments::parse(std::string_view json, std::string_view skill) {
  const auto parsed = document_.parse(json.empty() ? "{}" : json);
  if (!parsed)
    return fail(skill, error_code::invalid_argument,
                std::string("the arguments must be a JSON object: they are ") +
                    parsed.error().operation);
  if (!parsed->is(mcp::json_kind::object))
    return fail(skill, error_code::invalid_argument, "the arguments must be a JSON object");
  return {};
}

result<std::string_view, skill_error> required_value(std::span<const std::string_view> inherited,
                                                     std::string_view name,
                                                     std::string_view skill) {
  for (const std::string_view assignment : inherited)
    if (detail::environment::variable_name(assignment) == name &&
        assignment.size() > name.size() + 1)
      return assignment.substr(name.size() + 1);
  return fail(skill, error_code::invalid_argument,
              "requires the environment variable " + std::string(name) +
                  ", which is not set or empty");
}

void warn_of_unknown(const tool_choice& choice, std::span<const std::string_view> tools,
                     const std::function<void(std::string text)>& warn) {
  constexpr std::size_t shown_bytes_max = 80;
  for (const auto& [key, list] : {std::pair{"pick", &choice.pick}, {"omit", &choice.omit}})
    for (const std::string& name : *list)
      if (std::ranges::find(tools, name) == tools.end())
        warn(std::string(key) + " names " +
             detail::with_hidden_named(std::string_view(name).substr(0, shown_bytes_max)) +
             ", which is no tool here and is ignored" +
             detail::with_hidden_named(detail::did_you_mean(name, tools)));
}

std::string text_content(std::string_view text) {
  mcp::json_writer out;
  out.begin_array().begin_object().member("type", "text").member("text", text);
  out.end_object().end_array();
  return out.take();
}

} // namespace paddock::skill_manager
