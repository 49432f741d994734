// SPDX-License-Identifier: MIT

// What a change has set aside is cleared away at its end, or kept where it is seen.

#include "change/change_run.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <charconv>
#include <set>

namespace paddock {
namespace {

constexpr std::string_view kept_prefix = "paddock-kept-";

} // namespace

/// Whether the entry at the temporary name is the one the change left there, unchanged since.
result<bool> change_run::may_go(rest kind, std::size_t number) {
  if (kind == rest::moved || number >= plan_.steps.size()) return false;
  if (kind == rest::staged && !has_begun_) return true; // it was never anywhere else
  if (wanted_.contains(rest_name(kind, number))) return false;
  PADDOCK_TRY(const location at, place_aside_of(kind, number));
  const auto status = sys::status_at(at.directory, at.name.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!status && status.error().code == error_code::not_found) return false;
  if (!status) return status.error();
  const entry_stamp now = stamp_of(*status);
  return is_like(plan_.steps[number].present, now) ||
         (kind == rest::staged && is_like(staged_[number], now));
}

bool change_run::may_go(std::string_view name) {
  std::size_t number = SIZE_MAX;
  if (name.size() < 2) return false;
  const auto read = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (read.ptr != name.data() + name.size()) return false;
  for (const rest kind : {rest::staged, rest::aside})
    if (name.front() == static_cast<char>(kind)) return may_go(kind, number).value_or(false);
  return false;
}

bool change_run::clear() {
  if (plan_.how.is_beside) return clear_beside();
  bool is_gone = false;
  for (int attempt = 0; attempt < 2 && !is_gone; ++attempt)
    is_gone = clear_apart();
  if (!is_gone) is_gone = keep_rest();
  if (plan_.how.keeps_directories && touched_.contains(held_directories::top))
    set_directory(held_directories::top, touched_[held_directories::top]);
  return is_gone;
}

/// An entry that is somebody's by now stays where it is.
bool change_run::clear_beside() {
  bool is_gone = true;
  std::set<held_directories::id> cleared;
  const auto remove = [&](rest kind, std::size_t number) -> result<void> {
    PADDOCK_TRY(const bool goes, may_go(kind, number));
    if (!goes) return {};
    PADDOCK_TRY(const auto home, held_.look(home_of(plan_.steps[number].path)));
    cleared.insert(home);
    PADDOCK_TRY(const location at, place_aside_of(kind, number));
    return sys::unlinkat(at.directory, at.name.c_str(), 0);
  };
  for (const auto& [kind, number] : resting_) {
    const auto gone = remove(kind, number);
    if (gone || gone.error().code == error_code::not_found) continue;
    // What can never be removed must not block every later change.
    is_gone = is_gone && is_end_ && !may_pass(gone.error());
  }
  for (const held_directories::id each : cleared)
    if (plan_.how.is_durable && !sync(each)) is_gone = false;
  return is_gone;
}

bool change_run::clear_apart() {
  if (!staging_) {
    auto found = private_staging::find(root_, own_, plan_.staging);
    if (!found) return found.error().code == error_code::not_found;
    staging_ = *std::move(found);
  }
  const auto names = staging_.names();
  if (!names) return names.error().code == error_code::not_found;
  for (const std::string& name : *names)
    if (may_go(name)) (void)sys::unlinkat(staging_.descriptor(), name.c_str(), 0).has_value();
  return staging_.remove().has_value();
}

/// What is not this run's to remove stays, where it is seen.
bool change_run::keep_rest() {
  const auto names =
      staging_ ? staging_.names()
               : result<std::vector<std::string>>(error{error_code::not_found, 0, "staging"});
  if (!names) return false;
  std::string first;
  std::size_t count = 0;
  for (const std::string& name : *names) {
    if (may_go(name)) continue;
    if (count++ == 0) first = name;
  }
  if (count == 0) return false; // the next one clears it away
  const auto seen = unused_name(kept_prefix);
  const bool is_seen = seen && staging_.show(*seen);
  const std::string where = is_seen ? std::string(seen->view()) : plan_.staging;
  const auto wanted = wanted_.find(first);
  kept_ = "what could not go back to ";
  kept_ += wanted != wanted_.end() ? wanted->second : "its place";
  kept_ += " is in " + where + '/' + first;
  if (count > 1) kept_ += ", with " + std::to_string(count - 1) + " more";
  return is_seen;
}

} // namespace paddock
