// SPDX-License-Identifier: MIT
#pragma once

// The subcommands about what was changed in a workspace: changes, diff, undo, checkpoint, history.

#include "cli/search/search_cli.hpp"
#include "common/history_cli.hpp"
#include "common/subcommand.hpp"

#include <paddock/history/history.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

/// What was changed, and who did it.
[[nodiscard]] subcommand add_changes(CLI::App& app);
/// The same, line by line.
[[nodiscard]] subcommand add_diff(CLI::App& app);
/// What an agent changed is taken back.
[[nodiscard]] subcommand add_undo(CLI::App& app);
/// Remembers how the workspace is.
[[nodiscard]] subcommand add_checkpoint(CLI::App& app);
/// The store itself.
[[nodiscard]] subcommand add_history(CLI::App& app);

/// What they have in common.
struct undo_options {
  std::string workspace = ".";
  std::string history;              ///< empty: the usual place
  std::vector<std::string> paths{}; ///< none: everything
  std::string since = "start";      ///< a checkpoint: its number, its label, or the last start
  bool json = false;
};
/// --workspace, for `find_workspace`.
void add_found_workspace_option(CLI::App& parser, std::string& target);
void add_place_options(CLI::App& parser, undo_options& target);
/// `name` is --since or --to.
void add_checkpoint_option(CLI::App& parser, undo_options& target, const std::string& name,
                           const std::string& text);

/// Whether a command may begin a history where there is none, and of what: where no workspace is
/// named, of the current directory or of the git repository that it is in.
enum class beginning : std::uint8_t { none, here, of_repository };
/// The workspace named, or else, as git finds a repository, the current directory or the nearest
/// one around it that has a history. Nothing after the program has said that there is no history,
/// and where one is or what makes one. Nothing is made.
[[nodiscard]] std::optional<found_workspace> find_workspace(std::string_view program,
                                                            const undo_options& options,
                                                            const std::string& directory,
                                                            beginning may_begin = beginning::none);

struct open_history_result {
  std::shared_ptr<const root> workspace;
  std::shared_ptr<history::store> store; ///< null: the program has complained
  std::string current{};                 ///< the path of the current directory in the workspace
  std::optional<std::uint64_t> since{};  ///< as the options name it; nothing: the last start
  bool is_begun = false;                 ///< there was none before
};
/// Where there is none, nothing is made.
[[nodiscard]] open_history_result open_store(std::string_view program, const undo_options& options,
                                             beginning may_begin = beginning::none);
/// The paths as the history has them; nothing after the program has complained of one outside.
[[nodiscard]] std::optional<std::vector<std::string>>
paths_in_history(std::string_view program, const open_history_result& opened,
                 const undo_options& options);
/// Of paths where nothing is or was: says so, and what has changed near them.
void complain_of_unknown(std::string_view program, const open_history_result& opened,
                         const std::vector<std::string>& unknown);
/// Says that there is no such checkpoint, and which there are.
void complain_of_checkpoint(std::string_view program, history::store& store,
                            const std::string& given);
/// Says why the history did not answer; the exit code.
[[nodiscard]] int complain_of_history(std::string_view program, history::store& store,
                                      const undo_options& options, const detailed_error& e);

/// The end of a command that has used the history: warns if that is damaged or could not be
/// written.
void warn_of_trouble(std::string_view program, history::store& store);
/// The same as a member of the answer, `trouble`.
void write_trouble(mcp::json_writer& out, history::store& store);

/// "2026-03-01 12:30:05", of this time zone.
[[nodiscard]] std::string local_time(std::int64_t unix_ms);
/// "checkpoint 4 (before the merge, 2026-03-01 12:30:05)".
[[nodiscard]] std::string checkpoint_text(history::store& store, std::uint64_t number);
/// For a command that compares with the last start and found nothing by an agent: says how many
/// changes there are since the first checkpoint, if more than those `shown`, and `step`, such as
/// "paddock undo --to", with that checkpoint.
void print_earlier_changes(const open_history_result& opened, const undo_options& options,
                           std::string_view step, std::uint64_t shown = 0);
/// "exec: make -j4; startProcess: npm run dev".
[[nodiscard]] std::string running_text(const std::vector<history::running_command>& running);
/// "by the tool editFile", "by make -j4", "by a person, with undo", "not by an agent".
[[nodiscard]] std::string who_changed(const history::change& each);

} // namespace paddock::cli
