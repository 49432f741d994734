// SPDX-License-Identifier: MIT
#pragma once

// Who changed what in a sequence, and what a restore has to do, from nothing but whole copies: no
// journal, no inodes, no times. What the copies cannot decide, it leaves open.

#include "support/model/history_model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

/// The first server's agent, with tools and commands; the second server's; servers that are killed;
/// a person, and a person's undo. A step may be of several, as a set of bits.
enum class who : unsigned char { tool, command, second, killed, person, undo };
using authors = unsigned;
constexpr authors bit(who by) {
  return 1U << static_cast<unsigned>(by);
}
constexpr authors persons = bit(who::person) | bit(who::undo);

/// Who asks for changes or a restore.
enum class asker : unsigned char { first, second, person };

/// Rules that are wrong on purpose: the comparison has to find each of them.
enum class wrong : unsigned char {
  nothing,
  mode,
  link,
  bytes,
  deletion,
  author,
  process,    ///< what happens beside a process is a person's
  second,     ///< a second server's work is the first one's
  killed,     ///< and so is that of a killed one
  person,     ///< a person takes back what one server did
  conflict,   ///< without force nothing is in the way
  protection, ///< protected names are restored like all others
  hidden,     ///< and so are hidden ones
};

/// Protected by name, in directories that are always there, and one that is hidden.
inline const std::array<std::string, 3> read_only_names{".envrc", ".vscode/tasks.json",
                                                        ".git/hooks/x"};
inline const std::string hidden_name = ".env";

inline std::string top_of(const std::string& path) {
  return path.substr(0, path.find('/'));
}
inline bool is_reserved(const std::string& path) {
  const std::string top = top_of(path);
  return top == hidden_name || std::ranges::any_of(read_only_names, [&](const std::string& each) {
           return top == top_of(each);
         });
}

class history_ledger {
public:
  struct step {
    authors by = 0;
    model_copy after;
    std::set<std::string> touched; ///< what may have new times
    bool is_restore = false;
  };
  struct share {
    bool own = false, others = false, by_person = false, by_agents = false;
    [[nodiscard]] bool is_mixed() const { return own && others; }
  };
  struct restored {
    asker by = asker::first;
    std::size_t to = 0; ///< the step whose copy it goes to
    bool has_force = false, has_conflicts = false;
    const model_copy &before, &after;
    std::set<std::string> named; ///< among the conflicts and what is left
  };

  std::vector<step> steps;
  std::size_t second_began = 0; ///< the step after which the second server started
  wrong rule = wrong::nothing;
  std::map<std::string, bool> contents; ///< under protected names; true: an agent wrote it

  /// By path: who had a hand in it since a step.
  [[nodiscard]] std::map<std::string, share> since(asker who_asks, std::size_t first) const {
    std::map<std::string, share> all;
    for (std::size_t i = first + 1; i < steps.size(); ++i) {
      const step& each = steps[i];
      const auto mark = [&](const std::string& path) {
        share& of = all[path];
        const authors own = owns(who_asks, i);
        of.own = of.own || (each.by & own) != 0;
        of.others = of.others || (each.by & ~own) != 0;
        of.by_person = of.by_person || (each.by & persons) != 0;
        of.by_agents = of.by_agents || (each.by & ~persons) != 0;
      };
      for (const auto& path : paths_of(steps[i - 1].after, each.after))
        if (is_changed(i, path)) {
          mark(path);
          mark(above(path));
        }
      for (const auto& path : each.touched)
        mark(path);
    }
    return all;
  }
  /// The same of the entries at the top with all that is in them.
  [[nodiscard]] std::map<std::string, share> tops_since(asker who_asks, std::size_t first) const {
    std::map<std::string, share> tops;
    for (const auto& [path, each] : since(who_asks, first)) {
      share& of = tops[top_of(path)];
      of.own = of.own || each.own;
      of.others = of.others || each.others;
    }
    tops.erase("");
    return tops;
  }

  /// What is wrong with a restore; empty: nothing.
  [[nodiscard]] std::string judge(const restored& done) const {
    if (done.has_conflicts && !done.has_force)
      return done.before == done.after ? "" : "there are conflicts, and it was restored\n";
    std::string wrongs;
    const auto tops =
        done.has_force ? std::map<std::string, share>() : tops_since(done.by, done.to);
    const model_copy& wanted = steps[done.to].after;
    auto paths = paths_of(done.before, done.after);
    paths.merge(paths_of(wanted, {}));
    for (const std::string& path : paths) {
      if (path.find(".paddock-tmp-") != path.npos && !done.after.contains(path))
        continue; // a killed tool's
      const auto top = tops.find(top_of(path));
      const bool is_open = top != tops.end() && top->second.is_mixed();
      const bool comes = done.has_force || (top != tops.end() && top->second.own);
      const model_copy& meant = comes ? wanted : done.before;
      const std::string why = is_reserved(path) ? judge_reserved(done, path, comes, is_open)
                              : is_open         ? judge_open(done, path)
                              : is_same(meant, done.after, path) ? ""
                                                                 : "it should be as in the copy";
      if (!why.empty()) wrongs += path + ": " + why + '\n';
    }
    return wrongs;
  }
  /// An agent's file that others changed afterwards, so that there has to be a conflict; empty:
  /// none.
  [[nodiscard]] std::string due_conflict(asker who_asks, std::size_t to) const {
    const model_copy& now = steps.back().after;
    const auto found = std::ranges::find_if(now, [&](const auto& entry) {
      const std::string& path = entry.first;
      if (is_reserved(path) || entry.second.kind != 'f') return false;
      std::size_t own = 0, others = 0; // the first of them
      for (std::size_t i = to + 1; i < steps.size(); ++i) {
        if (!is_changed(i, path)) continue;
        const bool is_own = (steps[i].by & owns(who_asks, i)) != 0;
        const bool is_others = (steps[i].by & ~owns(who_asks, i)) != 0;
        if (steps[i].is_restore || is_own == is_others || (is_own && others != 0)) return false;
        if (std::size_t& first = is_own ? own : others; first == 0) first = i;
      }
      if (own == 0 || others < own) return false;
      const model_copy& before = steps[own - 1].after;
      return !is_same(before, steps[others - 1].after, path) && !is_same(before, now, path);
    });
    return found == now.end() ? "" : found->first;
  }
  /// Whether something has been changed by both, and a conflict may be.
  [[nodiscard]] bool may_conflict(asker who_asks, std::size_t to) const {
    const auto tops = tops_since(who_asks, to);
    return rule != wrong::conflict &&
           std::ranges::any_of(tops, [](const auto& each) { return each.second.is_mixed(); });
  }

private:
  /// Whose work counts as the asker's.
  [[nodiscard]] authors owns(asker who_asks, std::size_t at) const {
    constexpr authors first = bit(who::tool) | bit(who::command);
    constexpr authors agents = first | bit(who::second) | bit(who::killed);
    if (who_asks == asker::person && rule != wrong::person) return agents | bit(who::undo);
    if (who_asks == asker::second) return at <= second_began ? agents : bit(who::second);
    return first | (rule == wrong::second ? bit(who::second) : 0U) |
           (rule == wrong::killed ? bit(who::killed) : 0U);
  }
  [[nodiscard]] bool is_changed(std::size_t at, const std::string& path) const {
    return !is_same(steps[at - 1].after, steps[at].after, path);
  }
  static bool is_same(const model_copy& one, const model_copy& other, const std::string& path) {
    return kind_of_change(one, other, path).empty();
  }

  /// What both have changed stays, or becomes something that it was since.
  [[nodiscard]] std::string judge_open(const restored& done, const std::string& path) const {
    if (is_same(done.before, done.after, path)) return "";
    for (std::size_t i = done.to; i < steps.size(); ++i) {
      const bool is_by_killed = i > done.to && (steps[i].by & bit(who::killed)) != 0;
      if (is_by_killed && steps[i].touched.contains(path)) return ""; // several times in one step
      if (is_same(steps[i].after, done.after, path)) return "";
    }
    return "it was never so";
  }

  /// Nothing that an agent wrote comes back under a protected name; what a person wrote comes back
  /// for a person; what an agent has made goes. What is not as it was is named.
  [[nodiscard]] std::string judge_reserved(const restored& done, const std::string& path,
                                           bool comes, bool is_open) const {
    const bool stays = is_same(done.before, done.after, path);
    if (path == hidden_name && rule != wrong::hidden)
      return stays ? "" : "it is hidden, and was changed";
    const model_copy& wanted = steps[done.to].after;
    if (rule == wrong::protection || path == hidden_name)
      return !comes || is_same(wanted, done.after, path) ? "" : "it should be as in the copy";
    const auto after = done.after.find(path);
    if (!stays && after != done.after.end() && contents.at(after->second.bytes))
      return "an agent wrote it, and it came back";
    if (is_open) return judge_open(done, path);
    if (!comes) return stays ? "" : "others changed it, and it did not stay";
    if (is_same(wanted, done.before, path)) return stays ? "" : "it was so, and did not stay";
    const auto is_it = wanted.find(path);
    const auto by = since(done.by, done.to).find(path)->second; // of several nobody knows
    if (is_it == wanted.end() && by.is_mixed()) return "";
    const bool returns = is_it == wanted.end()
                             ? by.own
                             : done.by == asker::person && !contents.at(is_it->second.bytes);
    if (returns) return is_same(wanted, done.after, path) ? "" : "it should be as in the copy";
    if (!stays) return "it should stay";
    return done.named.contains(path) ? "" : "it stays, and nobody says so";
  }
};

} // namespace paddock::test
