// SPDX-License-Identifier: MIT
#include "mcp/tools/change_planner.hpp"
#include "mcp/tools/change_words.hpp"

#include <algorithm>
#include <utility>

// The parts of a patch. A series of commits names a file again and again: each part is of what
// those before it have made, and they become one change.

namespace paddock::mcp {
namespace {

/// Of files that parts of a patch change once more, for all parts together.
constexpr std::uint64_t bytes_again_max = std::uint64_t{256} * 1024 * 1024;

} // namespace

file_change* change_planner::part_before(std::string_view given, final_link last) {
  if (now_ != the_patch) return nullptr;
  const auto found = claims_.find(resolved(given, last));
  if (found == claims_.end() || found->second.by != now_ || found->second.is_left ||
      found->second.is_refused || found->second.change >= plan_.changes.size())
    return nullptr;
  file_change& earlier = plan_.changes[found->second.change];
  return earlier.bytes || earlier.before ? &earlier : nullptr; // a link has neither
}

file_change* change_planner::made_before(std::string_view given, final_link last) {
  file_change* const earlier = part_before(given, last);
  return earlier != nullptr && earlier->action != change_action::remove ? earlier : nullptr;
}

std::size_t change_planner::number_of(const file_change& change) const {
  return static_cast<std::size_t>(&change - plan_.changes.data());
}

result<void, failed_change> change_planner::check_place(const file_change& earlier,
                                                        const target& what) const {
  if (earlier.action != change_action::move) return {};
  const auto where = root_.locate(decode_name(what.given), final_link::keep);
  if (!where || !where->existing) return {};
  const bool swaps =
      !what.move_to.empty() && resolved(what.move_to, final_link::keep) ==
                                   resolved(encode_name(earlier.from), final_link::keep);
  return failed_change(
      plain(error_code::invalid_argument,
            swaps ? "the patch swaps this file and another, which one call cannot; move one of "
                    "them to a free name first, then the other, each in a call"
                  : "an earlier part of the patch puts another file in the place of this "
                    "one; give the part for this file first, and the rest in another call"),
      what.given);
}

result<void, failed_change> change_planner::move_again(file_change& earlier, const target& what,
                                                       const maker* make) {
  PADDOCK_CHECK(check_place(earlier, what));
  if (make != nullptr) PADDOCK_CHECK(edit_again(earlier, what, *make));
  const std::size_t number = number_of(earlier);
  PADDOCK_CHECK(lead_elsewhere(earlier, what.move_to));
  claims_[resolved(what.given, final_link::follow)].is_left = true;
  claims_[resolved(what.move_to, final_link::keep)].change = number;
  return {};
}

result<change_planner::made_text, failed_change>
change_planner::make_again(const file_change& earlier, const target& what, const maker& make) {
  const std::string& present = earlier.bytes ? *earlier.bytes : *earlier.before;
  bytes_again_ += present.size();
  if (bytes_again_ > bytes_again_max)
    return failed_change(plain(error_code::too_large,
                               "the patch has too many parts of this large file; give its hunks "
                               "one after the other in one part, or in several calls"),
                         what.given);
  auto made = make(present);
  if (!made) {
    failed_change failed = named(std::move(made.error()), what.given);
    say_also(failed.why, "; the parts of the patch before it have changed this file; its lines are "
                         "as they are by then");
    failed.why.hash = earlier.before ? hash_of(*earlier.before) : std::string();
    return failed;
  }
  return *std::move(made);
}

result<void, failed_change> change_planner::set_bytes(file_change& of, const target& what,
                                                      std::string bytes) {
  const std::size_t counted = of.bytes ? of.bytes->size() : 0;
  const std::size_t more = bytes.size() - std::min(bytes.size(), counted);
  if (auto taken = plan_.memory.grow(more, options_.bounds); !taken)
    return failed_change(mcp::refusal_of(taken.error()), what.given);
  of.bytes = std::move(bytes);
  if (what.is_executable) of.is_executable = what.is_executable;
  return {};
}

result<void, failed_change> change_planner::edit_again(file_change& earlier, const target& what,
                                                       const maker& make) {
  PADDOCK_TRY(made_text made, make_again(earlier, what, make));
  PADDOCK_CHECK(set_bytes(earlier, what, std::move(made.bytes)));
  plan_.files[number_of(earlier)].loose.add(made.loose.lines, made.loose.indentation);
  return {};
}

result<void, failed_change> change_planner::remove_again(file_change& earlier, const target& what,
                                                         const maker* remainder) {
  PADDOCK_CHECK(check_place(earlier, what));
  if (remainder != nullptr) {
    PADDOCK_TRY(const made_text rest, make_again(earlier, what, *remainder));
    if (!rest.bytes.empty()) return shows_only_a_part(what.given);
  }
  const std::string name = resolved(what.given, final_link::keep);
  if (earlier.action == change_action::create) return forget(earlier, what, name);
  if (earlier.action == change_action::move) {
    earlier.path = std::exchange(earlier.from, {});
    claims_.erase(name);
    claims_[resolved(encode_name(earlier.path), final_link::keep)].is_left = false;
  }
  earlier.action = change_action::remove;
  earlier.bytes.reset();
  earlier.is_executable.reset();
  return {};
}

result<void, failed_change> change_planner::forget(const file_change& created, const target& what,
                                                   const std::string& name) {
  const auto where = root_.locate(created.path, final_link::keep);
  if (where && where->existing)
    return failed_change(mcp::refusal_of({error_code::already_exists, 0, "change_set"}),
                         what.given);
  const std::size_t number = number_of(created);
  plan_.changes.erase(plan_.changes.begin() + static_cast<std::ptrdiff_t>(number));
  plan_.files.erase(plan_.files.begin() + static_cast<std::ptrdiff_t>(number));
  claims_.erase(name);
  for (auto& [path, claimed] : claims_)
    if (claimed.change > number) --claimed.change;
  return {};
}

result<void, failed_change> change_planner::add(const file_patch& patch) {
  auto planned = plan(patch);
  if (planned) return planned;
  const bool moves = patch.action == patch_action::move;
  for (const std::string& path : {patch.path, moves ? patch.from : std::string()}) {
    if (path.empty()) continue;
    for (const final_link last : {final_link::follow, final_link::keep})
      claims_
          .try_emplace(resolved(encode_name(path), last),
                       claim{now_, encode_name(path), plan_.changes.size()})
          .first->second.is_refused = true;
  }
  return planned;
}

result<void, failed_change> change_planner::plan(const file_patch& patch) {
  const std::string path = encode_name(patch.path), from = encode_name(patch.from);
  const maker make = maker_of(patch);
  now_ = the_patch;
  target what{.given = path, .is_executable = patch.is_executable};
  planned_file source;
  std::string content;
  switch (patch.action) {
  case patch_action::edit:
    return edit(what, make);
  case patch_action::move:
    what.given = from;
    what.move_to = path;
    if (file_change* const earlier = made_before(from))
      return move_again(*earlier, what,
                        patch.hunks.empty() && !patch.is_executable ? nullptr : &make);
    PADDOCK_CHECK(patch.hunks.empty() && !patch.is_executable ? take_away(what) : edit(what, make));
    claims_[resolved(from, final_link::keep)].is_left = true;
    return {};
  case patch_action::remove:
    if (file_change* const earlier = made_before(path, final_link::keep))
      return remove_again(*earlier, what, patch.shows_content ? &make : nullptr);
    return take_away(what, patch.shows_content ? &make : nullptr);
  case patch_action::copy: {
    PADDOCK_TRY(content, read({.given = from}, source));
    if (!what.is_executable) what.is_executable = source.was_executable;
    break;
  }
  case patch_action::create:
    break;
  }
  auto made = make(content);
  if (!made) return named(std::move(made.error()), path);
  if (file_change* const gone = part_before(path, final_link::keep);
      gone != nullptr && gone->action == change_action::remove) {
    gone->action = change_action::replace;
    what.is_executable = what.is_executable.value_or(false);
    return set_bytes(*gone, what, std::move(made->bytes));
  }
  PADDOCK_CHECK(take_file(path, resolved(path, final_link::keep)));
  return create(what, std::move(made->bytes));
}

} // namespace paddock::mcp
