// SPDX-License-Identifier: MIT
#include "history_cli.hpp"

#include "git_worktree.hpp"
#include "own_files.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/mcp/change_results.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace paddock::cli {
namespace {

/// A directory that need not be there, as far as links can be followed.
std::filesystem::path real_path(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::weakly_canonical(path, failed);
  return failed ? std::filesystem::path(path).lexically_normal() : real;
}

/// The first of the paths that leads to the directory, or into it.
std::string leading_to(const std::filesystem::path& directory,
                       const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    if (const auto real = real_path(path);
        lies_within(directory, real) || lies_within(real, directory))
      return path;
  return {};
}

/// Why history is unavailable by default; empty: it is available.
std::string ruled_out(const workspace_cli& from) {
  if (from.history == "off") return "the server was started with --history off";
  if (from.tools.tools != mcp::toolset::coding)
    return "the history is kept with --tools coding only";
  if (from.tools.access == mcp::workspace_access::read_only)
    return "nothing can be changed with --read-only";
  return {};
}

bool names_history(const workspace_cli& from) {
  return !from.history.empty() && from.history != "off";
}

std::string served_directory(const workspace_cli& from) {
  return names_history(from) ? from.history : default_history_directory();
}

/// What servers of the workspace protect; complains and returns nothing when that is not known.
std::optional<std::vector<protected_name>>
kept_rules(std::string_view program, const root& workspace, const std::string& directory,
           history::past_rules past = history::past_rules::in_force) {
  std::error_code failed;
  auto rules =
      history::rules_of(workspace, std::filesystem::absolute(directory, failed).string(), past);
  if (rules) return *std::move(rules);
  complain(program,
           !rules.error().detail.empty()
               ? rules.error().detail
               : "the protected names of this workspace cannot be read from the history in " +
                     directory + ": " + std::string(text(rules.error().code)) +
                     "; make sure that only you can access it (chmod -R go= " + directory + ")");
  return std::nullopt;
}

} // namespace

std::string default_history_directory() {
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr && *value == '/' ? value : "");
  };
  if (const std::string state = absolute("XDG_STATE_HOME"); !state.empty())
    return state + "/paddock";
  // A home that does not exist is how a system says that this user has none.
  const std::string home = absolute("HOME");
  std::error_code failed;
  return std::filesystem::is_directory(home, failed) ? home + "/.local/state/paddock" : "";
}

std::string shared_lock_file(const std::string& workspace) {
  const std::string directory = default_history_directory();
  std::error_code failed;
  if (directory.empty() || lies_within(std::filesystem::weakly_canonical(directory, failed),
                                       std::filesystem::weakly_canonical(workspace, failed)))
    return {};
  if (std::filesystem::create_directories(directory, failed))
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, failed);
  return directory + "/locks";
}

void add_history_option(CLI::App& parser, std::string& target) {
  parser
      .add_option("--history", target,
                  "Use the histories in this directory; give the server's --history (default: "
                  "$XDG_STATE_HOME/paddock)")
      ->type_name("DIRECTORY");
}

std::string history_directory(std::string_view program, const std::string& given) {
  const std::string directory = given.empty() ? default_history_directory() : given;
  if (directory.empty()) {
    complain(program,
             "there is no place for the history; set HOME to a directory that exists, or give "
             "--history DIRECTORY");
    return {};
  }
  std::error_code failed;
  return std::filesystem::absolute(directory, failed).string();
}

std::optional<root> open_persons_workspace(std::string_view program, const std::string& workspace,
                                           const std::string& history, history::past_rules past) {
  auto plain = root::open(workspace);
  if (!plain) {
    complain(program, unusable_workspace(workspace, plain.error().code));
    return std::nullopt;
  }
  const std::string directory = history.empty() ? default_history_directory() : history;
  if (directory.empty()) return *std::move(plain);
  auto rules = kept_rules(program, *plain, directory, past);
  if (!rules) return std::nullopt;
  root_options options;
  options.protected_names = *std::move(rules);
  options.lock_file = shared_lock_file(workspace);
  auto opened = root::open(workspace, options);
  if (opened && opened->status().same_object(plain->status())) return *std::move(opened);
  complain(program,
           unusable_workspace(workspace, opened ? error_code::conflict : opened.error().code));
  return std::nullopt;
}

bool add_kept_rules(std::string_view program, workspace_cli& from) {
  const std::string directory = served_directory(from);
  const auto plain = root::open(from.workspace);
  if (!plain || directory.empty()) return true; // who opens it next says why it cannot be used
  auto rules = kept_rules(program, *plain, directory);
  if (!rules) return false;
  from.confinement.protection.kept = *std::move(rules);
  return true;
}

std::shared_ptr<history::store> open_history(std::string_view program,
                                             std::shared_ptr<const root> workspace,
                                             const std::string& directory) {
  history::options how;
  how.directory = history_directory(program, directory);
  if (how.directory.empty()) return nullptr;
  auto opened = history::store::open(std::move(workspace), std::move(how), history::session::look);
  if (opened) {
    mcp::end_restores(**opened);
    return *std::move(opened);
  }
  std::string why = explain(opened.error());
  if (opened.error().detail.empty()) why.append("; ").append(advice(opened.error().code));
  complain(program, "the history cannot be used: " + why);
  return nullptr;
}

std::string reach_of_commands(const workspace_cli& from, const std::string& directory) {
  if (!forbids_commands(from).empty()) return {};
  const confinement_cli& how = from.confinement;
  if (how.mode == exec_choice::host)
    return "commands run with all rights of this user and could change it; start the server "
           "without --exec host";
  const auto place = real_path(directory);
  constexpr std::string_view elsewhere = "; name another directory with --history";
  if (const auto path = leading_to(place, how.write_paths); !path.empty())
    return "commands may change " + path + ", where it is kept" + std::string(elsewhere);
  if (const auto path = leading_to(place, how.read_paths); !path.empty())
    return "commands may read " + path + ", where it is kept" + std::string(elsewhere);
  if (how.mode != exec_choice::best_effort) return {};
  const auto workspace = root::open(from.workspace);
  if (!workspace) return {};
  const auto found = probe_confinement(confinement_policy::best_effort(), from.tools.exec_helper,
                                       workspace->descriptor());
  if (found && found->of(confinement_layer::file_system).applied) return {};
  return "commands are not kept in the workspace here (--exec best-effort) and could change it; "
         "see paddock doctor";
}

std::string state_directory_of(const workspace_cli& from) {
  const std::string directory = served_directory(from);
  if (directory.empty() || !reach_of_commands(from, directory).empty()) return {};
  std::error_code failed;
  return std::filesystem::absolute(directory, failed).string();
}

bool open_served_history(std::string_view program, workspace_cli& from,
                         std::shared_ptr<const root> workspace, history::session by) {
  const bool is_named = names_history(from);
  std::string& why = from.tools.no_history;
  why = ruled_out(from);
  if (!why.empty()) return true;
  const std::string directory = served_directory(from);
  if (directory.empty()) {
    why = "neither HOME nor XDG_STATE_HOME names a place to keep a history; a person can start the "
          "server with --history DIR";
    return true;
  }
  why = reach_of_commands(from, directory);
  if (why.empty()) {
    std::error_code failed;
    auto opened = history::store::open(
        std::move(workspace), {.directory = std::filesystem::absolute(directory, failed).string()},
        by);
    if (opened) {
      from.tools.history = *std::move(opened);
      if (from.confinement.git_worktree)
        from.tools.left_outside = [store = from.tools.history](auto to) {
          return text(commits_left(*store, to));
        };
      return true;
    }
    why = explain(opened.error());
    if (opened.error().detail.empty())
      why = "the directory " + directory + " cannot be used: " + why + "; " +
            std::string(advice(opened.error().code));
  }
  if (is_named) complain(program, "--history " + from.history + ": " + why);
  return !is_named;
}

history_reader::history_reader(std::shared_ptr<history::store> store) {
  if (store == nullptr) return;
  const auto read = [this, kept = std::move(store)] {
    // What fails is told by the store's state, and by each answer that it matters to.
    (void)kept->read_in({.cancelled = &is_over_}).has_value();
  };
  try {
    thread_ = std::thread(read);
  } catch (const std::system_error&) {
    // There is no thread left: commands read before they begin, as far as they wait for it.
  }
}

history_reader::~history_reader() {
  is_over_ = true;
  if (thread_.joinable()) thread_.join();
}

} // namespace paddock::cli
