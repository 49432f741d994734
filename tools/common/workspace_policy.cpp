// SPDX-License-Identifier: MIT

// What follows from the options for commands: which paths they see and change, and which parts of
// this program they may not.

#include "git_worktree.hpp"
#include "history_cli.hpp"
#include "home_tools.hpp"
#include "own_files.hpp"
#include "visible_state.hpp"
#include "workspace_cli.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace paddock::cli {
namespace {

/// Whether a link in `place` is followed on the way to `path`, which exists.
bool follows_link_in(const std::filesystem::path& place, const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path walked;
  for (const auto& part : path) {
    const auto next = walked / part;
    if (std::filesystem::is_symlink(next, failed)) {
      const auto parent = std::filesystem::canonical(walked, failed);
      if (lies_within(parent, place)) return true;
      const auto target = std::filesystem::read_symlink(next, failed);
      if (follows_link_in(place, parent / target)) return true;
    }
    walked = next;
  }
  return false;
}

struct path_option {
  std::string name;
  std::string purpose; ///< of what it names
};

/// Under its canonical name, which is fixed from now on, and under the name that was given, where
/// that means the same when it is read as text.
bool add_paths(std::string_view program, const std::string& workspace, const path_option& option,
               const std::vector<std::string>& given, std::vector<std::string>& into) {
  std::error_code failed;
  const auto place = std::filesystem::canonical(workspace, failed);
  for (const std::string& path : given) {
    const auto refuse = [&](const std::string& why) {
      complain(program, option.name + ": the path " + path + ", which " + option.purpose +
                            " by commands, cannot be used: " + why);
      return false;
    };
    const auto real = std::filesystem::canonical(path, failed);
    if (failed) return refuse(failed.message() + "; name one that exists");
    if (real == "/") return refuse("it is everything; name the directories that are needed");
    if (real == "/dev" || lies_within(real, "/proc"))
      return refuse("commands get one of their own, with what they need of it" +
                    std::string(real == "/dev" ? "; name the devices that are needed" : ""));
    const auto given_path = std::filesystem::absolute(path);
    if (!lies_within(real, place) && follows_link_in(place, given_path))
      return refuse("a link in the workspace leads to it, which a command may have made; name " +
                    real.string());
    into.push_back(real.string());
    auto named = given_path.lexically_normal();
    if (!named.has_filename()) named = named.parent_path();
    const bool is_alias = std::filesystem::canonical(named, failed) == real && !failed;
    if (is_alias && named != real) into.push_back(named.string());
  }
  return true;
}

bool add_worktree(std::string_view program, const std::string& workspace,
                  confinement_policy& into) {
  const auto found = find_git_worktree(workspace);
  if (const auto* const why = std::get_if<std::string>(&found)) {
    complain(program, "--git-worktree: " + *why);
    return false;
  }
  const auto& worktree = std::get<git_worktree>(found);
  into.read_paths.push_back(worktree.repository);
  std::ranges::copy(worktree.written, std::back_inserter(into.write_paths));
  std::ranges::copy(worktree.never_written, std::back_inserter(into.read_only_paths));
  return true;
}

std::string canonical_or_same(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  return failed ? path : real.string();
}

/// The first program, library or link to one of this process that lies in a directory, or is that
/// path; empty: none.
std::string own_part_in(const std::string& directory) {
  if (std::string own = own_program_in(directory); !own.empty()) return own;
  const std::string place = canonical_or_same(directory);
  auto parts = own_files({}, std::span(&place, 1));
  return parts.empty() ? std::string() : std::move(parts.front());
}

} // namespace

std::vector<std::string> workspace_cli::read_only_paths() const {
  std::vector<std::string> places = confinement.write_paths;
  places.push_back(workspace);
  std::ranges::transform(places, places.begin(), canonical_or_same);
  return cli::own_files(own_files, places);
}

root_options workspace_cli::protected_root() const {
  root_options made = root;
  made.protected_names = confinement.protection.names();
  made.read_only_paths = read_only_paths();
  if (tools.access != mcp::workspace_access::read_only)
    made.lock_file = shared_lock_file(workspace);
  return made;
}

std::optional<confinement_policy> workspace_cli::policy(std::string_view program) const {
  confinement_policy made;
  if (confinement.mode == exec_choice::host) made = confinement_policy::host();
  if (confinement.mode == exec_choice::best_effort) made = confinement_policy::best_effort();
  made.reach = reach();
  made.hosts = confinement.hosts;
  made.egress_proxy = confinement.egress_proxy;
  made.on_network = on_network;
  for (const auto layer : confinement_layers)
    if (confinement.require_all && made.wanted(layer) != demand::off)
      made.wanted(layer) = demand::required;
  if (!add_paths(program, workspace, {confinement.read_option, "may be read"},
                 confinement.read_paths, made.read_paths) ||
      !add_paths(program, workspace, {confinement.write_option, "may be changed"},
                 confinement.write_paths, made.write_paths))
    return std::nullopt;
  for (const std::string& path : confinement.write_paths)
    if (const std::string own = own_part_in(path); !own.empty()) {
      complain(program, "the path " + path + ", which commands may be let change, holds " + own +
                            ", with which this program confines them; name a directory without it");
      return std::nullopt;
    }
  made.author = git_author_of(made.home);
  made.bounds = confinement.bounds;
  if (confinement.home_tools)
    for (const home_tool& each : home.tools())
      std::ranges::copy(each.shown, std::back_inserter(made.read_paths));
  if (confinement.package_caches)
    for (const home_tool& each : home.caches())
      std::ranges::copy(each.shown, std::back_inserter(made.cache_paths));
  made.protected_names = confinement.protection.names();
  made.read_only_paths = read_only_paths();
  if (confinement.git_worktree && !add_worktree(program, workspace, made)) return std::nullopt;
  if (confinement.mode != exec_choice::off && tools.access != mcp::workspace_access::read_only) {
    std::vector<std::string> places{default_history_directory()};
    if (!history.empty() && history != "off") places.push_back(history);
    if (const auto why = state_shown_by(made, workspace, places); !why.empty()) {
      complain(program, why);
      return std::nullopt;
    }
  }
  const bool is_coding = tools.tools == mcp::toolset::coding;
  made.tracing = is_coding;
  made.git_settings = is_coding;
  const bool runs = confinement.mode != exec_choice::off && confinement.mode != exec_choice::host &&
                    tools.access != mcp::workspace_access::read_only;
  const scratch_life usual = is_coding && runs ? scratch_life::session : scratch_life::call;
  if (confinement.scratch.value_or(usual) == scratch_life::session)
    if (const auto place = paddock::root::open(workspace))
      made.scratch = hold_scratch(made, place->descriptor(), tools.exec_helper);
  return made;
}

network_reach workspace_cli::reach() const {
  const network_reach usual = confinement_policy().reach;
  return confinement.reach.value_or(usual);
}

std::vector<std::string> workspace_cli::set_environment() const {
  std::vector<std::string> variables;
  if (confinement.package_caches) variables = environment_of_caches(home.caches(), reach());
  if (!confinement.home_tools) return variables;
  std::string usual = process_variable("PATH");
  if (usual.empty()) usual = "/usr/local/bin:/usr/bin:/bin";
  variables.push_back("PATH=" + search_path_with(home.tools(), usual));
  return variables;
}

const std::vector<home_tool>& home_finds::tools() const {
  if (!tools_) tools_ = find_home_tools(process_variable("HOME"));
  return *tools_;
}

const std::vector<home_tool>& home_finds::caches() const {
  if (!caches_) caches_ = find_package_caches(process_variable("HOME"));
  return *caches_;
}

std::string program_in_workspace(const workspace_cli& from) {
  const std::string own = own_part_in(from.workspace);
  if (own.empty() || from.tools.access == mcp::workspace_access::read_only) return {};
  return "the workspace holds " + own +
         ", which is run again at the next start; choose a workspace without this program, its "
         "libraries and its helper";
}

std::string repository_out_of_reach(const workspace_cli& from) {
  const confinement_cli& how = from.confinement;
  if (how.git_worktree || how.mode == exec_choice::off || how.mode == exec_choice::host) return {};
  const std::string repository = repository_outside(from.workspace);
  const auto shows = [&](const std::vector<std::string>& paths) {
    return std::ranges::any_of(paths, [&](const std::string& path) {
      return lies_within(repository, canonical_or_same(path));
    });
  };
  if (repository.empty() || shows(how.read_paths) || shows(how.write_paths)) return {};
  return "commands cannot use git here: the workspace is a worktree of " + repository +
         ", which they do not see; start the server with --git-worktree";
}

void warn_of_program_in_workspace(std::string_view program, const workspace_cli& from) {
  if (const auto told = program_in_workspace(from); !told.empty())
    complain(program, "warning: " + told);
}

void tell_of_home(std::string_view program, const workspace_cli& from) {
  const auto tell = [&](const std::string& what, const std::vector<home_tool>& found) {
    const std::string left_out = left_out_of(found);
    complain(program, what + names_of(found) + (left_out.empty() ? "" : "; left out: " + left_out));
  };
  if (from.confinement.home_tools)
    tell("commands see these toolchains of the home directory: ", from.home.tools());
  if (from.confinement.package_caches)
    tell("commands use these package caches of the home directory: ", from.home.caches());
}

} // namespace paddock::cli
