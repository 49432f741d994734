// SPDX-License-Identifier: MIT
#include "change/change_log.hpp"
#include "change/change_run.hpp"
#include "change/change_state.hpp"
#include "change/set_planner.hpp"
#include "sys/syscall.hpp"

#include <paddock/file/change_set.hpp>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr const char* record_name = "record";

/// The texts that the caller has edited.
class edited_texts final : public content_source {
public:
  explicit edited_texts(const std::vector<const std::string*>& texts) : texts_(texts) {}
  [[nodiscard]] result<std::string_view> bytes(const content_ref& of) override {
    return std::string_view(*texts_[of.low]);
  }

private:
  const std::vector<const std::string*>& texts_;
};

change_failure failure_of(const change_run& run, const error& why, const planned_set& planned,
                          bool has_record) {
  change_failure told(why);
  if (const auto change = run.failed_of())
    told = change_failure(why, *change, planned.files[*change].path);
  if (!run.is_torn()) return told;
  told.made = change_extent::some;
  told.detail =
      has_record ? "the next change of several files undoes or completes it"
                 : "not all of it could be undone, and nothing will undo the rest: the old "
                   "content is beside the new, under a name that begins with " +
                       std::string(temporary_prefix);
  return told;
}

std::vector<std::string> paths_of(const change_plan& plan) {
  std::vector<std::string> paths;
  for (const change_step& step : plan.steps)
    paths.push_back(step.path);
  for (const change_move& move : plan.moves) {
    paths.push_back(move.now);
    paths.push_back(move.home);
  }
  return paths;
}

result<interrupted_change> recover(const root& root, const change_state& state,
                                   const work_bounds& bounds) {
  change_log log(state.descriptor(), record_name);
  PADDOCK_TRY(const auto record, log.read());
  if (!record) return interrupted_change::none;
  const std::vector<std::string> paths = paths_of(record->plan);
  PADDOCK_TRY(const auto locks, lock_contents(root, paths, bounds));
  report_plan(record->plan);
  change_run run({.where = root, .log = &log, .bounds = bounds}, record->plan);
  PADDOCK_TRY(const auto end, run.resume(*record));
  if (!run.is_clear()) return error{error_code::io, 0, record_operation};
  return end == change_run::end::finished ? interrupted_change::finished
                                          : interrupted_change::undone;
}

/// Why an earlier change is in the way, and what then helps.
change_failure about_the_last_one(const error& why) {
  std::string_view words = "an earlier change of several files cannot be ended; call again";
  if (why.code == error_code::conflict)
    words = "somebody else is changing several files of this workspace; call again";
  else if (why.code == error_code::cancelled)
    words = "the call was cancelled while an earlier change of several files was ended";
  else if (why.code == error_code::unsupported)
    words = "an earlier change of several files was made by another version of this program; have "
            "that one end it";
  return {why, change_failure::no_change, {}, std::string(words)};
}

} // namespace

result<std::vector<changed_file>, change_failure>
apply_changes(const root& root, std::span<const file_change> changes,
              const change_options& options) {
  if (options.effect == change_effect::check) {
    PADDOCK_TRY(auto planned, plan_changes(root, changes, options));
    return std::move(planned.files);
  }
  const auto state = change_state::open(root, options.state_directory, missing_directories::make,
                                        options.wait_ms, options.bounds);
  if (!state) return about_the_last_one(state.error());
  const bool has_record = state->has_value();
  if (has_record)
    if (const auto before = recover(root, **state, options.bounds); !before)
      return about_the_last_one(before.error());
  PADDOCK_TRY(auto planned, plan_changes(root, changes, options));
  if (planned.plan.steps.empty() && planned.plan.moves.empty()) return std::move(planned.files);
  const auto staging = unused_name(temporary_prefix);
  if (!staging) return change_failure(staging.error());
  planned.plan.staging = staging->view();
  change_log log(has_record ? (*state)->descriptor() : -1, record_name);
  edited_texts texts(planned.texts);
  change_run run({.where = root,
                  .content = &texts,
                  .log = has_record ? &log : nullptr,
                  .bounds = options.bounds},
                 planned.plan);
  if (const auto made = run.make(); !made)
    return failure_of(run, made.error(), planned, has_record);
  return std::move(planned.files);
}

result<interrupted_change> recover_changes(const root& root, std::string_view state_directory,
                                           const work_bounds& bounds) {
  const auto state =
      change_state::open(root, state_directory, missing_directories::leave, 0, bounds);
  if (!state && state.error().os_errno == EAGAIN) return interrupted_change::under_way;
  if (!state) return state.error();
  if (!*state) return interrupted_change::none;
  return recover(root, **state, bounds);
}

std::vector<std::string> interrupted_paths(const root& root, std::string_view state_directory) {
  const auto state = change_state::open(root, state_directory, missing_directories::leave, 0, {});
  if (!state || !*state) return {};
  const auto record = change_log((*state)->descriptor(), record_name).read();
  return record && *record && (*record)->is_staged ? paths_of((*record)->plan)
                                                   : std::vector<std::string>();
}

bool has_foreign_record(const root& root) {
  return sys::entry_status_at(root.descriptor(), ".paddock-changes").has_value();
}

} // namespace paddock
