// SPDX-License-Identifier: MIT
#pragma once

// Where the history of a workspace is, as the programs find it.

#include "workspace_cli.hpp"

#include <paddock/history/history.hpp>
#include <paddock/path/root.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace paddock::cli {

/// `$XDG_STATE_HOME/paddock`, or `~/.local/state/paddock` where there is such a home; empty without
/// either.
[[nodiscard]] std::string default_history_directory();

/// `locks` in that directory, which it makes: by it the processes of one user lose no edit of a
/// file to each other (root_options::lock_file). Empty where there is no such directory, or it lies
/// in the workspace, where a command could hold the lock.
[[nodiscard]] std::string shared_lock_file(const std::string& workspace);

/// --history, of what looks at one.
void add_history_option(CLI::App& parser, std::string& target);

/// The directory of all stores, absolute; complains and is empty when there is none.
[[nodiscard]] std::string history_directory(std::string_view program, const std::string& given);

/// A workspace for a command of a person: with what its servers protect, as far as they have kept a
/// history there. Complains and returns nothing when it cannot be opened so.
[[nodiscard]] std::optional<root> open_persons_workspace(std::string_view program,
                                                         const std::string& workspace,
                                                         const std::string& history,
                                                         history::past_rules past);

/// Adds what servers protect to `from`, for what a person runs with the options of a server.
/// Complains and returns false when that is not known.
[[nodiscard]] bool add_kept_rules(std::string_view program, workspace_cli& from);

/// The history as a person looks at it; complains and returns nullptr when it cannot be used.
/// `directory`: of all stores; empty: the default.
[[nodiscard]] std::shared_ptr<history::store> open_history(std::string_view program,
                                                           std::shared_ptr<const root> workspace,
                                                           const std::string& directory);

/// Opens the history that the options ask for, into `from.tools`, or says there why there is none.
/// Complains and returns false where a directory was named that cannot be used.
[[nodiscard]] bool open_served_history(std::string_view program, workspace_cli& from,
                                       std::shared_ptr<const root> workspace,
                                       history::session by = history::session::serve);

/// Why what commands may do rules out a history in that directory, as a clause and what to do about
/// it; empty: nothing does.
[[nodiscard]] std::string reach_of_commands(const workspace_cli& from,
                                            const std::string& directory);

/// Where changes of several files are recorded for a server; empty where commands could reach it.
[[nodiscard]] std::string state_directory_of(const workspace_cli& from);

/// What is said of what a workspace has in the place where records of changes were once kept.
inline constexpr std::string_view foreign_record =
    ".paddock-changes in the workspace is left alone: a command may have written it; look at it, "
    "and remove it";

/// Reads what a history does not hold yet, on a thread of its own, as long as this lives.
class history_reader {
public:
  explicit history_reader(std::shared_ptr<history::store> store);
  history_reader(const history_reader&) = delete;
  history_reader& operator=(const history_reader&) = delete;
  ~history_reader();

private:
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

} // namespace paddock::cli
