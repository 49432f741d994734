// SPDX-License-Identifier: MIT
#include "git_worktree.hpp"

#include "own_files.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace paddock::cli {
namespace {

namespace fs = std::filesystem;

/// The path that a file of git holds, behind `mark` and relative to `from`; empty: none that
/// exists.
fs::path led_to(const fs::path& file, std::string_view mark, const fs::path& from) {
  std::string line;
  std::error_code failed;
  std::ifstream text(file);
  if (!fs::is_regular_file(fs::symlink_status(file, failed)) || !std::getline(text, line) ||
      !line.starts_with(mark))
    return {};
  return fs::canonical(from / line.substr(mark.size()), failed);
}

struct worktree_place {
  fs::path workspace, own, common; ///< `own` is in `common`
};

worktree_place place_of(const std::string& workspace) {
  std::error_code failed;
  worktree_place found{.workspace = fs::canonical(workspace, failed)};
  found.own = led_to(found.workspace / ".git", "gitdir: ", found.workspace);
  if (!found.own.empty()) found.common = led_to(found.own / "commondir", "", found.own);
  return found;
}

} // namespace

std::string repository_outside(const std::string& workspace) {
  const worktree_place found = place_of(workspace);
  if (found.common.empty() || lies_within(found.common, found.workspace)) return {};
  return found.common.string();
}

std::variant<git_worktree, std::string> find_git_worktree(const std::string& workspace) {
  std::error_code failed;
  const auto [place, own, common] = place_of(workspace);
  if (common.empty()) return "the workspace has no .git file that leads to a worktree";
  if (own.parent_path() != common / "worktrees" || lies_within(common, place) ||
      led_to(own / "gitdir", "", own) != place / ".git")
    return common.string() + ", to which .git leads, does not know this worktree; git worktree "
                             "repair mends that";
  git_worktree found{.repository = common.string()};
  for (const fs::path& part : {common / "objects", common / "refs", common / "logs", own})
    if (fs::is_directory(fs::symlink_status(part, failed))) found.written.push_back(part.string());
  (void)std::ofstream(own / "config.worktree", std::ios::app); // git reads it only if told to
  for (const char* name : {"commondir", "gitdir", "config.worktree", "modules"})
    if (const fs::path part = own / name; fs::exists(fs::symlink_status(part, failed)))
      found.never_written.push_back(part.string());
  return found;
}

} // namespace paddock::cli
