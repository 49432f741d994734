// SPDX-License-Identifier: MIT
#include "change/asked_rules.hpp"

#include "path/entry_lookup.hpp"

#include <paddock/path/lexical_path.hpp>

#include <utility>

namespace paddock {

struct asked_rules::place {
  int directory;       ///< held
  std::string lies_at; ///< where it really is
  std::string path;    ///< of the entry
  bool is_as_planned;  ///< the directory is at its path
};

/// What the change itself has brought does not count: that the rules allow the parts of the plan
/// together was asked when it was made.
class asked_rules::lookup final : public entry_lookup {
public:
  lookup(const asked_rules& of, const place& at)
      : of_(of), around_(at.directory, at.lies_at), is_as_planned_(at.is_as_planned) {}
  [[nodiscard]] result<file_status> status(std::string_view path) const override {
    auto there = around_.status(path);
    if (!there || !is_as_planned_) return there;
    const auto coming = of_.comes_.find(path);
    if (coming != of_.comes_.end() && of_.is_own_(coming->second, *there))
      return error{error_code::not_found, 0, "change"};
    return there;
  }

private:
  const asked_rules& of_;
  lookup_from around_;
  bool is_as_planned_;
};

asked_rules::asked_rules(const root& root, const change_plan& plan, held_directories& held,
                         is_own own)
    : root_(root), held_(held), is_own_(std::move(own)) {
  std::size_t number = 0;
  for (const change_step& each : plan.steps) {
    if (each.wanted.exists() && !each.present.exists()) comes_.emplace(each.path, number);
    ++number;
  }
  for (const change_move& each : plan.moves)
    comes_.emplace(each.home, number++);
}

result<asked_rules::place> asked_rules::find(held_directories::id in, std::string_view way) {
  PADDOCK_TRY(std::string lies_at, held_.place_of(in));
  PADDOCK_TRY(const int directory, held_.descriptor(in));
  std::string path = join(lies_at, way);
  const bool is_as_planned = lies_at == held_.path(in);
  return place{directory, std::move(lies_at), std::move(path), is_as_planned};
}

result<void> asked_rules::check_there(const place& at, purpose wanted) const {
  // At its path that was asked before: it follows from the path alone.
  if (!at.is_as_planned && root_.is_protected(at.path))
    return error{error_code::protected_entry, 0, held_operation};
  return root_.check_changeable(at.path, wanted, lookup(*this, at));
}

result<void> asked_rules::check_step(held_directories::id in, std::string_view way,
                                     const change_step& step) {
  PADDOCK_TRY(const place at, find(in, way));
  if (at.is_as_planned && step.is_above_rules) return {};
  return check_there(at, step.makes_directory() ? purpose::make_directory : purpose::change);
}

result<void> asked_rules::check_leaving(held_directories::id in, std::string_view name,
                                        entry_kind kind) {
  PADDOCK_TRY(const place at, find(in, name));
  PADDOCK_CHECK(check_there(at, purpose::change));
  const lookup look(*this, at);
  return root_.check_movable_at(at.path, look, kind, look, at.path);
}

result<void> asked_rules::check_coming(held_directories::id in, std::string_view name,
                                       entry_kind kind, int from, std::string_view name_there) {
  PADDOCK_TRY(const place at, find(in, name));
  PADDOCK_CHECK(check_there(at, purpose::change));
  return root_.check_movable_at(at.path, lookup(*this, at), kind, lookup_from(from, ""),
                                name_there);
}

} // namespace paddock
