// SPDX-License-Identifier: MIT
#pragma once

// The one table of the keys of a configuration: which section has which, and of what type.

#include "skill_manager/config/tree.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::skill_manager {

enum class value_type : std::uint8_t {
  string,
  strings, ///< an array of strings
  integer, ///< not negative
  boolean,
  table,
  string_table, ///< a table of strings
  any,          ///< for the application
};

enum class section : std::uint8_t {
  file,
  file_setting, ///< also of the file, and not used here
  expert,
  expert_setting,
  stdio,       ///< type = "mcpStdioSkill"
  http,        ///< type = "mcpSseSkill"
  interactive, ///< type = "interactiveSkill"
  tool,        ///< of an interactive skill
  limits,
  server, ///< of mcpServers
};

// X(section, key, type, what it is)
// clang-format off
#define PADDOCK_CONFIG_KEYS(X)                                                                                                                        \
  X(file, experts, table, "the experts, by name")                                                                                                     \
  X(file, mcpServers, table, "servers as many programs list them; they become the skills of the expert `default`")                                    \
  X(file, servers, table, "the same, as VS Code names it")                                                                                            \
  X(file, context_servers, table, "the same, as Zed names it")                                                                                        \
  X(file, mcp_servers, table, "the same, as Codex names it")                                                                                          \
  X(file, perstackBaseSkillCommand, strings, "a program to use as the Base Skill instead of the one in this process")                                 \
  X(file_setting, model, string, "for the application")                                                                                               \
  X(file_setting, provider, table, "for the application")                                                                                             \
  X(file_setting, reasoningBudget, any, "for the application")                                                                                        \
  X(file_setting, runtime, string, "for the application")                                                                                             \
  X(file_setting, maxSteps, integer, "for the application")                                                                                           \
  X(file_setting, maxRetries, integer, "for the application")                                                                                         \
  X(file_setting, timeout, integer, "for the application")                                                                                            \
  X(file_setting, perstackApiBaseUrl, string, "for the application")                                                                                  \
  X(file_setting, envPath, strings, "for the application")                                                                                            \
  X(expert, version, string, "for people")                                                                                                            \
  X(expert_setting, minRuntimeVersion, string, "for the application")                                                                                 \
  X(expert, description, string, "for the expert that delegates to this one")                                                                         \
  X(expert, instruction, string, "for the model")                                                                                                     \
  X(expert, skills, table, "the skills, by name")                                                                                                     \
  X(expert, delegates, strings, "experts of the same file that this one may call")                                                                    \
  X(expert_setting, model, string, "for the application")                                                                                             \
  X(expert_setting, tags, strings, "for the application")                                                                                             \
  X(expert_setting, providerTools, any, "for the application")                                                                                        \
  X(expert_setting, providerSkills, any, "for the application")                                                                                       \
  X(expert_setting, providerToolOptions, any, "for the application")                                                                                  \
  X(stdio, type, string, "`mcpStdioSkill`, `mcpSseSkill` or `interactiveSkill`")                                                                      \
  X(stdio, description, string, "for people")                                                                                                         \
  X(stdio, rule, string, "for the model: how to use the skill")                                                                                       \
  X(stdio, pick, strings, "only these tools")                                                                                                         \
  X(stdio, omit, strings, "not these tools")                                                                                                          \
  X(stdio, command, string, "the program; never a shell line")                                                                                        \
  X(stdio, packageName, string, "its only argument: a package for `npx`; `@perstack/base` is the Base Skill in this process")                         \
  X(stdio, args, strings, "its arguments, instead of `packageName`; `npx` gets `-y`")                                                                 \
  X(stdio, requiredEnv, strings, "variables that must be set; with `env` and the usual minimum all that the server gets")                             \
  X(stdio, env, string_table, "variables with their values")                                                                                          \
  X(stdio, cwd, string, "the server's working directory")                                                                                             \
  X(stdio, allowedDomains, strings, "for whoever confines the network")                                                                               \
  X(stdio, lazyInit, boolean, "start the server when its tools are asked for")                                                                        \
  X(stdio, protocol, string, "`automatic`, `modern` (2026-07-28) or `legacy`")                                                                        \
  X(stdio, timeout, integer, "of a call, in milliseconds without progress")                                                                           \
  X(stdio, connectTimeout, integer, "until the tools are known, in milliseconds")                                                                     \
  X(stdio, limits, table, "bounds of the server's processes")                                                                                         \
  X(stdio, confinement, string, "`off`, `best-effort` or `required`: as `exec` confines commands, to `cwd`")                                          \
  X(stdio, network, boolean, "let a confined server use the network")                                                                                 \
  X(stdio, readPaths, strings, "absolute paths that a confined server may read as well")                                                              \
  X(stdio, writePaths, strings, "absolute paths that a confined server may change as well")                                                           \
  X(http, type, string, "`mcpStdioSkill`, `mcpSseSkill` or `interactiveSkill`")                                                                       \
  X(http, description, string, "for people")                                                                                                          \
  X(http, rule, string, "for the model: how to use the skill")                                                                                        \
  X(http, pick, strings, "only these tools")                                                                                                          \
  X(http, omit, strings, "not these tools")                                                                                                           \
  X(http, endpoint, string, "an https URL")                                                                                                           \
  X(http, headers, string_table, "sent with every request")                                                                                           \
  X(http, headersFromEnv, string_table, "the same, but the values are names of variables that must be set")                                           \
  X(http, transport, string, "`automatic`, `streamable` or `sse`")                                                                                    \
  X(http, allowPrivateAddresses, boolean, "also plain http, this machine and private networks")                                                       \
  X(http, proxy, string, "`http://host:port`, which then looks up names; those of the environment are not used")                                      \
  X(http, clientCertificate, string, "a PEM file that shows the server who asks")                                                                     \
  X(http, clientKey, string, "its key, if that is in a file of its own")                                                                              \
  X(http, allowedDomains, strings, "for whoever confines the network")                                                                                \
  X(http, lazyInit, boolean, "connect when its tools are asked for")                                                                                  \
  X(http, protocol, string, "`automatic`, `modern` (2026-07-28) or `legacy`")                                                                         \
  X(http, timeout, integer, "of a call, in milliseconds without progress")                                                                            \
  X(http, connectTimeout, integer, "until the tools are known, in milliseconds")                                                                      \
  X(interactive, type, string, "`mcpStdioSkill`, `mcpSseSkill` or `interactiveSkill`")                                                                \
  X(interactive, description, string, "for people")                                                                                                   \
  X(interactive, rule, string, "for the model: how to use the skill")                                                                                 \
  X(interactive, tools, table, "the tools, by name")                                                                                                  \
  X(tool, name, string, "the same name again")                                                                                                        \
  X(tool, description, string, "for the model")                                                                                                       \
  X(tool, inputJsonSchema, string, "JSON text, an object")                                                                                            \
  X(limits, memoryBytes, integer, "private memory of each process")                                                                                   \
  X(limits, processes, integer, "processes of the user")                                                                                              \
  X(limits, fileSizeBytes, integer, "size of a file it writes")                                                                                       \
  X(limits, cpuSeconds, integer, "processor time of each process")                                                                                    \
  X(server, type, string, "`stdio`, `http`, `streamable-http` or `sse`")                                                                              \
  X(server, command, string, "the program; never a shell line")                                                                                       \
  X(server, args, strings, "its arguments")                                                                                                           \
  X(server, env, string_table, "variables with their values")                                                                                         \
  X(server, cwd, string, "the server's working directory")                                                                                            \
  X(server, url, string, "an https URL, instead of `command`")                                                                                        \
  X(server, headers, string_table, "sent with every request")                                                                                         \
  X(server, httpUrl, string, "the same for Streamable HTTP, as Gemini names it")                                                                      \
  X(server, serverUrl, string, "the same, as Windsurf names it")                                                                                      \
  X(server, http_headers, string_table, "the headers, as Codex names them")                                                                           \
  X(server, env_http_headers, string_table, "headersFromEnv, as Codex names it")                                                                      \
  X(server, bearer_token_env_var, string, "the variable with a bearer token, as Codex names it")                                                      \
  X(server, source, string, "`custom`, as Zed writes it")                                                                                             \
  X(server, env_vars, strings, "variables to pass if they are set, as Codex names them")                                                              \
  X(server, enabled, boolean, "false: leave this server out")                                                                                         \
  X(server, enabled_tools, strings, "pick, as Codex names it")                                                                                        \
  X(server, disabled_tools, strings, "omit, as Codex names it")                                                                                       \
  X(server, includeTools, strings, "pick, as Gemini names it")                                                                                        \
  X(server, excludeTools, strings, "omit, as Gemini names it")                                                                                        \
  X(server, allowedTools, strings, "pick, as others name it")                                                                                         \
  X(server, disabledTools, strings, "omit, as others name it")                                                                                        \
  X(server, disabled, boolean, "leave this server out")                                                                                               \
  X(server, description, string, "for people")                                                                                                        \
  X(server, pick, strings, "as in a skill; so are the next")                                                                                          \
  X(server, omit, strings, "")                                                                                                                        \
  X(server, requiredEnv, strings, "")                                                                                                                 \
  X(server, headersFromEnv, string_table, "")                                                                                                         \
  X(server, allowPrivateAddresses, boolean, "")                                                                                                       \
  X(server, proxy, string, "")                                                                                                                        \
  X(server, clientCertificate, string, "")                                                                                                            \
  X(server, clientKey, string, "")                                                                                                                    \
  X(server, lazyInit, boolean, "")                                                                                                                    \
  X(server, protocol, string, "")                                                                                                                     \
  X(server, timeout, integer, "")                                                                                                                     \
  X(server, connectTimeout, integer, "")                                                                                                              \
  X(server, limits, table, "")                                                                                                                        \
  X(server, confinement, string, "")                                                                                                                  \
  X(server, network, boolean, "")                                                                                                                     \
  X(server, readPaths, strings, "")                                                                                                                   \
  X(server, writePaths, strings, "")
// clang-format on

/// Problems, with the place they are at. Names the file in each.
class problem_list {
public:
  problem_list(std::string_view file, std::vector<config_problem>& into,
               std::vector<config_problem>& warnings)
      : file_(file), into_(into), warnings_(warnings) {}
  void add(unsigned line, std::string key, std::string message) {
    add_to(into_, line, std::move(key), std::move(message));
  }
  /// What has no effect.
  void warn(unsigned line, std::string key, std::string message) {
    add_to(warnings_, line, std::move(key), std::move(message));
  }
  [[nodiscard]] bool empty() const noexcept { return into_.empty(); }

private:
  void add_to(std::vector<config_problem>& to, unsigned line, std::string key,
              std::string message) const;

  std::string_view file_;
  std::vector<config_problem>& into_;
  std::vector<config_problem>& warnings_;
};

/// "outer.key", the key in quotes where TOML would need them.
[[nodiscard]] std::string path_of(const std::string& outer, std::string_view key);

/// A table of the configuration whose keys and types were checked. What does not fit was reported
/// and reads as missing.
class checked_table {
public:
  checked_table(const config_node& node, section kind, std::string path, problem_list& problems);

  [[nodiscard]] bool has(std::string_view key) const noexcept { return find(key) != nullptr; }
  [[nodiscard]] std::string string(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> strings(std::string_view key) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>>
  string_table(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key) const;
  [[nodiscard]] bool boolean(std::string_view key) const;
  /// Missing: an empty table.
  [[nodiscard]] const config_node& table(std::string_view key) const;
  /// The keys of the table that are for the application.
  [[nodiscard]] std::vector<setting> settings() const;

  [[nodiscard]] unsigned line() const noexcept { return node_.line; }
  [[nodiscard]] unsigned line_of(std::string_view key) const noexcept;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Complains about a string that is missing or empty, unless it was already reported.
  void require(std::string_view key, std::string_view what_to_give) const;
  void complain(std::string_view key, std::string message) const;
  void warn(std::string_view key, std::string message) const;
  void warn_here(std::string message) const;
  /// About the table itself.
  void complain_here(std::string message) const;

private:
  [[nodiscard]] const config_member* find(std::string_view key) const noexcept;
  void take_unknown(const std::vector<const config_member*>& unknown) const;

  const config_node& node_;
  section kind_;
  std::string path_;
  problem_list& problems_;
  std::vector<const config_member*> good_;
};

} // namespace paddock::skill_manager
