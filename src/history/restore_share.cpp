// SPDX-License-Identifier: MIT
#include "history/restore_share.hpp"

#include "history/path_tops.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::history {
namespace {

bool is_alike(const known_state& seen, const known_state& planned) {
  return seen.kind == planned.kind &&
         (seen.kind == known_kind::directory ||
          (seen.size == planned.size && seen.modified_ns == planned.modified_ns));
}

class sharer {
public:
  sharer(const file_index& index, const restore_plan& plan) : index_(index) {
    for (const restore_step& each : plan.steps) {
      steps_[each.path] = &each;
      above_.insert(parent_of(each.path));
    }
    for (const restore_move& each : plan.moves) {
      moved_to_[each.from] = each.to;
      from_.add(each.from);
      to_.add(each.to);
      above_.insert(parent_of(each.from));
      above_.insert(parent_of(each.to));
    }
  }

  [[nodiscard]] bool is_own(const met_entry& met) const {
    const auto step = steps_.find(met.path);
    if (step != steps_.end() &&
        (is_alike(met.seen, step->second->wanted) || is_alike(met.seen, step->second->present)))
      return true;
    if (from_.cover(met.path) && is_same(met.seen, index_.find(moved(met.path)))) return true;
    if (to_.cover(met.path) && is_same(met.seen, index_.find(met.path))) return true;
    if (met.seen.kind != known_kind::directory || !above_.contains(met.path)) return false;
    const known_state before = index_.find(met.path);
    return before.kind == known_kind::directory && before.mode == met.seen.mode;
  }
  [[nodiscard]] bool is_own_end(const std::string& path) const {
    const auto step = steps_.find(path);
    return to_.cover(path) || (step != steps_.end() && !step->second->wanted.exists());
  }

private:
  static bool is_same(const known_state& seen, const known_state& before) {
    return before.exists() && seen.inode == before.inode && is_alike(seen, before);
  }
  /// Where what is now at the path was before it went back.
  [[nodiscard]] std::string moved(std::string_view path) const {
    for (std::string_view top = path; !top.empty(); top = parent_of(top))
      if (const auto found = moved_to_.find(top); found != moved_to_.end())
        return std::string(found->second).append(path.substr(top.size()));
    return std::string(path);
  }

  const file_index& index_;
  std::map<std::string_view, const restore_step*> steps_;
  std::map<std::string_view, std::string_view> moved_to_;
  path_tops from_, to_;
  std::set<std::string_view> above_;
};

} // namespace

restore_share share_of(const file_index& index, const restore_plan& plan, scan_outcome&& found) {
  const sharer all(index, plan);
  restore_share out;
  for (met_entry& each : found.met)
    (all.is_own(each) ? out.own : out.others).met.push_back(std::move(each));
  for (std::string& path : found.gone)
    (all.is_own_end(path) ? out.own : out.others).gone.push_back(std::move(path));
  return out;
}

} // namespace paddock::history
