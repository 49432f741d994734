// SPDX-License-Identifier: MIT
#include "change/change_log.hpp"
#include "change/change_record.hpp"
#include "change/change_run.hpp"
#include "change/set_planner.hpp"
#include "file/replace.hpp"
#include "path/private_directory.hpp"
#include "sys/lock_wait.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/path/root.hpp>

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr const char* lock_name = "lock";

/// Of a workspace, by its path and the directory there.
std::string name_of_state(const root& root) {
  const std::string key = root.path() + '\0' + std::to_string(root.status().device) + '\0' +
                          std::to_string(root.status().inode);
  std::array<char, 17> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), record_sum(key), 16).ptr;
  return std::string(change_state_prefix).append(digits.data(), end);
}

/// Nothing where it cannot be had.
file_descriptor open_state(const root& root, std::string_view state_directory,
                           missing_directories missing) {
  const auto all = open_private_directory(root.status(), state_directory,
                                          "the directory of the history", missing);
  if (!all) return {};
  const std::string name = name_of_state(root);
  if (missing == missing_directories::make && sys::mkdirat(all->fd.get(), name.c_str(), 0700))
    sync_names(all->fd.get());
  auto fd = sys::openat(all->fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const auto status = fd ? sys::fstat(fd->get()) : result<file_status>(fd.error());
  const bool is_private =
      status && status->uid == sys::effective_uid() && (status->mode & 077U) == 0;
  return is_private ? *std::move(fd) : file_descriptor();
}

/// The directory, outside the workspace, that holds the record of a change of several files: one
/// for each workspace. While it is open its lock is held, so one process at a time changes several
/// files of a workspace.
class change_state {
public:
  /// Opens the one below `state_directory`. Nothing if there cannot be one: the directory is not
  /// named, missing, cannot be made, or an agent could write there. Waits for the lock for at most
  /// `wait_ms`. Errors: conflict (it is still held), cancelled, timed_out.
  static result<std::optional<change_state>>
  open(const root& root, std::string_view state_directory, missing_directories missing,
       std::uint64_t wait_ms, const work_bounds& bounds) {
    if (state_directory.empty()) return std::optional<change_state>();
    return sys::wait_for_lock(wait_ms, "change lock", bounds,
                              [&] { return try_open(root, state_directory, missing); });
  }

  [[nodiscard]] int descriptor() const noexcept { return directory_.get(); }

private:
  change_state(file_descriptor directory, file_descriptor lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}
  /// EAGAIN while the lock is held.
  static result<std::optional<change_state>>
  try_open(const root& root, std::string_view state_directory, missing_directories missing) {
    std::optional<change_state> none;
    for (;;) {
      file_descriptor directory = open_state(root, state_directory, missing);
      if (!directory) return none;
      auto lock =
          sys::openat(directory.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
      if (!lock && lock.error().code == error_code::not_found) continue; // removed just now
      if (!lock) return none;
      const auto locked = sys::try_flock(lock->get());
      PADDOCK_TRY(const auto status, sys::fstat(lock->get()));
      if (status.links == 0) continue; // the same: who ages states out was faster
      if (locked) return std::optional(change_state(std::move(directory), *std::move(lock)));
      return locked.error();
    }
  }

  file_descriptor directory_;
  file_descriptor lock_;
};

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
  told.detail = has_record
                    ? "the next change of several files undoes or completes it"
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
