// SPDX-License-Identifier: MIT
#pragma once

// The command-line options that choose a workspace and its tools, shared by every program that
// serves them, and the conventions of the programs: one line per error on standard error, the exit
// codes below.

#include "home_tools.hpp"
#include "option_parser.hpp"
#include "protection_cli.hpp"

#include <paddock/file/allowed_file.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/root.hpp>
#include <paddock/skill/prompt.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

enum exit_code : int {
  success = 0,
  failed = 1,            ///< a tool reported an error, or the work could not be done
  usage = 2,             ///< the command line or the workspace is not usable
  no_match = 1,          ///< a search that found nothing
  ended_by_signal = 128, ///< plus the number of the signal
};

inline constexpr const char* exit_codes_help =
    "Exit codes: 0 success, 1 failure, 2 unusable options or workspace.";

enum class exec_choice : std::uint8_t { confined, best_effort, host, off };

/// How commands are to be confined, as options say it.
struct confinement_cli {
  exec_choice mode = exec_choice::confined;
  std::optional<network_reach> reach;
  host_list hosts; ///< with network_reach::hosts
  std::string egress_proxy;
  bool require_all = false;
  std::vector<std::string> read_paths;
  std::vector<std::string> write_paths;
  resource_limits bounds;
  bool home_tools = false;                 ///< of the user's home directory, to be read
  bool package_caches = false;             ///< of the same, as the command's own
  bool git_worktree = false;               ///< the repository of the workspace, which lies outside
  std::optional<scratch_life> scratch;     ///< call or session; none: call
  const char* read_option = "--exec-read"; ///< how these are given
  const char* write_option = "--exec-write";
  const char* host_option = "--exec host";
  protection_cli protection;
};

/// Whether and how skills are served beside the tools.
struct skills_options_cli {
  bool wanted = false;
  std::string root; ///< empty: the workspace
  allowed_file_options read;
};

/// What of the home directory commands are to see, as it was when somebody first asked.
class home_finds {
public:
  [[nodiscard]] const std::vector<home_tool>& tools() const;
  [[nodiscard]] const std::vector<home_tool>& caches() const;

private:
  mutable std::optional<std::vector<home_tool>> tools_;
  mutable std::optional<std::vector<home_tool>> caches_;
};

struct workspace_cli {
  std::string workspace = ".";
  root_options root;
  skills_options_cli skills;
  /// All tool options except `exec`, `confinement` (set from the next) and limits not given here.
  mcp::workspace_options tools;
  std::vector<std::string> limits_given; ///< "NAME=N", of limit_table
  confinement_cli confinement;
  std::string history; ///< the directory of histories, or "off"; empty: the usual one
  home_finds home;
  std::function<void(const network_event&)> on_network; ///< see confinement_policy
  std::vector<std::string> own_files; ///< of this program, beside itself: not to be changed

  /// As the options give them; the others are those of the set of tools.
  [[nodiscard]] limits chosen_limits() const;
  /// Whether an option gives this limit.
  [[nodiscard]] bool is_given(std::uint64_t limits::*limit) const;
  /// What of this program lies in the workspace or in a path that commands may change.
  [[nodiscard]] std::vector<std::string> read_only_paths() const;
  /// `root`, with what is protected.
  [[nodiscard]] root_options protected_root() const;
  /// The policy of commands, with the same; complains and returns nothing when a path names
  /// nothing, the root directory, something that a command may have put there, or the programs of
  /// this process.
  [[nodiscard]] std::optional<confinement_policy> policy(std::string_view program) const;
  [[nodiscard]] network_reach reach() const;
  /// What commands have in their environment because of the options: "NAME=value".
  [[nodiscard]] std::vector<std::string> set_environment() const;
};

/// The first contradiction among the options, as a sentence that says what to leave out; empty:
/// they fit together. No option is ignored in silence.
[[nodiscard]] std::string contradiction(const workspace_cli& given);
/// The option because of which no command runs; empty: they run.
[[nodiscard]] std::string_view forbids_commands(const workspace_cli& given);

/// Adds --network and --egress-proxy.
void add_network_options(CLI::App& app, confinement_cli& target);
/// Adds --max-memory, --max-pids and --max-file-size.
void add_bound_options(CLI::App& app, confinement_cli& target);
/// Adds --home-tools and --package-cache.
void add_home_options(CLI::App& app, confinement_cli& target);

/// Adds the options to `app`; they fill `target`, which must live as long.
void add_workspace_options(CLI::App& app, workspace_cli& target);

/// The group of options that only --help-all shows.
inline constexpr const char* seldom_used = "More options";
/// Moves the server's options there, but for the workspace and the set of tools: of a command whose
/// own options come first.
void group_server_options(CLI::App& app);

/// What is to be said when the tools may change the server's own programs; empty: they may not.
[[nodiscard]] std::string program_in_workspace(const workspace_cli& from);
/// What is to be said when commands cannot use the git repository of the workspace, because it is
/// a worktree of one outside; empty: they can, or there is none.
[[nodiscard]] std::string repository_out_of_reach(const workspace_cli& from);
/// Says of these programs, as a warning; for programs that go on.
void warn_of_program_in_workspace(std::string_view program, const workspace_cli& from);

/// Says what commands see because of --home-tools and --package-cache, and what was left out.
void tell_of_home(std::string_view program, const workspace_cli& from);

/// Why that directory is no workspace, and what to do.
std::string unusable_workspace(const std::string& path, error_code why);

void add_limit_option(CLI::App& app, workspace_cli& target);
/// The limits with their texts and defaults, for --help-all.
[[nodiscard]] std::string limits_help();
/// "program: message" on standard error.
void complain(std::string_view program, std::string_view message);
/// --version: the name of `app` and the version.
void add_version_option(CLI::App& app);

/// Parses the command line. A value: the program is to exit with it at once (after --help,
/// --version or a mistake).
[[nodiscard]] std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// The workspace that the options name; complains and returns nullptr when it cannot be used, or
/// the options contradict each other.
[[nodiscard]] std::shared_ptr<const root> open_workspace(std::string_view program,
                                                         const workspace_cli& from);
/// The server that the options describe, of that workspace; complains and returns nothing when they
/// cannot be used.
[[nodiscard]] std::optional<mcp::server> make_server(std::string_view program,
                                                     const workspace_cli& from,
                                                     std::shared_ptr<const root> workspace,
                                                     mcp::server_options options);

/// The tool of that name; complains and returns nullptr when the server has none.
[[nodiscard]] const mcp::tool* find_tool(std::string_view program, const mcp::server& server,
                                         std::string_view name);
/// One line per tool on standard output: its name and what it is for.
void list_tools(const mcp::server& server);

} // namespace paddock::cli
