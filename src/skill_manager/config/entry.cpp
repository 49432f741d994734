// SPDX-License-Identifier: MIT
#include "skill_manager/config/entry.hpp"

#include <paddock/base/detail/nearest_name.hpp>
#include <paddock/exec/environment.hpp>
#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace paddock::skill_manager {
namespace {

constexpr std::size_t tool_name_bytes_max = 255;
constexpr std::int64_t timeout_ms_max = 24LL * 3600 * 1000;

template <class T> struct choice {
  std::string_view word;
  T value;
};

/// The value of a string that is one of a few words; the first when it is missing or none.
template <class T>
T choose(const checked_table& table, std::string_view key, std::span<const choice<T>> choices) {
  if (!table.has(key)) return choices.front().value;
  const std::string word = table.string(key);
  std::string words;
  for (const choice<T>& c : choices) {
    if (c.word == word) return c.value;
    words += (words.empty() ? "" : ", ") + std::string(c.word);
  }
  table.complain(key, "must be one of: " + words);
  return choices.front().value;
}

constexpr choice<mcp::protocol_choice> protocols[] = {
    {"automatic", mcp::protocol_choice::automatic},
    {"modern", mcp::protocol_choice::modern},
    {"legacy", mcp::protocol_choice::legacy}};
constexpr choice<mcp::http_kind> transports[] = {{"automatic", mcp::http_kind::automatic},
                                                 {"streamable", mcp::http_kind::streamable},
                                                 {"sse", mcp::http_kind::sse}};
constexpr choice<demand> confinements[] = {
    {"off", demand::off}, {"best-effort", demand::best_effort}, {"required", demand::required}};

std::optional<std::int64_t> timeout_of(const checked_table& table, std::string_view key) {
  const auto ms = table.integer(key);
  if (ms && (*ms == 0 || *ms > timeout_ms_max))
    table.complain(key, "must be 1 to " + std::to_string(timeout_ms_max) + " milliseconds");
  return ms;
}

/// What all skills that are connected to have in common.
skill_entry common_of(const config_member& from, const checked_table& table) {
  skill_entry made;
  made.name = from.key;
  made.line = from.line;
  made.description = table.string("description");
  made.rule = table.string("rule");
  made.tools = {.pick = table.strings("pick"), .omit = table.strings("omit")};
  made.start = table.boolean("lazyInit") ? startup::lazy : startup::eager;
  made.allowed_domains = table.strings("allowedDomains");
  if (table.has("protocol"))
    made.protocol = choose<mcp::protocol_choice>(table, "protocol", protocols);
  made.timeout_ms = timeout_of(table, "timeout");
  made.connect_timeout_ms = timeout_of(table, "connectTimeout");
  return made;
}

std::vector<std::string> absolute_paths(const checked_table& table, std::string_view key) {
  std::vector<std::string> paths = table.strings(key);
  if (!std::ranges::all_of(paths, [](const std::string& p) { return p.starts_with('/'); }))
    table.complain(key, "must hold absolute paths");
  return paths;
}

std::optional<confinement_policy> confinement_of(const checked_table& table,
                                                 problem_list& problems) {
  const demand wanted = choose<demand>(table, "confinement", confinements);
  for (const std::string_view key : {"network", "readPaths", "writePaths"})
    if (table.has(key) && wanted == demand::off)
      table.complain(key, "means nothing without confinement = \"required\" or \"best-effort\"");
  if (wanted == demand::off && !table.has("limits")) return std::nullopt;

  confinement_policy policy;
  if (wanted == demand::off) policy = confinement_policy::host();
  if (wanted == demand::best_effort) policy = confinement_policy::best_effort();
  if (table.boolean("network")) policy.network = demand::off;
  policy.read_paths = absolute_paths(table, "readPaths");
  policy.write_paths = absolute_paths(table, "writePaths");
  const checked_table bounds(table.table("limits"), section::limits, table.path() + ".limits",
                             problems);
  const auto bound = [&](std::string_view key) {
    return static_cast<std::uint64_t>(bounds.integer(key).value_or(0));
  };
  policy.bounds = {.memory_bytes = bound("memoryBytes"),
                   .processes = bound("processes"),
                   .file_size_bytes = bound("fileSizeBytes"),
                   .cpu_seconds = bound("cpuSeconds")};
  if (table.has("limits")) policy.limits = demand::required;
  return policy;
}

std::vector<std::string> required_variables(const checked_table& table) {
  std::vector<std::string> names = table.strings("requiredEnv");
  for (const std::string& name : names)
    if (!detail::environment::is_variable_name(name))
      table.complain("requiredEnv", "names " + path_of("", name) + ", which is no variable's name");
  return names;
}

stdio_entry program_of(const checked_table& table, problem_list& problems) {
  stdio_entry made;
  made.required_environment = required_variables(table);
  made.environment = table.string_table("env");
  for (const auto& [name, value] : made.environment)
    if (!detail::environment::is_variable_name(name))
      table.complain("env", "names " + path_of("", name) + ", which is no variable's name");
  made.working_directory = table.string("cwd");
  made.confinement = confinement_of(table, problems);
  return made;
}

/// The command line; npx is told not to ask.
std::vector<std::string> argv_of(const std::string& command, std::vector<std::string> arguments) {
  const bool is_npx = command == "npx" || command.ends_with("/npx");
  const bool says_yes = std::ranges::any_of(
      arguments, [](const std::string& a) { return a == "-y" || a == "--yes"; });
  if (is_npx && !says_yes) arguments.insert(arguments.begin(), "-y");
  arguments.insert(arguments.begin(), command);
  return arguments;
}

http_entry endpoint_of(const checked_table& table, std::string_view key, bool expands) {
  http_entry made;
  made.url = table.string(key);
  made.headers = table.string_table("headers");
  made.headers_from_environment = table.string_table("headersFromEnv");
  made.proxy = table.string("proxy");
  made.client_certificate = table.string("clientCertificate");
  made.client_key = table.string("clientKey");
  if ((expands && names_this_machine(made.url)) || table.boolean("allowPrivateAddresses"))
    made.addresses = mcp::address_policy::any;
  const bool any = made.addresses == mcp::address_policy::any;
  table.require(key, "the server's URL");
  // What a variable is put into is judged once it is.
  const bool is_whole = !expands || made.url.find("${") == std::string::npos;
  if (!made.url.empty() && is_whole && !is_usable_url(made.url, made.addresses))
    table.complain(key, any ? "must begin with https:// or http://"
                            : "must begin with https:// (allowPrivateAddresses = true also allows "
                              "http and this machine)");
  for (const auto& [header, variable] : made.headers_from_environment)
    if (!detail::environment::is_variable_name(variable))
      table.complain("headersFromEnv",
                     "names " + path_of("", variable) + ", which is no variable's name");
  return made;
}

// --- the Base Skill -----------------------------------------------------------------------------

/// The package that npx is told to run, "@perstack/base" or "@perstack/base@1.2.3"; or nothing.
std::string base_package(const checked_table& table) {
  auto arguments = table.strings("args");
  std::erase_if(arguments, [](const std::string& a) { return a == "-y" || a == "--yes"; });
  const std::string package = table.has("packageName") ? table.string("packageName")
                              : arguments.size() == 1  ? arguments.front()
                                                       : std::string();
  const bool is_base =
      package == base_skill_package || package.starts_with(std::string(base_skill_package) + "@");
  return is_base ? package : std::string();
}

void read_base(const checked_table& table, skill_entry& made) {
  for (const std::string_view key : {"env", "cwd", "protocol", "timeout", "connectTimeout",
                                     "limits", "confinement", "network", "readPaths", "writePaths"})
    if (table.has(key))
      table.complain(key, "means nothing for the Base Skill, which is no process of its own");
  made.start = startup::eager; // it is there at once
  made.kind = base_entry{.pass_environment = required_variables(table)};
}

// --- kinds --------------------------------------------------------------------------------------

void read_stdio(const checked_table& table, const std::vector<std::string>& base_command,
                skill_entry& made, problem_list& problems) {
  const std::string command = table.string("command");
  const std::string package = table.string("packageName");
  table.require("command", "the program to run");
  if (table.has("packageName") && table.has("args"))
    table.complain("packageName", "and args exclude each other: give one of them");
  const bool is_npx = command == "npx" || command.ends_with("/npx");
  if (is_npx && package.empty() && table.strings("args").empty())
    table.complain("packageName", "or args is required: npx needs a package");
  const std::string base = is_npx ? base_package(table) : std::string();
  const bool is_whole_base = base == base_skill_package;
  if (is_whole_base && base_command.empty()) return read_base(table, made);

  stdio_entry program = program_of(table, problems);
  program.replaces_base = !base.empty();
  if (is_whole_base)
    program.argv = base_command;
  else
    program.argv =
        argv_of(command, table.has("packageName") ? std::vector{package} : table.strings("args"));
  made.kind = std::move(program);
}

void read_interactive_tool(const config_member& from, const std::string& path,
                           interactive_entry& into, problem_list& problems) {
  if (from.value.kind != node_kind::table) return problems.add(from.line, path, "must be a table");
  const checked_table table(from.value, section::tool, path, problems);
  if (from.key.empty() || from.key.size() > tool_name_bytes_max)
    problems.add(from.line, path, "a tool's name has 1 to 255 bytes");
  if (table.has("name") && table.string("name") != from.key)
    table.complain("name", "must be " + path_of("", from.key) + " as its table is, or be left out");
  interactive_tool tool{.name = from.key,
                        .description = table.string("description"),
                        .input_schema = table.string("inputJsonSchema")};
  mcp::json_document document;
  const auto schema = document.parse(tool.input_schema);
  table.require("inputJsonSchema", "a JSON Schema of the tool's arguments, as text");
  if (schema && schema->is(mcp::json_kind::object))
    tool.input_schema = schema->text();
  else if (!tool.input_schema.empty())
    table.complain("inputJsonSchema",
                   schema ? "must be a JSON object"
                          : "must be JSON: it is " + std::string(schema.error().operation));
  if (std::ranges::find(into.tools, tool.name, &interactive_tool::name) != into.tools.end())
    return problems.add(from.line, path, "is given twice");
  into.tools.push_back(std::move(tool));
}

void read_interactive(const checked_table& table, skill_entry& made, problem_list& problems) {
  interactive_entry entry;
  const auto& from_tools = table.table("tools").members;
  for (const config_member& tool : from_tools)
    read_interactive_tool(tool, path_of(table.path() + ".tools", tool.key), entry, problems);
  if (from_tools.empty())
    table.complain("tools", "is required: an interactive skill has at least one tool");
  made.kind = std::move(entry);
}

} // namespace

std::optional<skill_entry> read_skill(const config_member& from, const std::string& path,
                                      const std::vector<std::string>& base_command,
                                      problem_list& problems) {
  const config_node* type = from.value.find("type");
  const std::string word = type != nullptr ? type->text : "";
  constexpr std::pair<std::string_view, section> types[] = {
      {"mcpStdioSkill", section::stdio},
      {"mcpSseSkill", section::http},
      {"interactiveSkill", section::interactive}};
  const auto* found = std::ranges::find(types, word, &std::pair<std::string_view, section>::first);
  if (found == std::end(types)) {
    const unsigned line = type != nullptr ? type->line : from.line;
    std::vector<std::string_view> words;
    for (const auto& each : types)
      words.push_back(each.first);
    const bool foreign = type != nullptr && type->kind == node_kind::string && !word.empty() &&
                         detail::nearest_names(word, words).empty();
    if (foreign)
      problems.warn(line, path,
                    "is of the type " + path_of("", word) +
                        ", which is not known here, and is left out; known are mcpStdioSkill, "
                        "mcpSseSkill and interactiveSkill");
    else
      problems.add(line, path + ".type", "must be mcpStdioSkill, mcpSseSkill or interactiveSkill");
    return std::nullopt;
  }
  const checked_table table(from.value, found->second, path, problems);
  skill_entry made = common_of(from, table);
  if (found->second == section::stdio) {
    read_stdio(table, base_command, made, problems);
  } else if (found->second == section::http) {
    http_entry entry = endpoint_of(table, "endpoint", false);
    entry.kind = choose<mcp::http_kind>(table, "transport", transports);
    made.kind = std::move(entry);
  } else {
    read_interactive(table, made, problems);
  }
  return made;
}

namespace {

constexpr choice<mcp::http_kind> server_kinds[] = {{"http", mcp::http_kind::automatic},
                                                   {"streamable-http", mcp::http_kind::streamable},
                                                   {"streamable_http", mcp::http_kind::streamable},
                                                   {"streamableHttp", mcp::http_kind::streamable},
                                                   {"sse", mcp::http_kind::sse}};
constexpr std::string_view url_keys[] = {"url", "httpUrl", "serverUrl"};

/// What other programs call `pick` and `omit`. "*" means all; some put the server's name before the
/// tool's.
void add_choice(const checked_table& table, std::string_view key, const std::string& server,
                std::vector<std::string>& to) {
  const std::string prefix = "mcp__" + server + "__";
  std::vector<std::string> names = table.strings(key);
  if (std::ranges::find(names, "*") != names.end()) return;
  for (std::string& name : names)
    to.push_back(name.starts_with(prefix) ? name.substr(prefix.size()) : std::move(name));
}

http_entry remote_server(const checked_table& table, std::string_view key) {
  http_entry entry = endpoint_of(table, key, true);
  entry.kind = key == "httpUrl" ? mcp::http_kind::streamable
                                : choose<mcp::http_kind>(table, "type", server_kinds);
  for (auto& header : table.string_table("http_headers"))
    entry.headers.push_back(std::move(header));
  for (auto& header : table.string_table("env_http_headers"))
    entry.headers_from_environment.push_back(std::move(header));
  if (table.has("bearer_token_env_var"))
    entry.headers.emplace_back("Authorization",
                               "Bearer ${" + table.string("bearer_token_env_var") + "}");
  for (const std::string_view other : {"args", "env", "cwd"})
    if (table.has(other)) table.warn(other, "means nothing for a server with a url");
  for (const std::string_view other :
       {"requiredEnv", "limits", "confinement", "network", "readPaths", "writePaths"})
    if (table.has(other)) table.complain(other, "means nothing for a server with a url");
  return entry;
}

stdio_entry local_server(const checked_table& table, problem_list& problems) {
  if (table.has("headers")) table.warn("headers", "means nothing for a server with a command");
  for (const std::string_view key :
       {"headersFromEnv", "allowPrivateAddresses", "proxy", "clientCertificate", "clientKey"})
    if (table.has(key)) table.complain(key, "means nothing for a server with a command");
  stdio_entry entry = program_of(table, problems);
  for (const std::string& name : table.strings("env_vars"))
    if (detail::environment::is_variable_name(name))
      entry.environment.emplace_back(name, "${" + name + "}");
  entry.argv = argv_of(table.string("command"), table.strings("args"));
  return entry;
}

/// Why an entry that other programs understand is none here; empty: it is one.
std::string why_left_out(const config_node& value) {
  if (value.kind != node_kind::table) return "is no server, and is left out";
  const config_node* command = value.find("command");
  if (command != nullptr && command->kind == node_kind::table)
    return "has a command of an older form, with a path in it, and is left out; write command, "
           "args and env beside each other";
  const bool has_url = std::ranges::any_of(
      url_keys, [&](std::string_view key) { return value.find(key) != nullptr; });
  if (command == nullptr && !has_url && value.find("source") != nullptr)
    return "is started by an extension of the program that wrote this, and is left out";
  return {};
}

} // namespace

std::optional<skill_entry> read_server(const config_member& from, const std::string& path,
                                       problem_list& problems) {
  if (auto why = why_left_out(from.value); !why.empty()) {
    problems.warn(from.line, path, std::move(why));
    return std::nullopt;
  }
  const checked_table table(from.value, section::server, path, problems);
  skill_entry made = common_of(from, table);
  made.expands_variables = true;
  for (const std::string_view key : {"enabled_tools", "includeTools", "allowedTools"})
    add_choice(table, key, made.name, made.tools.pick);
  for (const std::string_view key : {"disabled_tools", "excludeTools", "disabledTools"})
    add_choice(table, key, made.name, made.tools.omit);

  const bool local = from.value.find("command") != nullptr;
  const auto* url = std::ranges::find_if(
      url_keys, [&](std::string_view key) { return from.value.find(key) != nullptr; });
  const bool remote = url != std::end(url_keys);
  const std::string type = table.string("type");
  const bool is_program = type == "stdio" || type == "local"; // local: as Copilot names it
  const bool known = type.empty() || is_program ||
                     std::ranges::find(server_kinds, type, &choice<mcp::http_kind>::word) !=
                         std::end(server_kinds);
  if (!known) {
    table.warn_here("is of the type " + path_of("", type) +
                    ", which is not known here, and is left out; known are stdio, http, "
                    "streamable-http and sse");
    return std::nullopt;
  }
  if (remote == local) table.complain_here("needs either command or url");
  if (remote) {
    made.kind = remote_server(table, *url);
  } else {
    if (!type.empty() && !is_program)
      table.complain("type", "must be stdio for a server with a command");
    if (local) table.require("command", "the program to run");
    made.kind = local_server(table, problems);
  }
  const bool off = table.boolean("disabled") || (table.has("enabled") && !table.boolean("enabled"));
  if (off) return std::nullopt;
  return made;
}

} // namespace paddock::skill_manager
