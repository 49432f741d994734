// SPDX-License-Identifier: MIT
#include "exec/protection/workspace_watch.hpp"

#include "exec/protection/directory_index.hpp"
#include "exec/protection/omissions.hpp"
#include "exec/protection/repository_origins.hpp"
#include "path/git_names.hpp"
#include "path/name_folding.hpp"
#include "path/name_rules.hpp"
#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/limits.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <set>
#include <utility>

namespace paddock {
namespace {

constexpr std::size_t workspaces_max = 16; // remembered at a time
constexpr std::int64_t whole_ms_max = 10'000;
constexpr std::uint64_t turn_again_ms_max = 100;
constexpr std::string_view settings_of_git = ".git/config";

struct object {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t created_ns = 0; ///< 0: not told
};

/// What a command could move away together with a path: the directories between the one that it may
/// change and the path.
void add_paths(entries_to_protect& found, int workspace, const protection_request& asked) {
  if (asked.read_only_paths.empty()) return;
  std::vector<std::string> changeable = asked.write_paths;
  if (auto top = sys::readlinkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(workspace)).c_str()))
    changeable.push_back(*std::move(top));
  std::set<std::string> directories;
  for (const std::string& path : asked.read_only_paths)
    for (const std::string& top : changeable)
      if (const auto rest = strip_root_prefix(path, top); rest && !rest->empty())
        for (auto end = path.size() - rest->size(); (end = path.find('/', end)) != path.npos; ++end)
          directories.insert(path.substr(0, end));
  for (const std::string& each : directories)
    found.list.push_back({sys::exec_entry::in_place, each});
  for (const std::string& path : asked.read_only_paths)
    found.list.push_back({sys::exec_entry::path, path});
}

} // namespace

/// What is known of one workspace under one list of names.
class workspace_watch::index {
public:
  index(object top, std::vector<protected_name> names, name_rules rules)
      : top_(top), names_(std::move(names)), rules_(std::move(rules)),
        directories_([this](std::string_view name) { return interest_in(name); }) {}

  [[nodiscard]] bool is_for(object top, const std::vector<protected_name>& names) const {
    const bool born_alike =
        top_.created_ns == top.created_ns || top_.created_ns == 0 || top.created_ns == 0;
    return top_.device == top.device && top_.inode == top.inode && born_alike && names_ == names;
  }

  result<entries_to_protect> begin(int workspace, const watch_options& options,
                                   std::uint64_t& command);
  void end(std::uint64_t command);
  std::shared_ptr<workspace_then> note(int workspace);
  made sweep(int workspace, workspace_then& then, const command_marks* marks);
  /// Before `guard_`. After a wait in vain the next ones are short: perhaps the other process is
  /// stopped.
  file_descriptor turn(const command_marks& marks, std::uint64_t wait_ms) {
    auto had = marks.turn(waited_in_vain_ ? std::min(wait_ms, turn_again_ms_max) : wait_ms);
    waited_in_vain_ = !had;
    return had;
  }
  std::vector<made_entry> sweep_left(int workspace, const command_marks& marks);

private:
  [[nodiscard]] directory_index::interest interest_in(std::string_view name) const;
  /// While this lives.
  [[nodiscard]] std::function<bool(std::string_view path)> is_hidden() const {
    return [this](std::string_view path) { return rules_.leads_through_hidden(path); };
  }
  [[nodiscard]] std::set<std::string> mark_appeared(int workspace, entries_to_protect& found) const;

  const object top_;
  const std::vector<protected_name> names_;
  const name_rules rules_;
  std::atomic<bool> waited_in_vain_ = false;
  std::mutex guard_;
  directory_index directories_;
  repository_origins origins_;
  std::vector<std::weak_ptr<workspace_then>> running_; ///< what those that run began with
};

/// What is in a hidden entry is hidden with it.
directory_index::interest workspace_watch::index::interest_in(std::string_view name) const {
  using enum directory_index::interest;
  if (name == git_directory || std::ranges::find(git_marks, name) != std::end(git_marks))
    return noted;
  if (!rules_.could_concern(name)) return none;
  if (rules_.is_hidden(name)) return closed;
  const bool is_named = std::ranges::any_of(names_, [&](const protected_name& each) {
    return same_folded(name, first_component(each.name));
  });
  return is_named ? noted : none;
}

/// A name that appeared while a command is running is attributed to that command, so that of two
/// commands one does not protect what the other has made. Returns what is not there now. The
/// helper looks at the same names again for its own command, later and by a walk that follows no
/// link; what commands beside it may have made only this process knows.
std::set<std::string> workspace_watch::index::mark_appeared(int workspace,
                                                            entries_to_protect& found) const {
  std::set<std::string> absent;
  for (protected_entry& each : found.list) {
    if (each.how != sys::exec_entry::hidden_name && each.how != sys::exec_entry::read_only_name)
      continue;
    const auto there = sys::status_at(workspace, each.path.c_str(), AT_SYMLINK_NOFOLLOW);
    const bool is_absent = !there && tells_absence(there.error());
    // What is hidden stays so, whoever made it.
    const bool made = each.how != sys::exec_entry::hidden_name && origins_.is_of_running(each.path);
    if (there && made)
      each.how = sys::exec_entry::appeared;
    else if (there && there->kind == entry_kind::symlink &&
             each.how == sys::exec_entry::read_only_name)
      each.how = sys::exec_entry::read_only_link;
    if (is_absent || made) absent.insert(each.path);
  }
  return absent;
}

result<entries_to_protect>
workspace_watch::index::begin(int workspace, const watch_options& options, std::uint64_t& command) {
  const std::scoped_lock lock(guard_);
  if (options.again) directories_.doubt();
  PADDOCK_CHECK(directories_.refresh(workspace, options.whole ? whole_ms_max
                                                              : directory_index::refresh_ms_max));
  const auto top = directories_.all().find("");
  if (!names_.empty() && (top == directories_.all().end() || top->second.unreadable))
    return error{error_code::permission_denied, EACCES, "workspace"}; // nothing could be protected
  // With the path of the workspace in front.
  const auto entry_bytes_max =
      path_bytes_max - std::min<std::size_t>(sys::name_of(workspace).size() + 1, path_bytes_max);
  auto [list, without] = collect_entries({.top = workspace,
                                          .names = names_,
                                          .rules = rules_,
                                          .directories = directories_.all(),
                                          .origins = origins_,
                                          .entry_bytes_max = entry_bytes_max});
  without.unlisted = !directories_.complete();
  entries_to_protect found{.list = std::move(list), .unseen = describe(without)};
  using enum repository_origins::look;
  origins_.looked(directories_.complete() ? complete : partial);
  auto absent = mark_appeared(workspace, found);
  if (!options.sweeps)
    std::erase_if(found.list, [&](const protected_entry& each) {
      return each.how != sys::exec_entry::in_place && absent.contains(each.path);
    });
  if (options.makes_own) command = origins_.begin(std::move(absent));
  return found;
}

void workspace_watch::index::end(std::uint64_t command) {
  const std::scoped_lock lock(guard_);
  origins_.end(command);
}

/// Right after `begin`.
std::shared_ptr<workspace_then> workspace_watch::index::note(int workspace) {
  const std::scoped_lock lock(guard_);
  auto then = std::make_shared<workspace_then>();
  then->complete = directories_.complete();
  then->began_ns = sys::file_time_now_ns();
  note_repositories(workspace, directories_.all(), then->entries,
                    [&](const std::string& path) { return origins_.is_own(workspace, path); });
  then->is_hidden = is_hidden();
  std::erase_if(running_, [](const auto& each) { return each.expired(); });
  running_.push_back(then);
  return then;
}

/// What another command has held as it was is a new file now, which nothing holds: so that one's
/// end looks at it, too.
workspace_watch::made workspace_watch::index::sweep(int workspace, workspace_then& then,
                                                    const command_marks* marks) {
  const auto own_turn = marks != nullptr ? turn(*marks, turn_ms_max) : file_descriptor();
  const std::scoped_lock lock(guard_);
  if (marks != nullptr) marks->take_news(then);
  constexpr unsigned closed_depth_max = 64;
  for (unsigned depth = 0; depth < closed_depth_max; ++depth)
    if (!directories_.refresh(workspace, whole_ms_max) ||
        !open_closed_directories(workspace, directories_.all(), then.entries))
      break;
  auto swept = paddock::sweep_repositories(workspace, names_, directories_.all(), then);
  for (const auto& each : running_)
    if (const auto other = each.lock())
      for (const file_status& changed : swept.changed)
        other->entries.remove(changed);
  if (marks != nullptr) marks->tell_others(swept.changed);
  return {.moved = std::move(swept.moved),
          .complete = directories_.complete(),
          .alone = marks == nullptr || own_turn};
}

std::vector<made_entry> workspace_watch::index::sweep_left(int workspace,
                                                           const command_marks& marks) {
  std::vector<made_entry> all;
  marks.take_left([&](workspace_then then) {
    then.is_hidden = is_hidden();
    auto swept = sweep(workspace, then, &marks);
    std::ranges::move(swept.moved, std::back_inserter(all));
  });
  return all;
}

workspace_watch::workspace_watch(std::shared_ptr<index> of, entries_to_protect found,
                                 std::uint64_t command, kept_directories kept)
    : index_(std::move(of)), entries_(std::move(found)), command_(command), kept_(std::move(kept)) {
}

workspace_watch::workspace_watch(workspace_watch&& other) noexcept
    : index_(std::move(other.index_)), entries_(std::move(other.entries_)),
      command_(other.command_), kept_(std::move(other.kept_)), then_(std::move(other.then_)),
      marks_(std::move(other.marks_)), left_(std::move(other.left_)), had_turn_(other.had_turn_) {}

workspace_watch::~workspace_watch() {
  if (index_ != nullptr) index_->end(command_);
}

workspace_watch::made workspace_watch::sweep_repositories(int workspace) const {
  if (index_ == nullptr || then_ == nullptr) return {};
  auto swept = index_->sweep(workspace, *then_, marks_.get());
  swept.alone = swept.alone && had_turn_;
  return swept;
}

workspace_watch workspace_watch::of_nothing() {
  return {nullptr, {}, 0, {}};
}

result<workspace_watch> workspace_watch::begin(int workspace, const protection_request& asked,
                                               const watch_options& options) {
  if (!std::ranges::all_of(asked.names, is_valid))
    return error{error_code::invalid_argument, 0, "policy"};
  static std::mutex guard;
  static auto& remembered = *new std::list<std::shared_ptr<index>>; // the last one used in front
  PADDOCK_TRY(const auto status, sys::status_at(workspace, "."));
  const std::int64_t created_ns = status.has_birth_time ? status.created_ns : 0;
  const object top{status.device, status.inode, created_ns};
  std::shared_ptr<index> used;
  {
    const std::scoped_lock lock(guard);
    const auto known = std::ranges::find_if(
        remembered, [&](const auto& each) { return each->is_for(top, asked.names); });
    if (known != remembered.end()) {
      remembered.splice(remembered.begin(), remembered, known);
    } else {
      PADDOCK_TRY(auto rules, name_rules::make(asked.names));
      remembered.push_front(std::make_shared<index>(top, asked.names, std::move(rules)));
      if (remembered.size() > workspaces_max) remembered.pop_back();
    }
    used = remembered.front();
  }
  auto marks = options.sweeps ? command_marks::open(workspace, options.state_directory) : nullptr;
  auto left = marks ? used->sweep_left(workspace, *marks) : std::vector<made_entry>();
  // Who sweeps meanwhile would not find what this one takes for somebody else's.
  const auto turn = marks ? used->turn(*marks, options.turn_ms) : file_descriptor();
  std::uint64_t command = 0;
  PADDOCK_TRY(auto found, used->begin(workspace, options, command));
  if (asked.git_settings)
    for (protected_entry& each : found.list)
      if (each.how == sys::exec_entry::read_only_name && each.rule < asked.names.size() &&
          asked.names[each.rule].name == settings_of_git) {
        const auto there = sys::status_at(workspace, each.path.c_str(), AT_SYMLINK_NOFOLLOW);
        if (there && there->kind == entry_kind::file) each.how = sys::exec_entry::settings;
      }
  std::vector<std::string> kept;
  if (options.makes_own)
    for (const protected_entry& each : found.list)
      if (each.how == sys::exec_entry::in_place || each.how == sys::exec_entry::repository)
        kept.push_back(each.path);
  add_paths(found, workspace, asked);
  auto then = options.sweeps ? used->note(workspace) : nullptr;
  if (then != nullptr) {
    then->outside = then->readable = asked.write_paths;
    std::ranges::copy(asked.read_paths, std::back_inserter(then->readable));
    note_outside(then->outside, then->entries);
  }
  for (std::size_t i = 0; then != nullptr && i < found.list.size(); ++i)
    if (found.list[i].how == sys::exec_entry::settings)
      then->settings.emplace(sys::settings_directory + ("/" + std::to_string(i)) + "/config",
                             found.list[i].path);
  workspace_watch made(std::move(used), std::move(found), command,
                       kept_directories(status, std::move(kept)));
  if (marks && then) marks->put(*then);
  made.then_ = std::move(then);
  made.had_turn_ = marks == nullptr || turn;
  made.marks_ = std::move(marks);
  made.left_ = std::move(left);
  return made;
}

} // namespace paddock
