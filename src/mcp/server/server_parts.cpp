// SPDX-License-Identifier: MIT
#include "mcp/server/server_parts.hpp"

#include "mcp/protocol/handler_json.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace paddock::mcp {
namespace {

/// Those that the server answers itself, whatever extensions say.
constexpr std::string_view own_methods[] = {"initialize",           "ping",       "server/discover",
                                            "subscriptions/listen", "tools/call", "tools/list"};

std::string problem_of(const tool& t) {
  if (t.name.empty()) return "a tool has no name";
  const std::string the_tool = "the tool " + t.name;
  if (t.handler == nullptr) return the_tool + " has no handler";
  if (const std::string problem = problem_of_table(t.parameters); !problem.empty())
    return the_tool + " has a table of parameters in which " + problem;
  for (const auto& [schema, what] : {std::pair(&t.input_schema, " has an input_schema that "),
                                     std::pair(&t.output_schema, " has an output_schema that ")})
    if (!schema->empty())
      if (const std::string problem = problem_of_json(*schema, json_kind::object); !problem.empty())
        return the_tool + what + problem;
  return {};
}

std::string problem_of(const extension_method& m) {
  if (m.name.empty()) return "a method has no name";
  if (m.handler == nullptr) return "the method " + m.name + " has no handler";
  if (std::ranges::find(own_methods, m.name) != std::end(own_methods))
    return "the method " + m.name + " is the server's own and can't be that of an extension";
  return {};
}

/// Writes the members of both; false when they say different things of the same one.
bool merge(json_writer& out, json_view a, json_view b) { // recursion is bounded by json_depth_max
  if (!a.is(json_kind::object) || !b.is(json_kind::object)) {
    out.raw(a.text());
    return a.text() == b.text();
  }
  bool agree = true;
  out.begin_object();
  a.for_each_member([&](std::string_view name, json_view value) {
    out.key(name);
    if (const json_view other = b[name]; other.exists())
      agree = merge(out, value, other) && agree;
    else
      out.raw(value.text());
  });
  b.for_each_member([&](std::string_view name, json_view value) {
    if (!a[name].exists()) out.key(name).raw(value.text());
  });
  out.end_object();
  return agree;
}

/// Adds what `e` advertises; false when it contradicts what is there.
bool add(advertisement& to, const extension& e) {
  for (const std::string& name : e.capabilities)
    if (std::ranges::find(to.capabilities, name) == to.capabilities.end())
      to.capabilities.push_back(name);
  if (e.name.empty()) return true;
  json_document given;
  if (!given.parse(e.settings)) return false;
  const auto same =
      std::ranges::find(to.extensions, e.name, &std::pair<std::string, std::string>::first);
  if (same == to.extensions.end()) {
    to.extensions.emplace_back(e.name, given.root().text());
    return true;
  }
  json_document before;
  if (!before.parse(same->second)) return false;
  json_writer out;
  const bool agree = merge(out, before.root(), given.root());
  same->second = out.take();
  return agree;
}

std::string problem_of(const extension& e, advertisement& so_far) {
  if (const std::string problem = problem_of_json(e.settings, json_kind::object); !problem.empty())
    return "the settings of the extension " + e.name + " are " + problem.substr(3);
  for (const std::string& name : e.capabilities)
    if (name.empty() || name == "extensions")
      return "the extension " + e.name + " advertises a capability without a name of its own";
  if (!add(so_far, e))
    return "two extensions are called " + e.name + ", and their settings contradict each other";
  return {};
}

} // namespace

std::string problem_of_parts(const std::vector<tool>& tools,
                             const std::vector<extension>& extensions) {
  std::set<std::string_view> names;
  for (const tool& t : tools) {
    if (std::string problem = problem_of(t); !problem.empty()) return problem;
    if (!names.insert(t.name).second) return "two tools are called " + t.name;
  }
  names.clear();
  advertisement together;
  for (const extension& e : extensions) {
    if (std::string problem = problem_of(e, together); !problem.empty()) return problem;
    for (const extension_method& m : e.methods) {
      if (std::string problem = problem_of(m); !problem.empty()) return problem;
      if (!names.insert(m.name).second) return "two methods are called " + m.name;
    }
  }
  return {};
}

advertisement advertised_by(const server_options& options,
                            const std::vector<extension>& extensions) {
  advertisement out{.capabilities = {"tools"}, .extensions = {}};
  if (options.logging == client_logging::offered) out.capabilities.emplace_back("logging");
  for (const extension& e : extensions)
    (void)add(out, e);
  return out;
}

} // namespace paddock::mcp
