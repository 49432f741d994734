// SPDX-License-Identifier: MIT
#include "exec/protection/protected_entries.hpp"

#include "exec/protection/made_repositories.hpp"
#include "path/git_names.hpp"
#include "path/name_folding.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

namespace paddock {
namespace {

using kind = sys::exec_entry;

constexpr std::size_t repositories_max = omissions::repositories_max;
constexpr std::size_t hidden_max = omissions::hidden_max;
constexpr std::size_t kept_max = 4 * hidden_max; // so is each directory that leads there
// What the helper takes has room for both, and for the paths of the policy.
constexpr std::size_t repositories_bytes_max = sys::exec_policy_bytes_max / 8 * 3;
constexpr std::size_t hidden_bytes_max = sys::exec_policy_bytes_max / 8 * 3;
constexpr std::string_view git = git_directory;

/// Whether the name is one in a repository's `.git`.
bool is_within_git(const protected_name& name) {
  return name.mode == protection::read_only && name.name.size() > git.size() + 1 &&
         first_component(name.name) == git;
}

/// The directories that lead to one, from the top, and the directory itself.
template <class Action> void for_each_on_the_way(std::string_view directory, const Action& act) {
  if (directory.empty()) return;
  for (auto end = directory.find('/'); end != std::string_view::npos;
       end = directory.find('/', end + 1))
    act(directory.substr(0, end));
  act(directory);
}

/// Beneath what is covered nothing can be held, and nothing can appear: what is there is the
/// workspace's own, and out of the command's sight.
void leave_out_covered(std::vector<protected_entry>& list, std::span<const protected_name> names) {
  std::erase_if(list, [&](const protected_entry& each) {
    return std::ranges::any_of(names, [&](const protected_name& top) {
      return top.mode == protection::hidden && each.path.size() > top.name.size() &&
             each.path[top.name.size()] == '/' && each.path.starts_with(top.name);
    });
  });
  std::set<std::string, std::less<>> covered;
  for (const protected_entry& each : list)
    if (each.how == kind::hidden_entry) covered.insert(each.path);
  if (covered.empty()) return;
  std::erase_if(list, [&](const protected_entry& each) {
    bool is_beneath = false;
    for_each_on_the_way(parent(each.path), [&](std::string_view directory) {
      is_beneath = is_beneath || covered.contains(directory);
    });
    return is_beneath;
  });
}

/// What is to be covered if there is room. Its path is made when it is wanted: there may be as many
/// as are known, with paths that are long.
struct hidden_candidate {
  std::string_view directory;
  std::string_view name; ///< empty: the directory itself
  std::int64_t created_ns = 0;

  [[nodiscard]] std::string path() const {
    return name.empty() ? std::string(directory) : join(directory, name);
  }
};

/// One collection, from the top to the deepest directory.
class collector {
public:
  explicit collector(const known_workspace& of) : of_(of) {}

  collected_entries collect() && {
    add_top();
    const auto hidden = choose_hidden();
    const bool of_git = std::ranges::any_of(of_.names, is_within_git);
    for (const protected_entry& each : list_)
      if (each.how == kind::in_place) kept_.insert(each.path);
    for (const auto& [path, in] : of_.directories) {
      add_hidden(path, in, hidden);
      if (of_git && !in.unreadable) add_repositories(path, in);
    }
    leave_out_covered(list_, of_.names);
    return {.list = std::move(list_), .without = std::move(without_)};
  }

private:
  /// Whether `add_top` adds it: by the spelling of the list.
  [[nodiscard]] bool is_of_top(std::string_view name) const {
    return std::ranges::find(of_.names, name, &protected_name::name) != of_.names.end();
  }
  /// Those that are to be covered. Where there are too many, the ones that were there first: what a
  /// command makes does not uncover what others have made.
  [[nodiscard]] std::set<std::string> choose_hidden() {
    std::vector<hidden_candidate> all;
    const auto add = [&](const std::string& directory, std::string_view name) {
      const hidden_candidate found{.directory = directory, .name = name};
      if (std::string path = found.path(); path.size() > of_.entry_bytes_max)
        without_.too_deep = std::move(path);
      else
        all.push_back(found);
    };
    for (const auto& [path, in] : of_.directories) {
      // What cannot be looked into is covered as a whole.
      if (in.unreadable && !path.empty())
        add(path, {});
      else if (!in.unreadable)
        for (const std::string& name : in.names)
          if (of_.rules.is_hidden(name) && !(path.empty() && is_of_top(name))) add(path, name);
    }
    const auto choose = [&] {
      std::set<std::string> chosen;
      std::set<std::string, std::less<>> kept;
      std::size_t bytes = 0;
      for (const hidden_candidate& each : all) {
        std::string path = each.path();
        bytes += path.size() + 2;
        for_each_on_the_way(parent(path), [&](std::string_view directory) {
          if (!kept.contains(directory)) bytes += kept.emplace(directory).first->size() + 2;
        });
        if (chosen.size() == hidden_max || kept.size() > kept_max || bytes > hidden_bytes_max)
          break;
        chosen.insert(std::move(path));
      }
      return chosen;
    };
    auto chosen = choose();
    if (chosen.size() < all.size()) {
      for (hidden_candidate& each : all)
        if (const auto status = sys::status_at(of_.top, each.path().c_str(), AT_SYMLINK_NOFOLLOW))
          each.created_ns = status->created_ns;
      std::ranges::sort(all, [](const hidden_candidate& a, const hidden_candidate& b) {
        return a.created_ns != b.created_ns ? a.created_ns < b.created_ns : a.path() < b.path();
      });
      chosen = choose();
    }
    without_.hidden = all.size() - chosen.size();
    return chosen;
  }
  void add_top() {
    for (std::size_t rule = 0; rule < of_.names.size(); ++rule) {
      const auto& [name, mode, asked] = of_.names[rule];
      if (first_component(name) == git && name != git) continue; // where there is a repository
      for_each_on_the_way(parent(name), [&](std::string_view directory) {
        list_.push_back({kind::in_place, std::string(directory)});
      });
      list_.push_back(
          {mode == protection::hidden ? kind::hidden_name : kind::read_only_name, name, rule});
    }
  }
  void add_hidden(const std::string& path, const directory_index::directory& in,
                  const std::set<std::string>& hidden) {
    if (in.unreadable) {
      // The command may be able to unlock what it has locked, or its user owns.
      if (hidden.contains(path)) {
        keep_in_place(parent(path));
        list_.push_back({kind::hidden_entry, path});
      } else {
        without_.unreadable = without_.unreadable || path.size() <= of_.entry_bytes_max;
      }
      return;
    }
    for (const std::string& name : in.names)
      if (std::string entry = join(path, name);
          !hidden.empty() && of_.rules.is_hidden(name) && hidden.contains(entry)) {
        keep_in_place(path);
        list_.push_back({kind::hidden_entry, std::move(entry)});
      }
  }
  void add_repositories(const std::string& path, const directory_index::directory& in) {
    if ((is_bare_repository(path, in) && !of_.origins.is_own(of_.top, path)) ||
        (!is_git_directory(path) && of_.origins.was_of_others(in.status)))
      add_if_there_is_room([&] {
        keep_in_place(parent(path));
        kept_.insert(path);
        add_git_directory(path);
      });
    if (lists_name(in, git) && !of_.origins.is_own(of_.top, join(path, git)))
      add_if_there_is_room([&] {
        keep_in_place(path);
        kept_.insert(join(path, git));
        add_repository(path, in);
      });
  }
  /// All of a repository, or nothing of it.
  template <class Action> void add_if_there_is_room(const Action& add_entries) {
    const auto before = static_cast<std::ptrdiff_t>(list_.size());
    add_entries();
    const auto entries = std::ranges::subrange(list_.begin() + before, list_.end());
    std::size_t added = 0;
    const std::string* too_deep = nullptr;
    for (const protected_entry& each : entries) {
      added += each.path.size() + 2;
      if (each.path.size() > of_.entry_bytes_max) too_deep = &each.path;
    }
    is_full_ =
        is_full_ || (too_deep == nullptr && (repositories_ == repositories_max ||
                                             repositories_bytes_ + added > repositories_bytes_max));
    if (!is_full_ && too_deep == nullptr) {
      ++repositories_;
      repositories_bytes_ += added;
      return;
    }
    if (too_deep != nullptr)
      without_.too_deep = *too_deep;
    else
      ++without_.repositories;
    for (const protected_entry& each : entries)
      if (each.how == kind::in_place || each.how == kind::repository)
        kept_.erase(each.path); // a hidden entry may need it
    list_.erase(entries.begin(), entries.end());
  }
  /// The entries beside a `.git`. Names that are not there are not looked for: the repository is
  /// not the workspace.
  void add_repository(const std::string& path, const directory_index::directory& in) {
    add_git_directory(join(path, git));
    add_missing_mark(path, in);
    if (path.empty()) return; // the top has them all
    for (std::size_t rule = 0; rule < of_.names.size(); ++rule)
      if (const auto& [name, mode, asked] = of_.names[rule];
          mode == protection::read_only && first_component(name) != git &&
          std::ranges::any_of(in.names,
                              [&, first = first_component(name)](const std::string& there) {
                                return same_folded(there, first);
                              })) {
        for_each_on_the_way(parent(name), [&, &path = path](std::string_view directory) {
          list_.push_back({kind::in_place, join(path, directory)});
        });
        list_.push_back({kind::read_only_name, join(path, name), rule});
      }
  }
  void add_git_directory(const std::string& path) {
    if (!path.empty()) list_.push_back({kind::repository, path}); // the top stays where it is
    for (std::size_t rule = 0; rule < of_.names.size(); ++rule)
      if (is_within_git(of_.names[rule]))
        list_.push_back(
            {kind::read_only_name, join(path, of_.names[rule].name.substr(git.size() + 1)), rule});
  }
  /// If .git is broken, git takes its parent for a bare repository when HEAD, refs and objects are
  /// there. Keeps the missing one from being created.
  void add_missing_mark(const std::string& path, const directory_index::directory& in) {
    if (is_bare_repository(path, in)) return;
    if (!lists_name(in, git_marks[0]))
      list_.push_back({kind::read_only_name, join(path, git_marks[0]), rule_of_git});
    else // any of the others would do
      for (const std::string_view mark : std::span(git_marks).subspan(1))
        list_.push_back({kind::read_only_name, join(path, mark), rule_of_git});
  }
  /// A directory and what leads to it: moved away, by the command or beside it, they would take
  /// what is protected in them to where nobody looks, or make room for another.
  void keep_in_place(std::string_view directory) {
    for_each_on_the_way(directory, [&](std::string_view each) {
      if (kept_.contains(each)) return;
      kept_.emplace(each);
      list_.push_back({kind::in_place, std::string(each)});
    });
  }

  const known_workspace& of_;
  std::vector<protected_entry> list_;
  omissions without_;
  std::set<std::string, std::less<>> kept_; ///< what stays in place already
  std::size_t repositories_ = 0;
  std::size_t repositories_bytes_ = 0;
  bool is_full_ = false;
};

} // namespace

collected_entries collect_entries(const known_workspace& of) {
  return collector(of).collect();
}

} // namespace paddock
