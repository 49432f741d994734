// SPDX-License-Identifier: MIT
#include "git_worktree.hpp"

#include "own_files.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/file/file.hpp>

#include <algorithm>
#include <charconv>
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

bool is_outside(const worktree_place& repository) {
  return !repository.common.empty() && !lies_within(repository.common, repository.workspace);
}

constexpr std::uint64_t log_bytes_max = std::uint64_t{16} << 20U;
constexpr std::size_t shown_digits = 10;

/// Of a line "OLD NEW Name <mail> SECONDS ZONE\tmessage". An agent may have written it.
struct logged_step {
  std::string_view old, fresh;
  std::int64_t seconds = 0;
};
std::optional<logged_step> logged_in(std::string_view line) {
  const auto is_name = [](std::string_view text) {
    return text.size() > shown_digits && detail::is_lower_hex(text);
  };
  line = line.substr(0, line.find('\t'));
  const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
  const std::size_t zone = line.rfind(' '), time = line.rfind(' ', zone - 1);
  if (second == line.npos || time == line.npos || time < second) return std::nullopt;
  logged_step found{line.substr(0, first), line.substr(first + 1, second - first - 1)};
  if (!is_name(found.old) || !is_name(found.fresh)) return std::nullopt;
  const char* const end = line.data() + zone;
  const auto read = std::from_chars(line.data() + time + 1, end, found.seconds);
  return read.ec == std::errc() && read.ptr == end ? std::optional(found) : std::nullopt;
}

} // namespace

std::optional<left_commits> commits_left(history::store& store, std::optional<std::uint64_t> to) {
  const worktree_place found = place_of(store.workspace()->path());
  if (!is_outside(found)) return {};
  const auto all = store.checkpoints();
  const auto since =
      std::ranges::find(all, to.value_or(store.state().start), &history::checkpoint::number);
  if (since == all.end()) return {};
  const auto own = root::open(found.own.string());
  const auto log = own ? read_file(*own, "logs/HEAD", {.bytes_max = log_bytes_max}) : own.error();
  if (!log) return {};
  std::string old, fresh;
  for (std::string_view rest = log->bytes; !rest.empty();) {
    const auto step = logged_in(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1));
    if (!step || step->seconds < since->time_ms / 1000) continue;
    const bool is_first = step->old.find_first_not_of('0') == std::string_view::npos;
    if (old.empty()) old = (is_first ? step->fresh : step->old).substr(0, shown_digits);
    fresh = step->fresh.substr(0, shown_digits);
  }
  if (old == fresh) return {};
  return left_commits{.repository = found.common.string(), .from = old, .to = fresh};
}

std::string text(const std::optional<left_commits>& left) {
  if (!left) return {};
  return "git's commits stay in " + left->repository + ": HEAD went from " + left->from + " to " +
         left->to + ", and git reflog names the steps";
}

std::string repository_outside(const std::string& workspace) {
  const worktree_place found = place_of(workspace);
  return is_outside(found) ? found.common.string() : std::string();
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
  for (const fs::path& part :
       {common / "objects", common / "refs", common / "reftable", common / "logs", own})
    if (fs::is_directory(fs::symlink_status(part, failed))) found.written.push_back(part.string());
  (void)std::ofstream(own / "config.worktree", std::ios::app); // git reads it only if told to
  for (const char* name : {"commondir", "gitdir", "config.worktree", "modules"})
    if (const fs::path part = own / name; fs::exists(fs::symlink_status(part, failed)))
      found.never_written.push_back(part.string());
  return found;
}

} // namespace paddock::cli
