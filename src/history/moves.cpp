// SPDX-License-Identifier: MIT

// Which of the new names are old things that were moved.

#include "history/change_sets.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace paddock::history {

bool is_same_object(const known_state& before, const known_state& after) {
  if (before.kind != after.kind) return false;
  if (before.modified_ns == after.modified_ns && before.size == after.size) return true;
  return before.kind != known_kind::directory && before.has_content() && after.has_content() &&
         before.content == after.content;
}

namespace {

/// Each gone name is taken for the source of one new name of the same object at most.
class move_finder {
public:
  explicit move_finder(const path_changes& all) : all_(all) {
    for (const auto& [path, each] : all)
      if (each.before.exists() && !each.after.exists()) gone_.emplace(each.before.inode, &path);
  }

  void match(const std::string& path, const path_change& each) {
    if (!is_open(path, each)) return;
    const auto [begin, end] = gone_.equal_range(each.after.inode);
    for (const bool is_by_same : {true, false}) // others may have moved it before the agent did
      for (auto at = begin; at != end; ++at) {
        const bool is_by_agent = all_.find(*at->second)->second.by_agent;
        if ((is_by_agent == each.by_agent) == is_by_same && take(path, each, at)) return;
      }
  }
  /// Where it would have been if it has gone with its directory.
  void match_with_directory(const std::string& path, const path_change& each) {
    if (!is_open(path, each)) return;
    const auto above = moves_.find(parent_of(path));
    if (above == moves_.end()) return;
    const std::string from = above->second + '/' + std::string(last_of(path));
    const auto [begin, end] = gone_.equal_range(each.after.inode);
    for (auto at = begin; at != end; ++at)
      if (*at->second == from && take(path, each, at)) return;
  }
  [[nodiscard]] moves_by_place& moves() noexcept { return moves_; }

private:
  using gone_names = std::multimap<std::uint64_t, const std::string*>;

  [[nodiscard]] bool is_open(const std::string& path, const path_change& each) const {
    return !gone_.empty() && !each.before.exists() && each.after.exists() && !moves_.contains(path);
  }
  bool take(const std::string& path, const path_change& each, gone_names::iterator at) {
    if (!is_same_object(all_.find(*at->second)->second.before, each.after)) return false;
    moves_[path] = *at->second;
    gone_.erase(at);
    return true;
  }

  const path_changes& all_;
  gone_names gone_; ///< by inode
  moves_by_place moves_;
};

} // namespace

moves_by_place moves_in(const path_changes& all) {
  move_finder found(all);
  for (const auto& [path, each] : all)
    if (each.after.kind == known_kind::directory) found.match(path, each);
  for (const auto& [path, each] : all)
    if (each.after.kind != known_kind::directory) found.match_with_directory(path, each);
  for (const auto& [path, each] : all)
    if (each.after.kind != known_kind::directory) found.match(path, each);
  return std::move(found.moves());
}

} // namespace paddock::history
