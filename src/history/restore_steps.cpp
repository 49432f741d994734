// SPDX-License-Identifier: MIT
#include "history/restore_steps.hpp"

#include "history/scan.hpp"
#include "history/store_impl.hpp"

#include <map>
#include <set>
#include <utility>

namespace paddock::history {
namespace {

entry_stamp stamp_of_state(const known_state& state) {
  if (!state.exists()) return {};
  return {.kind = entry_kind_of(state.kind),
          .mode = state.mode,
          .size = state.size,
          .modified_ns = state.modified_ns,
          .inode = state.inode};
}

known_state state_of_stamp(const entry_stamp& stamp) {
  known_state state;
  if (!stamp.exists()) return state;
  state.kind = known_kind_of(*stamp.kind);
  state.mode = stamp.mode;
  state.size = stamp.size;
  state.modified_ns = stamp.modified_ns;
  state.inode = stamp.inode;
  return state;
}

class step_maker {
public:
  step_maker(const store::impl& of, const restore_plan& plan) : of_(of), plan_(plan) {
    for (const restore_move& each : plan.moves)
      homes_[each.from] = &each;
  }

  change_plan make(std::string staging) {
    change_plan out{.how = {.keeps_directories = true, .is_durable = true},
                    .staging = std::move(staging)};
    for (const restore_move& each : plan_.moves) {
      add_directories(parent_of(each.from));
      add_directories(parent_of(each.to));
      out.moves.push_back(
          {.now = each.to, .home = each.from, .object = stamp_of_state(each.object)});
    }
    for (const restore_step& each : plan_.steps) {
      add_directories(parent_of(each.path));
      if (each.wanted.kind == known_kind::directory) add_directories(each.path);
      const bool is_replaced = each.present.kind == known_kind::file && !brought_by(each.path);
      out.steps.push_back(
          {.path = each.path,
           .present = stamp_of_state(each.present),
           .wanted = stamp_of_state(each.wanted),
           .keeps_content = each.wanted.is_content() && stays(each),
           .content = {.high = each.wanted.content.high, .low = each.wanted.content.low},
           .has_wanted_attributes = true,
           .taken_from = is_replaced ? each.path : std::string(),
           .is_above_rules = each.is_above_rules});
    }
    for (const std::string& path : directories_)
      add_known(path, out.directories);
    return out;
  }

private:
  /// The move that the path is brought back by: the innermost.
  [[nodiscard]] const restore_move* brought_by(std::string_view path) const {
    for (; !path.empty() && !homes_.empty(); path = parent_of(path))
      if (const auto found = homes_.find(path); found != homes_.end()) return found->second;
    return nullptr;
  }
  /// Where what comes to lie at a path was when it was looked at.
  [[nodiscard]] std::string before_moves(const std::string& path) const {
    const restore_move* const by = brought_by(path);
    return by == nullptr ? path : by->to + path.substr(by->from.size());
  }

  /// Whether the entry stays and its content with it. A file that has come by its name, and has
  /// other names, does not: what it is given they would be given, too.
  [[nodiscard]] bool stays(const restore_step& step) const {
    if (step.present.kind != step.wanted.kind || !step.wanted.same_content(step.present))
      return false;
    if (step.wanted.kind != known_kind::file || step.wanted.inode == step.present.inode ||
        !of_.packs.has(step.wanted.content))
      return true;
    const auto status = plain_status(*of_.workspace, before_moves(step.path));
    return !status || status->links < 2;
  }

  /// With those above it.
  void add_directories(std::string_view path) {
    for (; !path.empty() && directories_.emplace(path).second; path = parent_of(path)) {
    }
  }
  /// As the last look has met them. Where it has met none there is none that is worked in, but for
  /// one that is made.
  void add_known(const std::string& path, std::vector<known_directory>& out) const {
    const known_state before = of_.index.find(before_moves(path)), now = of_.index.find(path);
    if (before.kind == known_kind::directory) out.push_back({.path = path, .inode = before.inode});
    if (now.kind == known_kind::directory && now.inode != before.inode)
      out.push_back({.path = path, .inode = now.inode});
    if (out.empty() || out.back().path != path) out.push_back({.path = path});
  }

  const store::impl& of_;
  const restore_plan& plan_;
  std::map<std::string_view, const restore_move*> homes_; ///< by where they go back to
  std::set<std::string, std::less<>> directories_;
};

} // namespace

change_plan steps_of(const store::impl& of, const restore_plan& plan, std::string staging) {
  return step_maker(of, plan).make(std::move(staging));
}

restore_plan restored_by(const change_plan& plan) {
  restore_plan out;
  for (const change_move& each : plan.moves)
    out.moves.push_back({each.home, each.now, state_of_stamp(each.object)});
  for (const change_step& each : plan.steps)
    out.steps.push_back({each.path, state_of_stamp(each.wanted), state_of_stamp(each.present)});
  return out;
}

} // namespace paddock::history
