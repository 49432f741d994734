// SPDX-License-Identifier: MIT
#include "skill_manager/calls.hpp"

#include <paddock/environment.hpp>
#include <paddock/skill_manager/mcp_skill.hpp>

#include <gsl/assert>

#include <algorithm>
#include <utility>

namespace paddock::skill_manager {
namespace {

namespace variables = detail::environment;

/// Exactly what the documentation promises. The operator's own words are not second-guessed: a
/// variable that is required or given reaches the server even where commands of an agent may not
/// have it.
result<std::vector<std::string>> environment_of(const stdio_entry& entry, std::string_view skill,
                                                std::span<const std::string_view> inherited,
                                                failure* why) {
  PADDOCK_TRY(auto all, build_environment({.inherited = inherited, .pass = {}, .extra = {}}));
  for (const std::string& name : entry.required_environment) {
    PADDOCK_TRY(const auto value, required_value(inherited, name, skill, why));
    variables::put_variable(all, name, name + "=" + std::string(value));
  }
  for (const auto& [name, value] : entry.environment)
    variables::put_variable(all, name, name + "=" + value);
  return all;
}

} // namespace

result<mcp::endpoint> endpoint_of(const skill_entry& entry,
                                  std::span<const std::string_view> inherited, failure* why) {
  if (const auto* program = std::get_if<stdio_entry>(&entry.kind)) {
    PADDOCK_TRY(auto environment, environment_of(*program, entry.name, inherited, why));
    return mcp::endpoint(mcp::stdio_endpoint{.argv = program->argv,
                                             .environment = std::move(environment),
                                             .working_directory = program->working_directory,
                                             .confinement = program->confinement});
  }
  const auto* remote = std::get_if<http_entry>(&entry.kind);
  Expects(remote != nullptr);
  mcp::http_endpoint made{.url = remote->url,
                          .headers = remote->headers,
                          .kind = remote->kind,
                          .addresses = remote->addresses};
  for (const auto& [header, variable] : remote->headers_from_environment) {
    PADDOCK_TRY(const auto value, required_value(inherited, variable, entry.name, why));
    made.headers.emplace_back(header, value);
  }
  return mcp::endpoint(std::move(made));
}

} // namespace paddock::skill_manager
