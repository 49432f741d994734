// SPDX-License-Identifier: MIT
#include "skill_manager/calls.hpp"
#include "skill_manager/config/entry.hpp"

#include <paddock/exec/environment.hpp>
#include <paddock/skill_manager/mcp_skill.hpp>

#include <gsl/assert>

#include <algorithm>
#include <utility>

namespace paddock::skill_manager {
namespace {

namespace variables = detail::environment;

/// Something in a value stands for nothing.
struct unset_variable : error {
  std::string name;
};

/// What "${…}" in a value stands for.
class expansion {
public:
  expansion(const skill_entry& entry, std::span<const std::string_view> inherited)
      : entry_(entry), inherited_(inherited) {}

  result<std::string, unset_variable> operator()(const std::string& value) const {
    if (!entry_.expands_variables) return value;
    std::string out;
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t begin = value.find("${", at);
      const std::size_t end = begin == std::string::npos ? begin : value.find('}', begin);
      out += value.substr(at, end == std::string::npos ? end : begin - at);
      if (end == std::string::npos) break;
      PADDOCK_CHECK(add(std::string_view(value).substr(begin + 2, end - begin - 2), out));
      at = end + 1;
    }
    return out;
  }

private:
  result<void, unset_variable> add(std::string_view name, std::string& out) const {
    if (name.starts_with("env:")) name.remove_prefix(4);
    const std::size_t colon = name.find(":-");
    const std::string_view variable = name.substr(0, colon);
    if (variable == "workspaceFolder") {
      out += '.';
      return {};
    }
    if (!variables::is_variable_name(variable) && !variable.starts_with("input:")) {
      out.append("${").append(name).append("}"); // somebody else's, such as a shell's
      return {};
    }
    const auto value = required_value(inherited_, variable, entry_.name);
    if (value) {
      out += *value;
    } else if (colon != std::string_view::npos) {
      out += name.substr(colon + 2);
    } else {
      return unset_variable{{error_code::invalid_argument, 0, "skill_manager"},
                            std::string(variable.substr(0, 255))};
    }
    return {};
  }

  const skill_entry& entry_;
  const std::span<const std::string_view> inherited_;
};

struct server_environment {
  std::vector<std::string> variables;
  std::vector<std::string> left_out; ///< as in entry_endpoint
};

/// Exactly what the documentation promises. The operator's own words are not second-guessed: a
/// variable that is required or given reaches the server even where commands of an agent may not
/// have it.
result<server_environment, skill_error> environment_of(const stdio_entry& entry,
                                                       std::string_view skill,
                                                       std::span<const std::string_view> inherited,
                                                       const expansion& expand) {
  PADDOCK_TRY(const auto usual,
              build_environment({.inherited = inherited, .pass = {}, .extra = {}}));
  variables::variable_list all;
  server_environment made;
  for (const std::string& assignment : usual)
    all.put(variables::variable_name(assignment), assignment);
  for (const std::string& name : entry.required_environment) {
    PADDOCK_TRY(const auto value, required_value(inherited, name, skill));
    all.put(name, name + "=" + std::string(value));
  }
  for (const auto& [name, value] : entry.environment) {
    const auto expanded = expand(value);
    if (expanded)
      all.put(name, name + "=" + *expanded);
    else
      made.left_out.push_back("env." + name + " is left out: the environment variable " +
                              expanded.error().name + ", which it stands for, is not set or empty");
  }
  made.variables = all.take();
  return made;
}

} // namespace

result<entry_endpoint, skill_error> endpoint_of(const skill_entry& entry,
                                                std::span<const std::string_view> inherited) {
  const expansion expand(entry, inherited);
  const auto expanded = [&](const std::string& value) -> result<std::string, skill_error> {
    auto text = expand(value);
    if (text) return *std::move(text);
    return fail(entry.name, error_code::invalid_argument,
                "needs a value for ${" + text.error().name +
                    "}: set that environment variable, or write the value into the configuration");
  };
  if (const auto* program = std::get_if<stdio_entry>(&entry.kind)) {
    mcp::stdio_endpoint made{.confinement = program->confinement};
    PADDOCK_TRY(auto environment, environment_of(*program, entry.name, inherited, expand));
    made.environment = std::move(environment.variables);
    PADDOCK_TRY(made.working_directory, expanded(program->working_directory));
    for (const std::string& argument : program->argv) {
      PADDOCK_TRY(std::string word, expanded(argument));
      made.argv.push_back(std::move(word));
    }
    return entry_endpoint{.to = std::move(made), .left_out = std::move(environment.left_out)};
  }
  const auto* remote = std::get_if<http_entry>(&entry.kind);
  Expects(remote != nullptr);
  mcp::http_endpoint made{.kind = remote->kind, .addresses = remote->addresses};
  PADDOCK_TRY(made.url, expanded(remote->url));
  if (entry.expands_variables && names_this_machine(made.url))
    made.addresses = mcp::address_policy::any;
  if (entry.expands_variables && !is_usable_url(made.url, made.addresses))
    return fail(entry.name, error_code::invalid_argument,
                "has a URL that is not one with its variables put in: it begins with https:// (or "
                "http://, for a server on this machine)");
  PADDOCK_TRY(made.proxy, expanded(remote->proxy));
  PADDOCK_TRY(made.client_certificate, expanded(remote->client_certificate));
  PADDOCK_TRY(made.client_key, expanded(remote->client_key));
  for (const auto& [header, value] : remote->headers) {
    PADDOCK_TRY(std::string text, expanded(value));
    made.headers.emplace_back(header, std::move(text));
  }
  for (const auto& [header, variable] : remote->headers_from_environment) {
    PADDOCK_TRY(const auto value, required_value(inherited, variable, entry.name));
    made.headers.emplace_back(header, value);
  }
  return entry_endpoint{.to = std::move(made)};
}

} // namespace paddock::skill_manager
