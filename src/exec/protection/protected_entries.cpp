// SPDX-License-Identifier: MIT
#include "exec/protection/protected_entries.hpp"

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
#include <cerrno>
#include <list>
#include <mutex>
#include <set>
#include <span>
#include <utility>

namespace paddock {
namespace {

using kind = sys::exec_entry;

constexpr std::size_t workspaces_max = 16; // remembered at a time
constexpr std::size_t repositories_max = omissions::repositories_max;
constexpr std::size_t hidden_max = omissions::hidden_max;
constexpr std::size_t kept_max = 4 * hidden_max; // so is each directory that leads there
constexpr std::int64_t whole_ms_max = 10'000;
// What the helper takes has room for both, and for the paths of the policy.
constexpr std::size_t repositories_bytes_max = sys::exec_policy_bytes_max / 8 * 3;
constexpr std::size_t hidden_bytes_max = sys::exec_policy_bytes_max / 8 * 3;
constexpr std::string_view git = git_directory;

bool has(const directory_index::directory& in, std::string_view name) {
  return std::ranges::find(in.names, name) != in.names.end();
}

/// A repository of its own, or a submodule's or worktree's part of one; not `.git` itself.
bool is_bare_repository(std::string_view path, const directory_index::directory& in) {
  return !is_git_directory(path) &&
         is_git_repository([&](const char* name) { return has(in, name); });
}

std::string_view first_part(std::string_view name) {
  return name.substr(0, name.find('/'));
}

/// Whether the name is one in a repository's `.git`.
bool is_within_git(const protected_name& name) {
  return name.mode == protection::read_only && name.name.size() > git.size() + 1 &&
         first_part(name.name) == git;
}

struct object {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t created_ns = 0; ///< 0: not told
};

/// The directories that lead to one, from the top, and the directory itself.
template <class Action> void for_each_on_the_way(std::string_view directory, const Action& act) {
  if (directory.empty()) return;
  for (auto end = directory.find('/'); end != std::string_view::npos;
       end = directory.find('/', end + 1))
    act(directory.substr(0, end));
  act(directory);
}

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
    found.list.push_back({kind::in_place, each});
  for (const std::string& path : asked.read_only_paths)
    found.list.push_back({kind::path, path});
}

/// Beneath what is covered nothing can be held, and nothing can appear: what is there is the
/// workspace's own, and out of the command's sight.
void leave_out_covered(entries_to_protect& found, std::span<const protected_name> names) {
  std::erase_if(found.list, [&](const protected_entry& each) {
    return std::ranges::any_of(names, [&](const protected_name& top) {
      return top.mode == protection::hidden && each.path.size() > top.name.size() &&
             each.path[top.name.size()] == '/' && each.path.starts_with(top.name);
    });
  });
  std::set<std::string, std::less<>> covered;
  for (const protected_entry& each : found.list)
    if (each.how == kind::hidden_entry) covered.insert(each.path);
  if (covered.empty()) return;
  std::erase_if(found.list, [&](const protected_entry& each) {
    bool is_beneath = false;
    for_each_on_the_way(parent(each.path), [&](std::string_view directory) {
      is_beneath = is_beneath || covered.contains(directory);
    });
    return is_beneath;
  });
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

private:
  [[nodiscard]] directory_index::interest interest_in(std::string_view name) const;
  [[nodiscard]] bool is_of_top(std::string_view name) const;
  [[nodiscard]] std::set<std::string> choose_hidden(int workspace, omissions& without) const;
  void add_all(entries_to_protect& found, int workspace, omissions& without);
  [[nodiscard]] std::set<std::string> mark_appeared(int workspace, entries_to_protect& found) const;
  void add_top(entries_to_protect& found) const;
  static void add_missing_mark(entries_to_protect& found, const std::string& path,
                               const directory_index::directory& in);
  void add_repository(entries_to_protect& found, const std::string& path,
                      const directory_index::directory& in) const;
  void add_git_directory(entries_to_protect& found, const std::string& path) const;
  static void keep_in_place(entries_to_protect& found, std::string_view directory,
                            std::set<std::string, std::less<>>& kept);

  const object top_;
  const std::vector<protected_name> names_;
  const name_rules rules_;
  std::mutex guard_;
  directory_index directories_;
  repository_origins origins_;
  std::size_t entry_bytes_max_ = path_bytes_max; ///< with the path of the workspace in front
};

/// What is in a hidden entry is hidden with it.
directory_index::interest workspace_watch::index::interest_in(std::string_view name) const {
  using enum directory_index::interest;
  if (name == git || std::ranges::find(git_marks, name) != std::end(git_marks)) return noted;
  if (!rules_.could_concern(name)) return none;
  if (rules_.is_hidden(name)) return closed;
  const bool is_named = std::ranges::any_of(
      names_, [&](const protected_name& each) { return same_folded(name, first_part(each.name)); });
  return is_named ? noted : none;
}

/// A name that was not there when a command began that still runs is taken for made by it, so that
/// of two commands one does not protect what the other has made. Returns what is not there now. The
/// helper looks at the same names again for its own command, later and by a walk that follows no
/// link; what commands beside it may have made only this process knows.
std::set<std::string> workspace_watch::index::mark_appeared(int workspace,
                                                            entries_to_protect& found) const {
  std::set<std::string> absent;
  for (protected_entry& each : found.list) {
    if (each.how != kind::hidden_name && each.how != kind::read_only_name) continue;
    const auto there = sys::status_at(workspace, each.path.c_str(), AT_SYMLINK_NOFOLLOW);
    const bool is_absent = !there && tells_absence(there.error());
    // What is hidden stays so, whoever made it.
    const bool made = each.how != kind::hidden_name && origins_.is_of_running(each.path);
    if (there && made)
      each.how = kind::appeared;
    else if (there && there->kind == entry_kind::symlink && each.how == kind::read_only_name)
      each.how = kind::read_only_link;
    if (is_absent || made) absent.insert(each.path);
  }
  return absent;
}

void workspace_watch::index::add_top(entries_to_protect& found) const {
  for (std::size_t rule = 0; rule < names_.size(); ++rule) {
    const auto& [name, mode, asked] = names_[rule];
    if (first_part(name) == git && name != git) continue; // where there is a repository
    for_each_on_the_way(parent(name), [&](std::string_view directory) {
      found.list.push_back({kind::in_place, std::string(directory)});
    });
    found.list.push_back(
        {mode == protection::hidden ? kind::hidden_name : kind::read_only_name, name, rule});
  }
}

/// Where git finds a repository spoilt, it would take the directory that has the `.git` for one,
/// and obey what is there: so the mark that is missing for that may not appear.
void workspace_watch::index::add_missing_mark(entries_to_protect& found, const std::string& path,
                                              const directory_index::directory& in) {
  if (is_bare_repository(path, in)) return;
  if (!has(in, git_marks[0]))
    found.list.push_back({kind::read_only_name, join(path, git_marks[0]), rule_of_git});
  else // any of the others would do
    for (const std::string_view mark : std::span(git_marks).subspan(1))
      found.list.push_back({kind::read_only_name, join(path, mark), rule_of_git});
}

void workspace_watch::index::add_git_directory(entries_to_protect& found,
                                               const std::string& path) const {
  if (!path.empty()) found.list.push_back({kind::repository, path}); // the top stays where it is
  for (std::size_t rule = 0; rule < names_.size(); ++rule)
    if (is_within_git(names_[rule]))
      found.list.push_back(
          {kind::read_only_name, join(path, names_[rule].name.substr(git.size() + 1)), rule});
}

/// A directory and what leads to it: moved away, by the command or beside it, they would take what
/// is protected in them to where nobody looks, or make room for another. `kept` has what stays
/// already.
void workspace_watch::index::keep_in_place(entries_to_protect& found, std::string_view directory,
                                           std::set<std::string, std::less<>>& kept) {
  for_each_on_the_way(directory, [&](std::string_view each) {
    if (kept.contains(each)) return;
    kept.emplace(each);
    found.list.push_back({kind::in_place, std::string(each)});
  });
}

/// What stands beside a `.git`. Names that are not there are not looked for: the repository is not
/// the workspace.
void workspace_watch::index::add_repository(entries_to_protect& found, const std::string& path,
                                            const directory_index::directory& in) const {
  add_git_directory(found, join(path, git));
  add_missing_mark(found, path, in);
  if (path.empty()) return; // the top has them all
  for (std::size_t rule = 0; rule < names_.size(); ++rule)
    if (const auto& [name, mode, asked] = names_[rule];
        mode == protection::read_only && first_part(name) != git &&
        std::ranges::any_of(in.names, [&, first = first_part(name)](const std::string& there) {
          return same_folded(there, first);
        })) {
      for_each_on_the_way(parent(name), [&, &path = path](std::string_view directory) {
        found.list.push_back({kind::in_place, join(path, directory)});
      });
      found.list.push_back({kind::read_only_name, join(path, name), rule});
    }
}

/// Whether `add_top` adds it: by the spelling of the list.
bool workspace_watch::index::is_of_top(std::string_view name) const {
  return std::ranges::find(names_, name, &protected_name::name) != names_.end();
}

/// Those that are to be covered. Where there are too many, the ones that were there first: what a
/// command makes does not uncover what others have made.
std::set<std::string> workspace_watch::index::choose_hidden(int workspace,
                                                            omissions& without) const {
  std::vector<std::pair<std::int64_t, std::string>> all;
  const auto add = [&](std::string path) {
    if (path.size() > entry_bytes_max_) return void(without.too_deep = std::move(path));
    all.emplace_back(0, std::move(path));
  };
  for (const auto& [path, in] : directories_.all()) {
    // What cannot be looked into is covered as a whole.
    if (in.unreadable && !path.empty())
      add(path);
    else if (!in.unreadable)
      for (const std::string& name : in.names)
        if (rules_.is_hidden(name) && !(path.empty() && is_of_top(name))) add(join(path, name));
  }
  const auto choose = [&] {
    std::set<std::string> chosen;
    std::set<std::string, std::less<>> kept;
    std::size_t bytes = 0;
    for (const auto& [created_ns, path] : all) {
      bytes += path.size() + 2;
      for_each_on_the_way(parent(path), [&](std::string_view each) {
        if (!kept.contains(each)) bytes += kept.emplace(each).first->size() + 2;
      });
      if (chosen.size() == hidden_max || kept.size() > kept_max || bytes > hidden_bytes_max) break;
      chosen.insert(path);
    }
    return chosen;
  };
  auto chosen = choose();
  if (chosen.size() < all.size()) {
    for (auto& [created_ns, path] : all)
      if (const auto status = sys::status_at(workspace, path.c_str(), AT_SYMLINK_NOFOLLOW))
        created_ns = status->created_ns;
    std::ranges::sort(all);
    chosen = choose();
  }
  without.hidden = all.size() - chosen.size();
  return chosen;
}

void workspace_watch::index::add_all(entries_to_protect& found, int workspace, omissions& without) {
  const auto hidden = choose_hidden(workspace, without);
  const bool of_git = std::ranges::any_of(names_, is_within_git);
  std::size_t repositories = 0;
  std::set<std::string, std::less<>> kept;
  for (const protected_entry& each : found.list)
    if (each.how == kind::in_place) kept.insert(each.path);
  std::size_t bytes = 0;
  bool is_full = false;
  const auto add = [&](auto entries_of) {
    const auto before = static_cast<std::ptrdiff_t>(found.list.size());
    entries_of();
    const auto entries = std::ranges::subrange(found.list.begin() + before, found.list.end());
    std::size_t added = 0;
    const std::string* too_deep = nullptr;
    for (const protected_entry& each : entries) {
      added += each.path.size() + 2;
      if (each.path.size() > entry_bytes_max_) too_deep = &each.path;
    }
    is_full = is_full || (too_deep == nullptr && (repositories == repositories_max ||
                                                  bytes + added > repositories_bytes_max));
    if (!is_full && too_deep == nullptr) {
      ++repositories;
      bytes += added;
      return;
    }
    if (too_deep != nullptr)
      without.too_deep = *too_deep;
    else
      ++without.repositories;
    for (const protected_entry& each : entries)
      if (each.how == kind::in_place || each.how == kind::repository)
        kept.erase(each.path); // a hidden entry may need it
    found.list.erase(entries.begin(), entries.end());
  };
  for (const auto& [path, in] : directories_.all()) {
    if (in.unreadable) {
      // The command may be able to unlock what it has locked, or its user owns.
      if (hidden.contains(path)) {
        keep_in_place(found, parent(path), kept);
        found.list.push_back({kind::hidden_entry, path});
      } else {
        without.unreadable = without.unreadable || path.size() <= entry_bytes_max_;
      }
      continue;
    }
    for (const std::string& name : in.names)
      if (std::string entry = join(path, name);
          !hidden.empty() && rules_.is_hidden(name) && hidden.contains(entry)) {
        keep_in_place(found, path, kept);
        found.list.push_back({kind::hidden_entry, std::move(entry)});
      }
    if (!of_git) continue;
    if ((is_bare_repository(path, in) && !origins_.is_own(workspace, path)) ||
        (!is_git_directory(path) && origins_.was_of_others(in.status)))
      add([&] {
        keep_in_place(found, parent(path), kept);
        kept.insert(path);
        add_git_directory(found, path);
      });
    if (has(in, git) && !origins_.is_own(workspace, join(path, git)))
      add([&] {
        keep_in_place(found, path, kept);
        kept.insert(join(path, git));
        add_repository(found, path, in);
      });
  }
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
  entry_bytes_max_ = path_bytes_max - std::min(sys::name_of(workspace).size() + 1, path_bytes_max);
  entries_to_protect found;
  omissions without;
  add_top(found);
  add_all(found, workspace, without);
  leave_out_covered(found, names_);
  without.unlisted = !directories_.complete();
  found.unseen = describe(without);
  using enum repository_origins::look;
  origins_.looked(directories_.complete() ? complete : partial);
  auto absent = mark_appeared(workspace, found);
  if (options.makes_own) {
    command = origins_.begin(std::move(absent));
  } else { // what appears meanwhile is not swept
    std::erase_if(found.list, [&](const protected_entry& each) {
      return each.how != kind::in_place && absent.contains(each.path);
    });
  }
  return found;
}

void workspace_watch::index::end(std::uint64_t command) {
  const std::scoped_lock lock(guard_);
  origins_.end(command);
}

workspace_watch::workspace_watch(std::shared_ptr<index> of, entries_to_protect found,
                                 std::uint64_t command, kept_directories kept)
    : index_(std::move(of)), entries_(std::move(found)), command_(command), kept_(std::move(kept)) {
}

workspace_watch::workspace_watch(workspace_watch&& other) noexcept
    : index_(std::move(other.index_)), entries_(std::move(other.entries_)),
      command_(other.command_), kept_(std::move(other.kept_)) {}

workspace_watch::~workspace_watch() {
  if (index_ != nullptr) index_->end(command_);
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
  std::uint64_t command = 0;
  PADDOCK_TRY(auto found, used->begin(workspace, options, command));
  std::vector<std::string> kept;
  if (options.makes_own)
    for (const protected_entry& each : found.list)
      if (each.how == kind::in_place || each.how == kind::repository) kept.push_back(each.path);
  add_paths(found, workspace, asked);
  return workspace_watch(std::move(used), std::move(found), command,
                         kept_directories(status, std::move(kept)));
}

} // namespace paddock
