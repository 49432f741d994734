// SPDX-License-Identifier: MIT
#pragma once

/// Which experts there are, which skills each of them has, and how those are started. Read from
/// TOML (`[experts."x".skills."y"]`) or from what many programs keep their servers in:
/// `mcpServers`, `servers`, `context_servers` (JSON, with comments if there are) or `mcp_servers`
/// (TOML), which becomes the one expert "default".
///
/// Reading is strict. A misspelt key, a wrong type, a name that leads nowhere or a value out of its
/// range is a problem with file, line and key, and all problems are told at once. What other
/// programs put into their files is none: keys that are like no known one are ignored, skills and
/// servers of a type that is not known here are left out, and both are told as warnings. So is a
/// server in such a list that has a problem, as long as another is left. Nothing is started and no
/// address is looked up by reading.
///
/// An entry whose package is `@perstack/base`, without a version, configures the Base Skill, which
/// runs in this process; an expert without such an entry has the whole of it.
///
/// Not guaranteed: that what the file names exists. A configuration names programs to run: read
/// only files that you would also run.
///
/// Thread-safety: pure functions and plain values.

#include <paddock/base/result.hpp>
#include <paddock/mcp/client.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::skill_manager {

inline constexpr std::string_view base_skill_package = "@perstack/base";
inline constexpr std::string_view default_expert = "default"; ///< of `mcpServers`
inline constexpr std::string_view config_file_name = "perstack.toml";
inline constexpr std::size_t config_bytes_max = std::size_t{4} * 1024 * 1024;

/// Only these tools, and not those. Both empty: all.
struct tool_choice {
  std::vector<std::string> pick;
  std::vector<std::string> omit;
};

enum class startup : std::uint8_t {
  eager, ///< by init
  lazy,  ///< when its tools are asked for or called
};

/// The Base Skill, in this process.
struct base_entry {
  std::vector<std::string> pass_environment; ///< variables that its commands inherit, required
};

struct stdio_entry {
  std::vector<std::string> argv; ///< complete, with -y for npx
  /// Names of variables that must be set; with `environment` and the usual minimum
  /// (inherited_by_default in environment.hpp) all that reaches the server.
  std::vector<std::string> required_environment;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string working_directory; ///< empty: this process's
  std::optional<confinement_policy> confinement;
  bool replaces_base = false; ///< another Base Skill: a version of the package, or a program
};

struct http_entry {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  /// Header and the variable that holds its value, so no secret is in the file.
  std::vector<std::pair<std::string, std::string>> headers_from_environment;
  mcp::http_kind kind = mcp::http_kind::automatic;
  mcp::address_policy addresses = mcp::address_policy::public_only;
  std::string proxy; ///< this and the next two as in mcp::http_endpoint
  std::string client_certificate;
  std::string client_key;
};

struct interactive_tool {
  std::string name{};
  std::string description{};
  std::string input_schema{}; ///< JSON text, an object
};
struct interactive_entry {
  std::vector<interactive_tool> tools;
};

struct skill_entry {
  std::string name;
  std::string description;
  std::string rule; ///< for the model: how to use the skill
  unsigned line = 0;
  tool_choice tools;
  startup start = startup::eager;
  mcp::protocol_choice protocol = mcp::protocol_choice::automatic;
  std::optional<std::int64_t> timeout_ms; ///< of one call, without progress
  std::optional<std::int64_t> connect_timeout_ms;
  std::vector<std::string> allowed_domains; ///< for whoever confines the network
  /// "${NAME}" and "${NAME:-other}" in command line, environment, URL and headers stand for
  /// variables of this process's environment. Of servers as other programs list them.
  bool expands_variables = false;
  std::variant<base_entry, stdio_entry, http_entry, interactive_entry> kind;
};

/// Whether the entry is an expert's Base Skill, in this process or instead of it.
[[nodiscard]] bool is_base(const skill_entry& entry) noexcept;

/// What the file says and this library does not use: for the application. Its type was checked.
struct setting {
  std::string key;
  std::string json;
};

struct expert {
  std::string name;
  std::string version;
  std::string description;
  std::string instruction;
  unsigned line = 0;
  std::vector<skill_entry> skills;
  std::vector<std::string> delegates; ///< names of experts of the same file
  std::vector<setting> settings;
};

/// Whether the expert has a Base Skill of its own, so that none is added: one of the above, or
/// paddock-mcp in a list of servers that other programs read too.
[[nodiscard]] bool has_base(const expert& of) noexcept;

struct config_problem {
  std::string file;
  unsigned line = 0; ///< 0: of the file as a whole
  std::string key;   ///< "experts.x.skills.y.command"; may be empty
  std::string message;

  /// "FILE:LINE: KEY: MESSAGE".
  [[nodiscard]] std::string text() const;
};

struct config {
  std::string file; ///< as it was given
  std::vector<expert> experts;
  std::vector<setting> settings;
  std::vector<config_problem> warnings; ///< what has no effect

  /// The expert with that name; null when there is none.
  [[nodiscard]] const expert* find(std::string_view name) const noexcept;
};

enum class config_format : std::uint8_t { toml, json };

/// `file` is only for messages. Errors: invalid_argument (see `problems`), unsupported (TOML in a
/// build without it; `problems` says so).
[[nodiscard]] result<config> parse_config(std::string_view text, config_format format,
                                          std::string_view file,
                                          std::vector<config_problem>* problems = nullptr);
/// Reads a file; a name that ends in ".json" is JSON, every other TOML. Errors: those of
/// parse_config, and those of reading a file.
[[nodiscard]] result<config> read_config(const std::string& path,
                                         std::vector<config_problem>* problems = nullptr);
/// The path of `perstack.toml` in `directory` (absolute; empty: this process's) or the nearest one
/// above it. Errors: not_found.
[[nodiscard]] result<std::string> find_config(std::string directory = {});

} // namespace paddock::skill_manager
