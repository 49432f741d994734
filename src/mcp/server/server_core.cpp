// SPDX-License-Identifier: MIT
#include "mcp/server/server_core.hpp"

#include "mcp/protocol/guarded.hpp"
#include "mcp/protocol/handler_json.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/nearest_name.hpp>

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

namespace {

constexpr std::array<std::string_view, 8> log_level_names = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

constexpr std::size_t state_key_bytes = 32;

/// How long clients may keep what never changes while the process lives.
constexpr std::int64_t time_to_live_ms = 3'600'000;

std::string implementation(const server_options& o) {
  json_writer out;
  out.begin_object().member("name", o.name);
  if (!o.title.empty()) out.member("title", o.title);
  out.member("version", o.version).end_object();
  return out.take();
}

std::string meta_with_server_info(std::string_view server_info) {
  json_writer out;
  out.begin_object().key(meta_server_info).raw(server_info).end_object();
  return out.take();
}

void write_annotations(json_writer& out, const annotations& a) {
  out.begin_object();
  out.key("readOnlyHint").boolean(a.read_only);
  out.key("destructiveHint").boolean(a.destructive);
  out.key("idempotentHint").boolean(a.idempotent);
  out.key("openWorldHint").boolean(a.open_world);
  out.end_object();
}

/// Only those that differ from what the protocol takes for granted. Of a tool that reads only, two
/// have no meaning.
void write_needed_annotations(json_writer& out, const annotations& a) {
  if (!a.read_only && a.destructive && !a.idempotent && a.open_world) return;
  out.key("annotations").begin_object();
  if (a.read_only) out.key("readOnlyHint").boolean(true);
  if (!a.read_only && !a.destructive) out.key("destructiveHint").boolean(false);
  if (!a.read_only && a.idempotent) out.key("idempotentHint").boolean(true);
  if (!a.open_world) out.key("openWorldHint").boolean(false);
  out.end_object();
}

/// "Search text" is how everybody reads searchText.
bool spells(std::string_view title, std::string_view name) {
  const auto is_next = [&](char c) {
    if (c == ' ') return true;
    if (name.empty() || (name.front() | 0x20) != (c | 0x20)) return false;
    name.remove_prefix(1);
    return true;
  };
  return std::ranges::all_of(title, is_next) && name.empty();
}

void write_schema(json_writer& out, std::string schema) {
  put_on_one_line(schema);
  out.raw(schema);
}

/// A tool as clients of revision `r` know it: annotations came in 2025-03-26, titles and output
/// schemas in 2025-06-18, and 2025-11-25 alone says which can be tasks.
void write_tool(json_writer& out, const tool& t, revision r) {
  out.begin_object().member("name", t.name);
  const bool is_brief = t.listing == tool_listing::brief;
  if (r >= revision::r2025_06_18 && !t.title.empty() && !(is_brief && spells(t.title, t.name)))
    out.member("title", t.title);
  out.member("description", t.description);
  write_schema(out.key("inputSchema"), input_schema_of(t));
  if (r >= revision::r2025_06_18 && !t.output_schema.empty())
    write_schema(out.key("outputSchema"), t.output_schema);
  if (r >= revision::r2025_03_26) {
    if (is_brief)
      write_needed_annotations(out, t.annotations);
    else
      write_annotations(out.key("annotations"), t.annotations);
  }
  if (r == revision::r2025_11_25 && t.tasks == task_support::optional)
    out.key("execution").begin_object().member("taskSupport", "optional").end_object();
  out.end_object();
}

std::string tool_array(const std::vector<tool>& tools, revision r) {
  json_writer out;
  out.begin_array();
  for (const tool& t : tools)
    write_tool(out, t, r);
  out.end_array();
  return out.take();
}

void write_cache_hints(json_writer& out, std::int64_t ms, std::string_view scope) {
  out.key("ttlMs").integer(ms).member("cacheScope", scope);
}

std::string listing(std::string_view tools, revision r, std::string_view modern_meta) {
  json_writer out;
  const bool modern = r == revision::r2026_07_28;
  out.begin_object();
  if (modern) out.member("resultType", "complete");
  out.key("tools").raw(tools);
  if (modern) {
    write_cache_hints(out, time_to_live_ms, "public");
    out.key("_meta").raw(modern_meta);
  }
  out.end_object();
  return out.take();
}

/// Capabilities by extension came in 2025-11-25; tasks were a capability there and became an
/// extension.
std::string capabilities(const server::core& core, revision r) {
  json_writer out;
  out.begin_object();
  for (const std::string& name : core.advertised.capabilities)
    out.key(name).raw("{}");
  if (core.has_tasks && r == revision::r2025_11_25)
    out.key("tasks").raw(R"({"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})");
  const bool extended_by_tasks = core.has_tasks && r == revision::r2026_07_28;
  if ((extended_by_tasks || !core.advertised.extensions.empty()) && r >= revision::r2025_11_25) {
    out.key("extensions").begin_object();
    if (extended_by_tasks) out.key(extension_tasks).raw("{}");
    for (const auto& [name, settings] : core.advertised.extensions)
      out.key(name).raw(settings);
    out.end_object();
  }
  out.end_object();
  return out.take();
}

void write_instructions(json_writer& out, const server_options& o) {
  std::string text = o.instructions;
  if (o.current_instructions)
    guarded([&] {
      if (const std::string more = o.current_instructions(); !more.empty())
        text.append(text.empty() ? "" : "\n\n").append(more);
    });
  if (!text.empty()) out.member("instructions", text);
}

/// Nothing where the schema says it wrongly: then clients leave the tool out, or its headers.
std::vector<parameter_header> headers_in(const tool& t) {
  const bool annotated =
      t.input_schema.find(header_annotation) != std::string::npos ||
      std::ranges::any_of(t.parameters, [](const parameter& p) { return !p.header.empty(); });
  if (!annotated) return {};
  json_document document;
  const auto parsed = document.parse(input_schema_of(t));
  if (!parsed) return {};
  parameter_headers found = parameter_headers_of(*parsed);
  if (!found.problem.empty()) return {};
  return std::move(found.headers);
}

} // namespace

std::string_view name_of(log_level level) noexcept {
  return log_level_names[static_cast<std::size_t>(level)];
}

std::optional<log_level> log_level_of(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(log_level_names, name);
  if (found == log_level_names.end()) return std::nullopt;
  return static_cast<log_level>(found - log_level_names.begin());
}

server::core::core(server_options o, std::vector<tool> t, std::vector<extension> e)
    : options(std::move(o)), tools(std::move(t)), extensions(std::move(e)),
      advertised(advertised_by(options, extensions)), server_info(implementation(options)),
      modern_meta(meta_with_server_info(server_info)) {
  for (const tool& each : tools) {
    has_tasks = has_tasks || each.tasks == task_support::optional;
    by_name.emplace(each.name, &each);
    if (auto found = headers_in(each); !found.empty()) headers.emplace(each.name, std::move(found));
  }
  for (const extension& each : extensions)
    for (const extension_method& method : each.methods)
      methods.emplace(method.name, &method);
  if (options.state_key.empty()) {
    options.state_key.resize(state_key_bytes);
    if (!sys::getrandom(options.state_key)) options.state_key.clear(); // then no state is taken
  }
}

const std::string& server::core::tools_array() const {
  std::call_once(tools_array_.flag,
                 [&] { tools_array_.text = tool_array(tools, revision::r2026_07_28); });
  return tools_array_.text;
}

const std::string& server::core::list_result(revision r) const {
  made_once& made = list_results_[static_cast<std::size_t>(r)]; // NOLINT: the index is in range
  std::call_once(made.flag, [&] { made.text = listing(tool_array(tools, r), r, modern_meta); });
  return made.text;
}

const tool* server::core::find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

const std::vector<parameter_header>& server::core::headers_of(std::string_view name) const {
  static const std::vector<parameter_header> none;
  const auto found = headers.find(name);
  return found == headers.end() ? none : found->second;
}

std::string server::core::unknown_tool_hint(std::string_view name) const {
  const std::string hint =
      options.unknown_tool_hint ? options.unknown_tool_hint(name) : std::string();
  if (!hint.empty()) return hint;
  std::vector<std::string_view> names;
  for (const tool& each : tools)
    names.emplace_back(each.name);
  return detail::did_you_mean(name, names);
}

const extension_method* server::core::find_method(std::string_view name, revision r) const {
  const auto found = methods.find(name);
  if (found == methods.end()) return nullptr;
  const method_era other = r == revision::r2026_07_28 ? method_era::legacy : method_era::modern;
  return found->second->era == other ? nullptr : found->second;
}

std::string server::core::initialize_result(revision r) const {
  json_writer out;
  out.begin_object().member("protocolVersion", name_of(r));
  out.key("capabilities").raw(capabilities(*this, r));
  out.key("serverInfo").raw(server_info);
  write_instructions(out, options);
  out.end_object();
  return out.take();
}

std::string server::core::discover_result() const {
  json_writer out;
  out.begin_object().member("resultType", "complete");
  out.key("supportedVersions").begin_array().string(revision_modern).end_array();
  out.key("capabilities").raw(capabilities(*this, revision::r2026_07_28));
  write_instructions(out, options);
  if (options.current_instructions)
    write_cache_hints(out, 0, "private");
  else
    write_cache_hints(out, time_to_live_ms, "public");
  out.key("_meta").raw(modern_meta).end_object();
  return out.take();
}

} // namespace paddock::mcp
