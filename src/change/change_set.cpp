// SPDX-License-Identifier: MIT
#include "change/change_journal.hpp"
#include "change/change_plan.hpp"
#include "change/change_recovery.hpp"
#include "file/attributes.hpp"
#include "file/durable.hpp"
#include "file/leftover.hpp"
#include "path/own_names.hpp"
#include "sys/syscall.hpp"

#include <paddock/file/change_set.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <cerrno>
#include <deque>
#include <string>
#include <utility>

namespace paddock {
namespace {

/// A rename changes the time of the last change and nothing else.
bool same_but_for_name(const file_status& a, const file_status& b) {
  return a.same_object(b) && a.size == b.size && a.modified_ns == b.modified_ns;
}

bool lacks_exchange(const error& e) {
  return e.os_errno == EINVAL || e.os_errno == ENOSYS;
}

/// Makes a plan come true.
class change_work {
public:
  change_work(const root& root, change_plan plan, const change_options& options)
      : plan_(std::move(plan)), options_(options), record_(record_of(plan_, options)),
        ground_(root, record_, change_ground::record_is::own) {
    for (const planned_step& planned : plan_.steps)
      for (const std::string* name : {&planned.step.temporary, &planned.step.aside})
        if (auto checked = component::from(*name)) names_.emplace_back(*checked);
  }

  result<void, change_failure> make(change_journal* journal) {
    auto done = journal != nullptr ? journal->begin(record_) : result<void>();
    if (done) done = stage_all();
    bool has_begun_renaming = false;
    if (done) done = reach(journal, change_stage::staged);
    if (done) {
      has_begun_renaming = true;
      done = rename_all();
    }
    if (done) done = sync_places(ground_, record_);
    if (done && journal != nullptr) done = journal->write_stage(change_stage::done);
    if (!done) return give_up(journal, done.error(), has_begun_renaming);
    now_ = change_failure::no_change;
    const auto synced = record_.is_durable && journal != nullptr ? journal->sync() : result<void>();
    if (const auto cleared = clear(); cleared && journal != nullptr) journal->end();
    if (synced) return {};
    change_failure late = failure(synced.error());
    late.made = change_extent::all;
    late.detail = "all is changed, but a power cut may still undo it";
    return late;
  }

private:
  static change_record record_of(const change_plan& plan, const change_options& options) {
    change_record record{.is_durable = options.durability != durability::none,
                         .places = plan.places,
                         .directories = plan.directories};
    for (const planned_step& planned : plan.steps)
      record.steps.push_back(planned.step);
    return record;
  }

  [[nodiscard]] change_failure failure(const error& why) const {
    if (now_ >= plan_.steps.size()) return change_failure(why);
    const std::size_t change = plan_.steps[now_].change;
    return {why, change, plan_.files[change].path};
  }

  /// What is on the disk by then is what the stage says.
  result<void> reach(change_journal* journal, change_stage stage) {
    now_ = change_failure::no_change;
    PADDOCK_CHECK(sync_places(ground_, record_));
    if (journal == nullptr) return {};
    PADDOCK_CHECK(journal->write_stage(stage));
    return record_.is_durable ? journal->sync() : result<void>();
  }

  /// The directory of an entry, held, where something new may come into it now.
  result<place> find(const std::string& path) {
    PADDOCK_CHECK(ground_.check_place(path));
    PADDOCK_TRY(auto where, ground_.find(path));
    if (!where) return error{error_code::conflict, 0, "change_set"};
    return *std::move(where);
  }

  result<void> stage_all() {
    PADDOCK_CHECK(make_directories());
    for (now_ = 0; now_ < plan_.steps.size(); ++now_) {
      PADDOCK_CHECK(options_.bounds.check());
      const planned_step& planned = plan_.steps[now_];
      if (planned.bytes != nullptr) PADDOCK_CHECK(stage(planned));
    }
    return {};
  }

  result<void> make_directories() {
    for (const std::string& path : record_.directories) {
      for (now_ = 0; now_ + 1 < plan_.steps.size(); ++now_)
        if (plan_.steps[now_].step.path.starts_with(path + '/')) break;
      PADDOCK_CHECK(ground_.make(path));
      if (!record_.is_durable) continue;
      PADDOCK_TRY(const auto above, ground_.open_directory(parent(path)));
      PADDOCK_CHECK(sys::fsync(above.get()));
    }
    return {};
  }

  /// Writes what a file is to be, beside its place.
  result<void> stage(const planned_step& planned) {
    const change_step& step = planned.step;
    PADDOCK_TRY(const auto where, find(step.path));
    PADDOCK_TRY(const auto temporary, component::from(step.temporary));
    const bool is_new = planned.attributes_of.empty();
    const unsigned mode = planned.is_executable.value_or(false) ? 0777 : 0666;
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY;
    PADDOCK_TRY(const auto fd,
                sys::openat(where.parent.get(), temporary.c_str(), flags, is_new ? mode : 0600));
    PADDOCK_CHECK(write_all(fd.get(), *planned.bytes, options_.bounds));
    if (!is_new) {
      PADDOCK_TRY(const auto old, find(planned.attributes_of));
      if (!old.existing || old.existing->kind != entry_kind::file)
        return error{error_code::conflict, 0, "change_set"};
      PADDOCK_CHECK(take_over_attributes(fd.get(), old));
      PADDOCK_CHECK(set_execution(fd.get(), planned.is_executable));
    }
    return record_.is_durable ? sync_file(fd.get(), durability::full) : result<void>();
  }

  static result<void> set_execution(int fd, std::optional<bool> wanted) {
    if (!wanted) return {};
    PADDOCK_TRY(const auto now, sys::fstat(fd));
    constexpr unsigned all = 0111;
    const unsigned mode = *wanted ? now.mode | ((now.mode & 0444U) >> 2U) : now.mode & ~all;
    if (mode == now.mode) return {};
    return sys::fchmod(fd, mode);
  }

  result<void> rename_all() {
    for (now_ = 0; now_ < plan_.steps.size(); ++now_)
      PADDOCK_CHECK(rename(plan_.steps[now_]));
    return {};
  }

  result<void> rename(const planned_step& planned) {
    const change_step& step = planned.step;
    PADDOCK_TRY(const auto where, find(step.path));
    const int parent = where.parent.get();
    if (step.what == change_step::kind::move) return rename_from(planned, where);
    PADDOCK_TRY(const auto temporary, component::from(step.temporary));
    switch (step.what) {
    case change_step::kind::create:
      return move_to_unused(parent, temporary, parent, where.name);
    case change_step::kind::remove:
      PADDOCK_CHECK(move_to_unused(parent, where.name, parent, temporary));
      return check_old(planned, parent, temporary);
    case change_step::kind::replace:
    case change_step::kind::move:
      break;
    }
    return replace(planned, where, temporary);
  }

  /// The new file takes the place of the old one, which gets a temporary name.
  static result<void> replace(const planned_step& planned, const place& where,
                              const component& temporary) {
    const int parent = where.parent.get();
    const char* const name = where.name.c_str();
    const auto done = sys::renameat2(parent, temporary.c_str(), parent, name, RENAME_EXCHANGE);
    if (done) return check_old(planned, parent, temporary);
    if (!lacks_exchange(done.error())) return done;
    PADDOCK_TRY(const auto aside, component::from(planned.step.aside));
    if (!sys::linkat(parent, name, parent, aside.c_str(), 0))
      PADDOCK_CHECK(sys::renameat2(parent, name, parent, aside.c_str(), 0));
    PADDOCK_CHECK(check_old(planned, parent, aside));
    return sys::renameat2(parent, temporary.c_str(), parent, name, 0);
  }

  /// What was taken away is what was looked at: nobody has put something else there meanwhile.
  static result<void> check_old(const planned_step& planned, int directory, const component& name) {
    PADDOCK_TRY(const auto now, sys::status_at(directory, name.c_str(), AT_SYMLINK_NOFOLLOW));
    if (!same_but_for_name(now, planned.old)) return error{error_code::conflict, 0, "change_set"};
    return {};
  }

  result<void> rename_from(const planned_step& planned, const place& to) {
    PADDOCK_TRY(const auto from, find(planned.step.from));
    if (!from.existing || !same_but_for_name(*from.existing, planned.old))
      return error{error_code::conflict, 0, "change_set"};
    const int parent = from.parent.get();
    if (to.existing && to.existing->same_object(*from.existing)) // another spelling of its name
      return sys::renameat2(parent, from.name.c_str(), to.parent.get(), to.name.c_str(), 0);
    return move_to_unused(parent, from.name, to.parent.get(), to.name);
  }

  change_failure give_up(change_journal* journal, const error& why, bool has_begun_renaming) {
    change_failure told = failure(why);
    if (has_begun_renaming) {
      auto undone = undo_steps(ground_, record_);
      if (undone) undone = sync_places(ground_, record_);
      if (!undone) {
        told.made = change_extent::some;
        told.detail =
            journal != nullptr
                ? "what was made of it is taken back by the next change of several files"
                : "not all of it could be taken back, and nothing does that later: what was there "
                  "lies beside its place, under a name that begins with " +
                      std::string(temporary_prefix);
        return told;
      }
      // Without it the way back would be looked for once more, and not be found.
      if (journal != nullptr && journal->write_stage(change_stage::undone) && record_.is_durable)
        (void)journal->sync().has_value();
    }
    const auto cleared = clear();
    (void)remove_made_directories(ground_, record_).has_value();
    if (cleared && journal != nullptr) journal->end();
    return told;
  }

  [[nodiscard]] result<void> clear() const {
    PADDOCK_CHECK(remove_temporary(ground_, record_));
    return sync_places(ground_, record_);
  }

  change_plan plan_;
  const change_options& options_;
  change_record record_;
  change_ground ground_;
  std::deque<name_in_use> names_;               ///< nobody here lists them
  std::size_t now_ = change_failure::no_change; ///< the step that is worked on
};

result<interrupted_change> recover(const root& root, change_journal& journal,
                                   const work_bounds& bounds) {
  PADDOCK_TRY(const auto record, journal.read());
  if (!record) return interrupted_change::none;
  const change_ground ground(root, *record, change_ground::record_is::found, bounds);
  std::vector<std::string> paths;
  for (const change_step& step : record->steps) {
    paths.push_back(step.path);
    if (!step.from.empty()) paths.push_back(step.from);
  }
  PADDOCK_TRY(const auto locks, lock_contents(root, paths, bounds));
  if (record->stage == change_stage::staged) {
    PADDOCK_CHECK(undo_steps(ground, *record));
    PADDOCK_CHECK(sync_places(ground, *record));
    PADDOCK_CHECK(journal.write_stage(change_stage::undone));
    if (record->is_durable) PADDOCK_CHECK(journal.sync());
  }
  PADDOCK_CHECK(remove_temporary(ground, *record));
  const bool is_done = record->stage == change_stage::done;
  if (!is_done) PADDOCK_CHECK(remove_made_directories(ground, *record));
  PADDOCK_CHECK(sync_places(ground, *record));
  return is_done ? interrupted_change::finished : interrupted_change::undone;
}

/// Why an earlier change stands in the way, and what then helps.
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
    PADDOCK_TRY(auto plan, plan_changes(root, changes, options));
    return std::move(plan.files);
  }
  auto found = change_journal::open(root, options.state_directory, missing_directories::make,
                                    options.wait_ms, options.bounds);
  if (!found) return about_the_last_one(found.error());
  change_journal* const journal = *found ? &**found : nullptr;
  if (journal != nullptr)
    if (const auto before = recover(root, *journal, options.bounds); !before)
      return about_the_last_one(before.error());
  auto plan = plan_changes(root, changes, options);
  if (!plan || plan->steps.empty()) {
    if (journal != nullptr) journal->end();
    if (!plan) return std::move(plan).error();
    return std::move(plan->files);
  }
  std::vector<changed_file> files = plan->files;
  PADDOCK_CHECK(change_work(root, *std::move(plan), options).make(journal));
  return files;
}

result<interrupted_change> recover_changes(const root& root, std::string_view state_directory,
                                           const work_bounds& bounds) {
  auto journal = change_journal::open(root, state_directory, missing_directories::leave, 0, bounds);
  if (!journal && journal.error().os_errno == EAGAIN) return interrupted_change::under_way;
  if (!journal) return journal.error();
  if (!*journal) return interrupted_change::none;
  PADDOCK_TRY(const auto found, recover(root, **journal, bounds));
  (*journal)->end();
  return found;
}

bool has_foreign_record(const root& root) {
  return sys::entry_status_at(root.descriptor(), change_record_name).has_value();
}

} // namespace paddock
