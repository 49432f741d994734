// SPDX-License-Identifier: MIT
#include "file/attributes.hpp"
#include "file/change_journal.hpp"
#include "file/change_plan.hpp"
#include "file/change_recovery.hpp"
#include "file/durable.hpp"
#include "file/leftover.hpp"
#include "path/own_names.hpp"
#include "sys/syscall.hpp"

#include <paddock/file/change_set.hpp>

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
      : root_(root), plan_(std::move(plan)), options_(options) {
    record_.is_durable = options.durability != durability::none;
    record_.directories = std::move(plan_.directories);
    for (const planned_step& planned : plan_.steps) {
      record_.steps.push_back(planned.step);
      for (const std::string* name : {&planned.step.temporary, &planned.step.aside})
        if (auto checked = component::from(*name)) names_.emplace_back(*checked);
    }
  }

  result<void, change_failure> make(change_journal& journal) {
    auto done = journal.begin(record_);
    if (done) done = stage_all();
    bool has_begun_renaming = false;
    if (done) done = reach(journal, change_stage::staged);
    if (done) {
      has_begun_renaming = true;
      done = rename_all();
    }
    if (done) done = sync_places(change_ground(root_), record_);
    if (done) done = journal.write_stage(change_stage::done);
    if (!done) return give_up(journal, done.error(), has_begun_renaming);
    now_ = change_failure::no_change;
    const auto synced = record_.is_durable ? journal.sync() : result<void>();
    if (const auto cleared = clear(); cleared) journal.end();
    if (synced) return {};
    change_failure late = failure(synced.error());
    late.made = change_extent::all;
    late.detail = "all is changed, but a power cut may still undo it";
    return late;
  }

private:
  [[nodiscard]] change_failure failure(const error& why) const {
    if (now_ >= plan_.steps.size()) return change_failure(why);
    const std::size_t change = plan_.steps[now_].change;
    return {why, change, plan_.files[change].path};
  }

  /// What is on the disk by then is what the stage says.
  result<void> reach(change_journal& journal, change_stage stage) {
    now_ = change_failure::no_change;
    PADDOCK_CHECK(sync_places(change_ground(root_), record_));
    PADDOCK_CHECK(journal.write_stage(stage));
    return record_.is_durable ? journal.sync() : result<void>();
  }

  result<void> stage_all() {
    for (now_ = 0; now_ < plan_.steps.size(); ++now_) {
      PADDOCK_CHECK(options_.bounds.check());
      const planned_step& planned = plan_.steps[now_];
      if (planned.bytes != nullptr) PADDOCK_CHECK(stage(planned));
      if (planned.step.what == change_step::kind::move) PADDOCK_CHECK(make_parents(planned.step));
    }
    return {};
  }

  result<void> make_parents(const change_step& step) {
    PADDOCK_TRY(const auto where, root_.locate(step.path, final_link::keep, parents::create));
    if (where.path != step.path) return error{error_code::conflict, 0, "change_set"};
    return record_.is_durable ? sync_made_parents(root_, where) : result<void>();
  }

  /// Writes what a file is to be, beside its place.
  result<void> stage(const planned_step& planned) {
    const change_step& step = planned.step;
    PADDOCK_TRY(const auto where, root_.locate(step.path, final_link::keep, parents::create));
    if (where.path != step.path) return error{error_code::conflict, 0, "change_set"};
    if (record_.is_durable) PADDOCK_CHECK(sync_made_parents(root_, where));
    PADDOCK_TRY(const auto temporary, component::from(step.temporary));
    const bool is_new = planned.attributes_of.empty();
    const unsigned mode = planned.is_executable.value_or(false) ? 0777 : 0666;
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY;
    PADDOCK_TRY(const auto fd,
                sys::openat(where.parent.get(), temporary.c_str(), flags, is_new ? mode : 0600));
    PADDOCK_CHECK(write_all(fd.get(), *planned.bytes, options_.bounds));
    if (!is_new) {
      PADDOCK_TRY(const auto old, root_.locate(planned.attributes_of, final_link::keep));
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
    PADDOCK_TRY(const auto where, root_.locate(step.path, final_link::keep));
    if (where.path != step.path) return error{error_code::conflict, 0, "change_set"};
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
    PADDOCK_TRY(const auto from, root_.locate(planned.step.from, final_link::keep));
    if (from.path != planned.step.from || !from.existing ||
        !same_but_for_name(*from.existing, planned.old))
      return error{error_code::conflict, 0, "change_set"};
    const int parent = from.parent.get();
    if (to.existing && to.existing->same_object(*from.existing)) // another spelling of its name
      return sys::renameat2(parent, from.name.c_str(), to.parent.get(), to.name.c_str(), 0);
    return move_to_unused(parent, from.name, to.parent.get(), to.name);
  }

  change_failure give_up(change_journal& journal, const error& why, bool has_begun_renaming) {
    change_failure told = failure(why);
    const change_ground ground(root_);
    if (has_begun_renaming) {
      auto undone = undo_steps(ground, record_);
      if (undone) undone = sync_places(ground, record_);
      if (!undone) {
        told.made = change_extent::some;
        told.detail = "what was made of it is taken back by the next change of several files";
        return told;
      }
      // Without it the way back would be looked for once more, and not be found.
      if (journal.write_stage(change_stage::undone) && record_.is_durable)
        (void)journal.sync().has_value();
    }
    const auto cleared = clear();
    (void)remove_made_directories(ground, record_).has_value();
    if (cleared) journal.end();
    return told;
  }

  [[nodiscard]] result<void> clear() const {
    const change_ground ground(root_);
    PADDOCK_CHECK(remove_temporary(ground, record_));
    return sync_places(ground, record_);
  }

  const root& root_;
  change_plan plan_;
  const change_options& options_;
  change_record record_;
  std::deque<name_in_use> names_;               ///< nobody here lists them
  std::size_t now_ = change_failure::no_change; ///< the step that is worked on
};

result<interrupted_change> recover(const root& root, change_journal& journal,
                                   const work_bounds& bounds) {
  PADDOCK_TRY(const auto record, journal.read());
  if (!record) return interrupted_change::none;
  PADDOCK_TRY(const auto usual, paddock::root::open(root.path(), {.resolver = root.resolver(),
                                                                  .mounts = root.mounts()}));
  if (!usual.status().same_object(root.status()))
    return error{error_code::root_gone, ENOENT, "change record"};
  const change_ground ground(root, usual, bounds);
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

/// Why the record stands in the way, and what then helps.
std::string_view way_past_record(error_code why) {
  using enum error_code;
  constexpr std::pair<error_code, std::string_view> table[] = {
      {conflict, "somebody else is changing several files of this workspace; call again"},
      {cancelled, "the call was cancelled while an earlier change of several files was ended"},
      {not_regular, "what has this name is no record of a change of several files; give it another "
                    "name, with exec or by hand"},
      {hard_linked, "the record of a change of several files has a second name; remove this one, "
                    "with exec or by hand"},
      {permission_denied, "the record of an earlier change of several files is somebody else's; "
                          "have them end it, or remove it by hand"},
      {unsupported, "the record of an earlier change of several files is of another version of "
                    "this program; have that one end it, or remove it, with exec or by hand"},
  };
  for (const auto& [code, words] : table)
    if (code == why) return words;
  return "an earlier change of several files cannot be ended; to leave its files as they are, "
         "remove this record, with exec or by hand";
}

change_failure about_the_last_one(const error& why) {
  return {why, change_failure::no_change, change_record_name,
          std::string(way_past_record(why.code))};
}

} // namespace

result<std::vector<changed_file>, change_failure>
apply_changes(const root& root, std::span<const file_change> changes,
              const change_options& options) {
  if (options.effect == change_effect::check) {
    PADDOCK_TRY(auto plan, plan_changes(root, changes, options));
    return std::move(plan.files);
  }
  auto journal = change_journal::open(root, options.wait_ms, options.bounds);
  if (!journal) return about_the_last_one(journal.error());
  if (const auto before = recover(root, *journal, options.bounds); !before)
    return about_the_last_one(before.error());
  auto plan = plan_changes(root, changes, options);
  if (!plan || plan->steps.empty()) {
    journal->end();
    if (!plan) return std::move(plan).error();
    return std::move(plan->files);
  }
  std::vector<changed_file> files = plan->files;
  PADDOCK_CHECK(change_work(root, *std::move(plan), options).make(*journal));
  return files;
}

result<interrupted_change> recover_changes(const root& root, const work_bounds& bounds) {
  auto journal = change_journal::open_existing(root);
  if (!journal && journal.error().os_errno == EAGAIN) return interrupted_change::under_way;
  if (!journal) return journal.error();
  if (!*journal) return interrupted_change::none;
  PADDOCK_TRY(const auto found, recover(root, **journal, bounds));
  (*journal)->end();
  return found;
}

} // namespace paddock
