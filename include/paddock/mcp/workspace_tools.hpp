// SPDX-License-Identifier: MIT
#pragma once

/// The workspace tools, bound to a root: files, directories, commands, a todo list, completion and
/// health, and for work on code searching. They can be served as they are, or mixed with tools of
/// your own in one server.
///
/// One table (src/mcp/tools/tool_table.cpp) holds names, texts, parameters and hints; selection
/// removes tools from what clients see and from what they can call, because a server only knows the
/// tools it is given.
///
/// The todo list belongs to the returned tools: all connections that are served by them share it.
/// Thread-safety: the handlers may be called from any number of threads at once.

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/command.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mcp/tool.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {
class store;
}

namespace paddock::mcp {

enum class workspace_access : std::uint8_t { read_write, read_only };
enum class exec_mode : std::uint8_t { on, off };
/// Each has all of the one before it.
enum class toolset : std::uint8_t {
  base,   ///< the seventeen
  coding, ///< and what an agent that works on code needs beyond them
};

/// What results of changing text repeat.
enum class result_detail : std::uint8_t {
  of_toolset, ///< full in base, brief in coding
  full,       ///< the text that was given
  brief,      ///< where it is now, and a hash of the file
};
/// What readImageFile answers.
enum class image_results : std::uint8_t {
  of_toolset, ///< reference in base, picture in coding
  reference,  ///< what the file is, for a runtime that loads it
  picture,    ///< and the picture itself, where it has at most 5 MiB
};

/// What a set is made for: coding has larger texts, lines long enough for a picture, and shorter
/// output of commands and pages of files.
[[nodiscard]] limits limits_of(toolset tools) noexcept;

struct workspace_options {
  toolset tools = toolset::base;
  std::optional<paddock::limits> limits{}; ///< empty: limits_of(tools)
  result_detail results = result_detail::of_toolset;
  image_results images = image_results::of_toolset;
  workspace_access access = workspace_access::read_write; ///< read_only also removes exec
  exec_mode exec = exec_mode::on;
  confinement_policy confinement{}; ///< of the commands that exec runs
  paddock::durability durability = paddock::durability::none;
  std::vector<std::string> pick{};             ///< only these tools; empty for all
  std::vector<std::string> omit{};             ///< not these
  std::vector<std::string> pass_environment{}; ///< further names that commands inherit
  /// "NAME=value": inherited by commands as if this process had it, by any name that may be.
  std::vector<std::string> set_environment{};
  /// Names of toolchains in the home directory that commands see, for healthCheck; empty: it tells
  /// nothing of them. What shows them is the policy.
  std::string home_tools{};
  /// The same of package managers whose caches commands use.
  std::string package_caches{};
  std::string exec_helper{}; ///< see command::helper; usually empty
  /// What calls hold at the same time is taken out of it; null: a budget of `memory_bytes_max`.
  std::shared_ptr<memory_budget> memory{};
  /// What healthCheck warns of in the workspace; empty: of the programs that lie in it, if any.
  std::string warning{};
  /// Where the coding set puts down what it changes, so that it can be taken back; null: nowhere.
  /// Neither the tools nor their commands may reach it. Who opens it also calls `read_in`.
  std::shared_ptr<history::store> history{};
  /// Where applyChanges keeps what is to survive a kill (change_set.hpp); no command may reach it.
  std::string state_directory{};
  std::string no_history{}; ///< why there is none, as a clause for models and people
  /// What a restore to a checkpoint (nothing: the start) leaves outside of the workspace, as a
  /// clause; empty: nothing. Called from any thread.
  std::function<std::string(std::optional<std::uint64_t> to)> left_outside{};
  /// An absolute path to a directory for the socket at which people of this user see and end what
  /// startProcess has started; empty: there is none. No command may reach it.
  std::string process_sockets{};
};

/// The tools that the options leave, in the order clients see them. The root lives as long as the
/// tools do. Errors: invalid_argument when `pick` or `omit` names no tool of the set, or when no
/// tool is left; the detail says which, for a person.
[[nodiscard]] result<std::vector<tool>, detailed_error>
workspace_tools(std::shared_ptr<const root> root, workspace_options options = {});

/// "; it is one of --tools coding", where it is; else empty. For server_options::unknown_tool_hint.
[[nodiscard]] std::string missing_tool_hint(std::string_view name);

/// "there is no tool NAME", which of the known ones is meant perhaps, and which there are.
[[nodiscard]] std::string no_such_tool(std::string_view name,
                                       const std::vector<std::string_view>& known);

/// What became of each layer of a command's confinement, as a JSON array of objects with "layer",
/// "wanted", "applied", and where they say something "mechanism", "missing" and "remedy".
void write_confinement(json_writer& out, const confinement_report& report);

/// Whose options a hint names: those of paddock-mcp, which only a person can give to the server, or
/// those of `paddock exec`.
enum class hint_reader : std::uint8_t { model, person };

/// What a command that failed or met its deadline has run into, as far as the policy, how it ended,
/// and the errno and the paths in its standard error (which has to be kept) tell: "; " and advice,
/// or nothing. What is a guess begins with "if". Standard output is content and tells nothing. Of
/// one that claims success: which protected entries it could not change.
[[nodiscard]] std::string command_hint(const root& root, const command& run,
                                       const command_outcome& o, hint_reader reader);
/// Sets environment variables of package managers, unless they are set: without a network they use
/// their caches and fail at once, and with a list of hosts they do not retry a refused one for
/// long.
void adapt_to_network(command& run);

/// What keeps commands from running, or from writing the workspace, as a sentence about them.
struct command_trouble {
  std::string text;     ///< "are refused: …; start the server …"; empty: nothing
  bool refused = false; ///< none can run
};

/// What follows from a trial (probe_confinement) of the policy of commands, and from the owner of
/// the workspace. `helper` as in command::helper.
[[nodiscard]] command_trouble trouble_of(const root& root, const std::string& helper,
                                         const result<confinement_report>& tried);
/// What a person can do about required layers that are missing, in the imperative.
[[nodiscard]] std::string remedy_of(const confinement_report& report);

/// The names of all tools of a set, in order.
[[nodiscard]] std::vector<std::string_view> workspace_tool_names(toolset of = toolset::base);

} // namespace paddock::mcp
