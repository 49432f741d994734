// SPDX-License-Identifier: MIT
#include "history/kept_rules.hpp"
#include "history/store_impl.hpp"
#include "history/unused_stores.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace paddock::history {

std::int64_t now_ms() noexcept {
  return sys::file_clock_ns() / 1'000'000;
}

store::impl::impl(ruled_workspace r, options o, store_directory d, session s)
    : workspace(std::move(r.workspace)), how(std::move(o)), purpose(s), directory(std::move(d)),
      shown_anew(std::move(r.shown_anew)), packs(directory.descriptor(), directory.key()),
      log(directory.descriptor()), index(directory.descriptor()), marks(directory.descriptor()),
      heard(*workspace, how.watches_max) {}

store::impl::guard::guard(impl& of, use why, const work_bounds& bounds)
    : of_(of), held_(of.mutex, std::defer_lock) {
  ready_ = take(bounds);
  if (!held_.owns_lock()) return;
  of_.has_complained = false;
  if (ready_) ready_ = of_.catch_up(why, bounds);
  if (why == use::reading) return;
  if (ready_) ready_ = of_.is_started ? of_.recover() : of_.begin(bounds);
  if (ready_ && (!of_.others.left.empty() || of_.owes_look)) ready_ = of_.settle(bounds);
  if (ready_ && of_.lacks_start && of_.others.left.empty()) ready_ = of_.make_start();
  if (ready_ && of_.is_full) ready_ = of_.make_room(bounds);
  if (!ready_ && !is_ended(ready_.error())) of_.complain(ready_.error());
}

result<void> store::impl::hold_mutex(std::unique_lock<std::mutex>& held,
                                     const work_bounds& bounds) {
  if (!bounds.is_bounded()) held.lock();
  while (!held.owns_lock() && !held.try_lock()) {
    PADDOCK_CHECK(bounds.check());
    sys::pause_ms(1);
  }
  return {};
}

result<void> store::impl::guard::take(const work_bounds& bounds) {
  PADDOCK_CHECK(of_.hold_mutex(held_, bounds));
  PADDOCK_CHECK(of_.directory.lock(bounds));
  is_locked_ = true;
  return {};
}

store::impl::guard::~guard() {
  if (is_locked_) of_.directory.unlock();
  if (held_.owns_lock()) of_.publish();
}

void store::impl::publish() {
  const std::lock_guard lock(told_mutex);
  told_now.files = index.files();
  told_now.files_read = told_now.files - std::min(told_now.files, index.unread());
  told_now.is_reading = index.unread() != 0;
  told_now.store_bytes = store_bytes;
  told_now.start = start;
  told_now.trouble = trouble;
  for (const std::string_view lasting :
       {std::string_view(short_of), std::string_view(log.was_damaged() ? damage_notice : "")}) {
    if (lasting.empty()) continue;
    if (!told_now.trouble.empty()) told_now.trouble += "; ";
    told_now.trouble += lasting;
  }
}

/// A full store is told, and what is known can be asked for all the same.
result<void> store::impl::unless_full(const result<void>& done) {
  if (done || done.error().code != error_code::no_space) return done;
  complain(done.error());
  return {};
}

void store::impl::be_content() {
  if (!has_complained && index.lost() == 0) trouble.clear();
}

bool store::impl::hides(std::string_view path) const {
  for (;;) {
    const std::size_t end = path.find('/');
    if (workspace->is_hidden_name(path.substr(0, end))) return true;
    if (end == path.npos) return false;
    path.remove_prefix(end + 1);
  }
}

void store::impl::complain(const error& e) {
  has_complained = true;
  trouble = "the history could not be written or read: " + explain_failure(e);
}

result<void> store::impl::catch_up(use why, const work_bounds& bounds) {
  if (index.has_failed()) log = journal(directory.descriptor()); // which says it all again
  const auto access = why == use::reading ? journal::access::reading : journal::access::full;
  PADDOCK_TRY(const auto files, directory.files());
  const auto opened = log.open(access, content_packs::has_any(files));
  if (!opened && access == journal::access::reading && opened.error().code == error_code::not_found)
    return {}; // nothing has happened yet
  PADDOCK_TRY(const auto found, opened);
  if (found != journal::found::more) {
    packs.forget();
    heard.forget();
    index.clear();
    checkpoints.clear();
    lost.clear();
    if (found == journal::found::another) last_number = 0; // else no number is used again
  }
  const auto take = [this](journal_record&& record, std::uint64_t offset) {
    if (log.has_gap()) note_lost(record, offset);
    last_number = std::max(last_number, record.number);
    for (const transition& each : record.transitions)
      index.set(each.path, each.after);
    if (record.kind != record_kind::checkpoint) return;
    checkpoints.push_back({.what = {.number = record.number,
                                    .label = std::move(record.label),
                                    .time_ms = record.time_ms,
                                    .files = record.files,
                                    .is_start = record.is_start},
                           .offset = offset});
  };
  PADDOCK_CHECK(log.catch_up(take, access, bounds));
  if (found == journal::found::lost) {
    has_lost_past = true;
    is_started = false; // the workspace must not be taken for new
    if (offset_of_start() == 0) start = 0;
  }
  PADDOCK_CHECK(packs.catch_up(files, bounds));
  store_bytes = bytes_of(files);
  PADDOCK_TRY(others, marks.look(files));
  return {};
}

/// Records follow from one another. Where one does not, what lies between was in the gap; what was
/// not known at all may have been there for ever.
void store::impl::note_lost(const journal_record& record, std::uint64_t offset) {
  journal_record between{.number = last_number + 1, .time_ms = record.time_ms};
  for (const transition& each : record.transitions) {
    const known_state known = index.find(each.path);
    const known_state& then = record.kind == record_kind::seen ? each.after : each.before;
    if (known.exists() && !known.same_as(then))
      between.transitions.push_back({.path = each.path, .before = known, .after = then});
  }
  if (!between.transitions.empty()) lost.insert_or_assign(offset, std::move(between));
}

scan_options store::impl::scanning(const work_bounds& bounds) const {
  return {.threads_max = how.threads_max, .entries_max = how.entries_max, .bounds = bounds};
}

std::uint64_t store::impl::bytes_now() const noexcept {
  return store_bytes + packs.grown() + log.grown();
}

/// What contents may still take. The last of the budget is for the journal.
std::uint64_t store::impl::room() const noexcept {
  const std::uint64_t most = how.store_bytes_max - how.store_bytes_max / 8;
  return most - std::min(most, bytes_now());
}

std::uint64_t store::impl::all_room() const noexcept {
  return how.store_bytes_max - std::min(how.store_bytes_max, bytes_now());
}

/// There is always room for a second one beside it, so that it can be made shorter.
std::uint64_t store::impl::journal_room(kept_for whom) const noexcept {
  const std::uint64_t contents = bytes_now() - std::min(bytes_now(), log.end());
  const std::uint64_t all =
      how.store_bytes_max - (whom == kept_for::all ? how.store_bytes_max / 32 : 0);
  const std::uint64_t most = (all - std::min(all, contents)) / 2;
  return most - std::min(most, log.end());
}

result<void> store::impl::write(journal_record&& record, const work_bounds& bounds) {
  if (index.has_failed()) return error{error_code::io, 0, "history index"}; // it is read anew first
  PADDOCK_CHECK(packs.flush());
  std::vector<transition> all = std::move(record.transitions);
  // What `add` took may have been lost since, when the disk was full. It is read again later.
  for (transition& each : all)
    if (each.after.has_content() && !packs.has(each.after.content)) each.after.held = holding::lost;
  for (std::size_t begin = 0; begin < all.size(); begin += transitions_max) {
    const std::size_t end = std::min(all.size(), begin + transitions_max);
    PADDOCK_CHECK(bounds.check()); // what is left is for the next look
    record.transitions.assign(
        std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(begin)),
        std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(end)));
    if (record.kind == record_kind::operation) record.number = last_number + 1;
    const auto written = log.append(record, journal_room(kept_for::all));
    is_full = is_full || (!written && written.error().code == error_code::no_space);
    PADDOCK_CHECK(written);
    if (record.kind == record_kind::operation) ++last_number;
    for (const transition& each : record.transitions)
      index.set(each.path, each.after);
  }
  return {};
}

std::uint64_t store::impl::offset_of_start() const {
  const auto number = [](const placed_checkpoint& each) { return each.what.number; };
  const auto own = std::ranges::find(checkpoints, start, number);
  return own != checkpoints.end() ? own->offset : 0;
}

result<checkpoint> store::impl::mark(std::string_view label, bool is_start) {
  journal_record record{.kind = record_kind::checkpoint,
                        .number = last_number + 1,
                        .time_ms = now_ms(),
                        .label = std::string(label),
                        .files = index.files(),
                        .is_start = is_start};
  PADDOCK_CHECK(packs.flush());
  PADDOCK_TRY(const std::uint64_t offset, log.append(record, journal_room(kept_for::checkpoints)));
  ++last_number;
  checkpoints.push_back({.what = {.number = record.number,
                                  .label = record.label,
                                  .time_ms = record.time_ms,
                                  .files = record.files,
                                  .is_start = is_start},
                         .offset = offset});
  return checkpoints.back().what;
}

result<const placed_checkpoint*> store::impl::find(std::optional<std::uint64_t> number) const {
  const std::uint64_t wanted = number.value_or(start);
  const auto found = std::ranges::find(
      checkpoints, wanted, [](const placed_checkpoint& each) { return each.what.number; });
  // Another process may have dropped the start of this one.
  if (found == checkpoints.end() && !number && !checkpoints.empty()) return &checkpoints.front();
  if (found == checkpoints.end()) return error{error_code::not_found, 0, "history checkpoint"};
  return &*found;
}

entry_state store::impl::told(const known_state& state) const {
  entry_state out;
  out.exists = state.exists();
  out.kind = entry_kind_of(state.kind);
  out.mode = state.mode;
  out.size = state.size;
  out.modified_ns = state.modified_ns;
  out.held = state.held;
  if (!state.has_content()) return out;
  out.content = hex_of(state.content);
  if (state.kind == known_kind::link) {
    if (auto target = packs.read(state.content))
      out.link_target = *std::move(target);
    else
      out.held = holding::lost;
  }
  return out;
}

namespace {

void age_out_beside(const store_directory& own, const root& workspace, std::uint64_t days_max) {
  const auto all = sys::openat(own.descriptor(), "..", O_RDONLY | O_DIRECTORY);
  if (all)
    remove_unused_stores(
        all->get(), {name_of_store(workspace.path(), workspace.status()), own.used_before_ns()},
        days_max);
}

} // namespace

store::store(std::unique_ptr<impl> i) noexcept : impl_(std::move(i)) {}
store::~store() = default;

result<std::shared_ptr<store>, detailed_error> store::open(std::shared_ptr<const root> workspace,
                                                           options how, session by) {
  if (!have_history())
    return detailed_error({error_code::unsupported, 0, "history store"},
                          "this Paddock was built without xxHash and keeps no history; what is "
                          "built with xxHash's header (libxxhash-dev) keeps one");
  PADDOCK_TRY(store_directory directory,
              store_directory::open(*workspace, how.directory, by == session::serve));
  if (by == session::serve) age_out_beside(directory, *workspace, how.age_days_max);
  PADDOCK_TRY(ruled_workspace ruled,
              under_kept_rules(std::move(workspace), directory, by, how.age_days_max));
  auto made = std::make_unique<impl>(std::move(ruled), std::move(how), std::move(directory), by);
  return std::shared_ptr<store>(new store(std::move(made)));
}

std::shared_ptr<const root> store::workspace() const {
  return impl_->workspace;
}

void store::after_moves(std::function<std::string()> look) {
  const std::lock_guard lock(impl_->mutex);
  impl_->after_moves = std::move(look);
}

store_state store::state() const {
  const std::lock_guard lock(impl_->told_mutex);
  return impl_->told_now;
}

result<checkpoint> store::make_checkpoint(std::string_view label, const work_bounds& bounds) {
  // A quarter of what time there is stays for the checkpoint itself.
  std::uint64_t most_ms = impl_->how.checkpoint_wait_ms;
  if (bounds.deadline_ms != work_bounds::no_deadline) {
    const std::int64_t left_ms = bounds.deadline_ms - sys::monotonic_ms();
    most_ms =
        std::min(most_ms, static_cast<std::uint64_t>(std::max<std::int64_t>(left_ms, 0)) * 3 / 4);
  }
  PADDOCK_CHECK(impl_->read_for(most_ms, bounds));
  const impl::guard held(*impl_, impl::use::work, bounds);
  PADDOCK_CHECK(held.ready());
  PADDOCK_CHECK(impl_->look_through(impl_->unannounced(), bounds));
  PADDOCK_TRY(checkpoint made, impl_->mark(label, false));
  made.unread = impl_->index.unread();
  PADDOCK_CHECK(impl_->packs.sync());
  PADDOCK_CHECK(impl_->log.sync());
  return made;
}

std::vector<checkpoint> store::checkpoints(const work_bounds& bounds) {
  const impl::guard held(*impl_, impl::use::work, bounds);
  std::vector<checkpoint> all;
  if (!held.ready() && is_ended(held.ready().error())) return all;
  for (const placed_checkpoint& each : impl_->checkpoints)
    all.push_back(each.what);
  return all;
}

void store::look() {
  const impl::guard held(*impl_);
  if (!held.ready()) return;
  if (const auto done = impl_->look_through(impl_->unannounced()); !done)
    impl_->complain(done.error());
}

} // namespace paddock::history
