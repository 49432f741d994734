// SPDX-License-Identifier: MIT
#include "history/restore_rules.hpp"

#include "history/git_keeping.hpp"
#include "path/git_names.hpp"

#include <paddock/history/naming.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/path/protected_names.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::history {
namespace {

/// Content, or a mode: with that, programs would run what they do not run now.
bool comes_anew(const placed_change& each) {
  const known_state& wanted = each.wanted;
  return wanted.exists() && !(wanted.is_content() ? wanted.same_but_for_time(each.present)
                                                  : wanted.same_content(each.present));
}

} // namespace

/// What an agent wrote under a protected name never comes back there, whoever asks: a process may
/// have made it, and a checkpoint have fallen into its life.
void restore_rules::find_unfit(const was_there& has, const is_meant& meant) {
  wanted_states asked;
  for (const auto& [path, each] : placed_)
    if (comes_anew(each) && meant(path) &&
        (is_obeyed(of_, path, has) || (each.wanted.kind == known_kind::link && is_of_git(path)))) {
      asked.emplace(path, each.wanted);
      obeyed_.insert(path);
    }
  by_agents_ = written_by_agents_among(of_, std::move(asked), has);
}

/// What the agent has made, such as a repository, goes again, whatever it is called. To whom else
/// it belongs by now a person may decide.
bool restore_rules::is_made_by_agent(const placed_change& each) const {
  return !each.wanted.exists() && each.by_agent && (!each.by_other || is_persons()) &&
         !each.is_theirs;
}
/// What git alone writes, such as its HEAD, commands may change: so what the agent has done to it
/// can be taken back, whoever had it before. In a `.git` what else counts in it is protected by
/// itself, and elsewhere no repository is put together.
bool restore_rules::is_gits_own(const std::string& path, const placed_change& each,
                                const error& refused) const {
  const bool is_mark = std::ranges::find(git_marks, file_name(path)) != std::end(git_marks);
  return std::string_view(refused.operation) == git_own_name && (each.by_agent || is_persons()) &&
         (!git_around(path).empty() || !is_mark || each.wanted.kind == each.present.kind);
}
/// What a person wrote last under a protected name a person may have back, where it was.
bool restore_rules::is_persons_own(const std::string& path, const placed_change& each,
                                   const error& refused) const {
  return is_persons() && refused.code == error_code::write_protected &&
         std::string_view(refused.operation) != git_own_name && each.wanted.exists() &&
         !by_agents_.all.contains(path) && has_same_home(path);
}
/// What the agent has made of its own repository goes back to what it was, which runs nothing:
/// `git config` there keeps nothing else back. Neither does a time, which no rule is about.
bool restore_rules::is_harmless(const std::string& path, const placed_change& each) const {
  const bool is_agents = each.by_agent && (!each.other_since || is_persons());
  const bool is_time_alone = each.wanted.same_but_for_time(each.present);
  return is_agents && (is_time_alone || each.wanted.kind == known_kind::directory ||
                       (by_agents_.all.contains(path) && !by_agents_.unfit.contains(path)));
}
/// Whether no other directory has got the place of one that was above it: what was in that one,
/// as a person's or an agent's, is not for this one.
bool restore_rules::has_same_home(const std::string& path) const {
  const auto homes = by_agents_.homes.find(path);
  std::size_t level = 0;
  for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above), ++level) {
    const auto found = placed_.find(above);
    const known_state& now = found == placed_.end() ? of_.index.find(above) : found->second.present;
    if (now.kind != known_kind::directory) continue; // it comes, too
    const std::uint64_t then = homes != by_agents_.homes.end() ? homes->second[level]
                               : found == placed_.end()        ? 0
                                                               : found->second.wanted.inode;
    if (then != 0 && then != now.inode) return false;
  }
  return true;
}
/// In a directory that is not there a command, too, could make whatever it wants. What others
/// have taken away is not the agent's to bring back there.
bool restore_rules::comes_with_its_directory(const std::string& path,
                                             const placed_change& each) const {
  const bool is_askers = is_persons() || (each.by_agent && !each.other_since);
  if (each.present.exists() || !is_askers) return false;
  for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above)) {
    const auto found = placed_.find(above);
    if (found == placed_.end() || found->second.present.exists()) return false;
    if (found->second.wanted.kind == known_kind::directory &&
        of_.workspace->check_changeable(above, purpose::make_directory))
      return true;
  }
  return false;
}

result<void> restore_rules::ask_rules(const std::string& path, const placed_change& each) const {
  const auto wanted =
      each.wanted.kind == known_kind::directory ? purpose::make_directory : purpose::change;
  PADDOCK_CHECK(of_.workspace->check_changeable(path, wanted));
  return of_.workspace->check_changeable(place_now_(path), wanted);
}
/// Asked once: the next answer could be about another directory. So could the one of find_unfit
/// have been, unless it was the same.
std::optional<error> restore_rules::refusal(const std::string& path, const placed_change& each) {
  const auto allowed = ask_rules(path, each);
  if (allowed) return std::nullopt;
  const bool was_other = comes_anew(each) &&
                         std::string_view(allowed.error().operation) != git_own_name &&
                         !obeyed_.contains(path);
  const bool is_fit = is_made_by_agent(each) || comes_with_its_directory(path, each) ||
                      is_gits_own(path, each, allowed.error()) ||
                      is_persons_own(path, each, allowed.error()) || is_harmless(path, each);
  if (!was_other && is_fit) {
    above_rules_.insert(path);
    return std::nullopt;
  }
  return allowed.error();
}
} // namespace paddock::history
