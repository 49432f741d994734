// SPDX-License-Identifier: MIT

// What becomes of entries, and what is kept of them.

#include "base/later.hpp"
#include "base/parallel_blocks.hpp"
#include "history/store_impl.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

namespace paddock::history {
namespace {

constexpr std::size_t batch_files = 256;
constexpr std::uint64_t batch_bytes = std::uint64_t{8} << 20U;
constexpr int reads_max = 3;
constexpr std::uint64_t wait_ms_max = 3'600'000;

holding why_not(const error& e) {
  return e.code == error_code::too_large ? holding::over_budget : holding::lost;
}

/// What may be held if it is asked for by name: a failure may be over by now.
bool is_worth_another_try(holding why) {
  return why == holding::ignored || why == holding::unreadable || why == holding::lost;
}

/// What the first reading, or one after a failure of the store, has to read.
bool is_to_read(const known_state& state) {
  return state.held == holding::not_read_yet || state.held == holding::lost;
}

struct read_entry {
  std::string bytes;
  file_status status;
};

/// What a file or link holds now, if it is still that one.
result<read_entry> read_content(const root& workspace, const std::string& path,
                                const known_state& state, std::uint64_t bytes_max) {
  const bool is_link = state.kind == known_kind::link;
  PADDOCK_TRY(const auto fd, open_plain(workspace, path, is_link ? O_PATH : O_RDONLY));
  PADDOCK_TRY(read_entry out, [&]() -> result<read_entry> {
    PADDOCK_TRY(auto status, sys::status_at(fd.get(), "", AT_SYMLINK_NOFOLLOW));
    return read_entry{{}, status};
  }());
  if (known_kind_of(out.status.kind) != state.kind)
    return error{error_code::conflict, 0, "history"};
  if (is_link) {
    PADDOCK_TRY(out.bytes, sys::readlinkat(fd.get(), ""));
    return out;
  }
  if (out.status.size > bytes_max) return error{error_code::not_text, 0, "history"}; // grown
  out.bytes.resize(out.status.size + 1);
  std::size_t size = 0;
  for (bool is_more = true; is_more && size < out.bytes.size();) {
    const auto rest = std::span(out.bytes).subspan(size);
    PADDOCK_TRY(const std::size_t n, sys::read(fd.get(), rest));
    is_more = n != 0 && size + n != out.status.size; // a file that has grown is told by its times
    size += n;
  }
  out.bytes.resize(size);
  PADDOCK_TRY(const auto after, sys::fstat(fd.get()));
  if (after.size != size || after.changed_ns != out.status.changed_ns ||
      after.modified_ns != out.status.modified_ns)
    return error{error_code::conflict, 0, "history"};
  return out;
}

} // namespace

read_time::read_time() : tick_ns(sys::file_clock_ns()), now_ns(sys::file_time_now_ns()) {}

store::impl::fetched store::impl::fetch(const std::string& path, const known_state& known,
                                        const read_time& when, reach of) const {
  fetched out{.state = known};
  known_state& state = out.state;
  if (!state.is_content()) return out;
  if (state.is_ignored && of == reach::covered) {
    state.held = holding::ignored;
    return out;
  }
  if (state.size > how.file_bytes_max) {
    state.held = holding::too_large;
    return out;
  }
  for (int attempt = 0; attempt < reads_max; ++attempt) {
    auto read = read_content(*workspace, path, state, how.file_bytes_max);
    if (!read) {
      const error_code why = read.error().code;
      state.held = why == error_code::not_text ? holding::too_large : holding::unreadable;
      state.is_unsure = why == error_code::conflict;
      if (state.is_unsure) continue;
      return out;
    }
    state = state_of(read->status);
    state.is_ignored = known.is_ignored;
    state.is_unsure = when.is_fresh(state);
    out.bytes = std::move(read->bytes);
    return out;
  }
  return out;
}

known_state store::impl::keep(fetched&& from) {
  known_state state = from.state;
  if (!from.bytes) return state;
  // A page that is mapped may be written to without a new time, but for the first time.
  const auto since_ns = running_since_ns();
  state.is_unsure = state.is_unsure || (since_ns && state.changed_ns >= *since_ns);
  const auto id = packs.add(*from.bytes, room());
  if (id) {
    state.held = holding::held;
    state.content = *id;
  } else {
    state.held = why_not(id.error());
    if (state.held == holding::over_budget)
      is_full = true;
    else
      complain(id.error());
  }
  return state;
}

void store::impl::take_in(const std::string& path, known_state& state, const read_time& when,
                          reach of) {
  state = keep(fetch(path, state, when, of));
}

cause store::impl::unannounced() const {
  for (const agents_work& each : std::views::reverse(running))
    if (each.is_command()) return each.by;
  for (const journal_record& each : std::views::reverse(others.living))
    if (is_command(each)) return cause_of(each);
  return {};
}

std::optional<std::int64_t> store::impl::running_since_ns() const {
  std::optional<std::int64_t> since;
  const auto take = [&](std::int64_t began_ns) {
    since = std::min(since.value_or(began_ns), began_ns);
  };
  for (const journal_record& each : others.living)
    if (is_command(each)) take(each.time_ms * 1'000'000);
  for (const agents_work& each : running)
    if (each.is_command()) take(each.began_ns);
  return since;
}

std::vector<running_command> store::impl::commands_under_way() const {
  std::vector<running_command> all;
  for (const journal_record& each : others.living)
    if (is_command(each))
      all.push_back({.tool = each.tool, .command = each.command, .began_ms = each.time_ms});
  for (const agents_work& each : running)
    if (each.is_command())
      all.push_back({.tool = each.by.tool,
                     .command = each.by.command,
                     .began_ms = each.began_ns / 1'000'000});
  std::ranges::sort(all, {}, &running_command::began_ms);
  return all;
}

result<work_marks::mark> store::impl::put_mark(const cause& by,
                                               std::span<const std::string> paths) {
  journal_record work{.time_ms = now_ms(), .by = by.by, .tool = by.tool, .command = by.command};
  for (const std::string& path : paths)
    work.transitions.push_back({.path = path});
  return marks.put(work, journal_room(kept_for::checkpoints));
}

result<void> store::impl::take_from_tools() {
  for (const agents_work& each : running)
    if (!each.is_command()) PADDOCK_CHECK(look_at(each.paths, each.by));
  for (const journal_record& each : others.living)
    if (!is_command(each)) PADDOCK_CHECK(look_at(paths_of(each), cause_of(each)));
  return {};
}

path_tops store::impl::take_closed(scan_outcome& found, const cause& by) {
  path_tops unseen;
  for (const std::string& path : found.opened)
    if (index.find(path).held == holding::never_read) unseen.add(path);
  if (found.is_whole) closed = found.closed;
  const auto is_in_list = [](const std::vector<std::string>& sorted, const std::string& path) {
    return std::ranges::binary_search(sorted, path);
  };
  const auto met = static_cast<std::ptrdiff_t>(found.met.size());
  for (const std::string& path : found.closed) { // also such as look as they did
    const auto end = found.met.begin() + met;
    const auto at = std::ranges::lower_bound(found.met.begin(), end, path, {}, &met_entry::path);
    if (at == end || at->path != path) found.met.push_back({path, index.find(path)});
  }
  if (found.met.begin() + met != found.met.end())
    std::ranges::sort(found.met, {}, &met_entry::path);
  for (met_entry& each : found.met) {
    if (each.seen.kind != known_kind::directory) continue;
    const known_state before = index.find(each.path);
    if (is_in_list(found.opened, each.path)) {
      each.seen.held = holding::held;
      each.seen.is_unsure = false;
    } else if (is_in_list(found.closed, each.path)) {
      const bool is_known =
          before.exists() ? before.held != holding::never_read : by.by != author::other;
      each.seen.held = each.path.size() > path_bytes_max ? holding::too_deep
                       : is_known                        ? holding::unreadable
                                                         : holding::never_read;
      each.seen.is_unsure = true;
    }
  }
  return unseen;
}

result<void> store::impl::absorb(scan_outcome&& found, const cause& by, const work_bounds& bounds) {
  const read_time when;
  journal_record changed{.kind = record_kind::operation,
                         .time_ms = now_ms(),
                         .by = by.by,
                         .tool = by.tool,
                         .command = by.command};
  journal_record seen{.kind = record_kind::seen, .time_ms = changed.time_ms};
  std::unordered_map<std::uint64_t, known_state> gone; // by inode: perhaps it is elsewhere now
  const auto forget = [&](std::string_view top) {
    index.for_each_beneath(top, [&](std::string_view path, const known_state& before) {
      if (before.has_content() && !before.is_unsure) gone.emplace(before.inode, before);
      changed.transitions.push_back({.path = std::string(path), .before = before});
    });
  };
  const path_tops unseen = take_closed(found, by);
  for (const std::string& path : found.gone)
    forget(path);
  for (met_entry& each : found.met) {
    PADDOCK_CHECK(bounds.check());
    const known_state before = index.find(each.path);
    known_state after = each.seen;
    const auto moved = before.exists() ? gone.end() : gone.find(after.inode);
    if (moved != gone.end() && !after.is_ignored && moved->second.looks_like(after))
      after = moved->second; // with a directory above it: it has not even a new time of change
    else
      take_in(each.path, after, when);
    if (const auto was = closed_modes.find(each.path); was != closed_modes.end())
      after.mode = was->second;
    if (before.kind == known_kind::directory && after.kind != known_kind::directory) {
      forget(each.path);
      changed.transitions.push_back({.path = std::move(each.path), .after = after});
      continue;
    }
    if (before == after) continue;
    const bool is_seen =
        before.exists() ? before.same_as(after) : unseen.cover(parent_of(each.path));
    journal_record& to = is_seen ? seen : changed;
    to.transitions.push_back({.path = std::move(each.path), .before = before, .after = after});
  }
  PADDOCK_CHECK(write(std::move(changed), bounds));
  return write(std::move(seen), bounds);
}

result<void> store::impl::look_through(const cause& by, const work_bounds& bounds) {
  PADDOCK_CHECK(take_from_tools());
  PADDOCK_TRY(auto found, scan(*workspace, index, scanning(bounds)));
  PADDOCK_CHECK(absorb(std::move(found), by, bounds));
  be_content();
  return {};
}

result<void> store::impl::look_at(std::span<const std::string> paths, const cause& by) {
  PADDOCK_TRY(auto found, scan_paths(*workspace, index, paths, scanning()));
  return absorb(std::move(found), by);
}

result<void> store::impl::hold(std::span<const std::string> paths) {
  const read_time when;
  journal_record seen{.kind = record_kind::seen, .time_ms = now_ms()};
  const auto one = [&](std::string_view path, const known_state& state, reach of) {
    const bool is_wanted = state.held == holding::not_read_yet ||
                           (of == reach::asked && is_worth_another_try(state.held));
    if (!is_wanted) return;
    known_state now = state;
    take_in(std::string(path), now, when, of);
    if (now.changed_ns != state.changed_ns || now.inode != state.inode) return; // the next scan's
    seen.transitions.push_back({.path = std::string(path), .after = now});
  };
  for (const std::string& path : paths) {
    if (const known_state state = index.find(path); state.kind != known_kind::directory)
      one(path, state, reach::asked);
    else
      index.for_each_beneath(path, [&](std::string_view inner, const known_state& each) {
        one(inner, each, reach::covered);
      });
  }
  return write(std::move(seen));
}

std::vector<unread_file> store::impl::next_unread() {
  std::vector<unread_file> batch;
  std::uint64_t bytes = 0;
  if (std::exchange(has_read_through, false)) return batch; // what is left keeps changing
  const auto& all = index.all();
  for (auto at = all.lower_bound(reading_from); at != all.end(); ++at) {
    if (batch.size() >= batch_files || bytes >= batch_bytes) {
      reading_from = at->first;
      return batch;
    }
    for (const indexed_entry& entry : at->second.entries) {
      if (!is_to_read(entry.state)) continue;
      std::string path = at->first.empty() ? "" : at->first + '/';
      batch.push_back({std::move(path += at->second.name(entry)), entry.state});
      bytes += std::min(entry.state.size, how.file_bytes_max);
    }
  }
  has_read_through = !batch.empty();
  reading_from.clear();
  return batch;
}

bool store::impl::has_unread() {
  const std::lock_guard lock(mutex);
  return !is_started || index.unread() != 0 || index.lost() != 0;
}

result<bool> store::impl::read_some() {
  std::vector<unread_file> batch;
  {
    const guard held(*this);
    PADDOCK_CHECK(held.ready());
    batch = next_unread();
  }
  if (batch.empty()) return false;
  // Without the lock: nobody waits for files that are read.
  const read_time when;
  std::vector<fetched> read(batch.size());
  const auto fetch_one = [&](std::size_t i) {
    read[i] = fetch(batch[i].path, batch[i].state, when, reach::covered);
  };
  parallel_blocks(batch.size(), how.threads_max, fetch_one, 16).finish();
  const guard held(*this);
  PADDOCK_CHECK(held.ready());
  journal_record seen{.kind = record_kind::seen, .time_ms = now_ms()};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const known_state now = index.find(batch[i].path);
    const bool is_wanted = is_to_read(now) && now.looks_like(batch[i].state);
    // What has changed meanwhile is for the next scan.
    if (!is_wanted || !now.looks_like(read[i].state)) continue;
    seen.transitions.push_back(
        {.path = std::move(batch[i].path), .after = keep(std::move(read[i]))});
    read[i] = {};
  }
  PADDOCK_CHECK(write(std::move(seen)));
  return true;
}

result<void> store::read_in(const work_bounds& bounds) {
  for (;;) {
    PADDOCK_CHECK(bounds.check());
    PADDOCK_TRY(const bool is_more, impl_->read_some());
    if (!is_more) return {};
  }
}

struct recording::state {
  std::shared_ptr<store> of;
  cause by;
  std::list<agents_work>::iterator running{};
  work_marks::mark mark{};
  std::string failure{}; ///< what could not be kept before it began
};

recording::recording() noexcept = default;
recording::recording(recording&&) noexcept = default;
recording::recording(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
recording& recording::operator=(recording&& other) noexcept {
  if (this != &other) {
    (void)finish();
    state_ = std::move(other.state_);
  }
  return *this;
}
recording::~recording() {
  (void)finish();
}

recording store::before_tool(std::string_view tool, std::span<const std::string> paths, author by) {
  auto state = std::make_unique<recording::state>();
  state->of = shared_from_this();
  state->by = {.by = by == author::other ? by : author::tool, .tool = std::string(tool)};
  const impl::guard held(*impl_);
  if (!held.ready()) {
    state->failure = impl_->trouble;
  } else {
    result<void> done = impl_->take_from_tools();
    if (done) done = impl_->look_at(paths, impl_->unannounced());
    if (done) done = impl_->hold(paths);
    if (!done) impl_->complain(done.error());
    state->failure = done ? impl_->not_held(paths) : impl_->trouble;
    // Without a mark only a kill would lose something, and only who it was.
    if (!paths.empty())
      if (auto mark = impl_->put_mark(state->by, paths)) state->mark = *std::move(mark);
  }
  state->running = impl_->running.insert(
      impl_->running.end(),
      {.by = state->by, .began_ns = sys::file_clock_ns(), .paths = {paths.begin(), paths.end()}});
  return recording(std::move(state));
}

std::string store::impl::not_held(std::span<const std::string> paths) const {
  std::string failure;
  for (const std::string& path : paths)
    index.for_each_beneath(path, [&](std::string_view inner, const known_state& state) {
      const bool is_failed = state.held == holding::over_budget || state.held == holding::lost;
      if (!is_failed || !failure.empty()) return;
      failure = "what " + std::string(inner) + " held before could not be kept: ";
      failure += reason_of(state.held);
    });
  return failure;
}

recording store::before_command(std::string_view tool, std::string_view command_line,
                                const work_bounds& bounds) {
  // What is not read by then cannot be brought back if the command changes it.
  for (const std::int64_t end =
           later(sys::monotonic_ms(),
                 static_cast<std::int64_t>(std::min(impl_->how.command_wait_ms, wait_ms_max)));
       bounds.check() && impl_->has_unread() && sys::monotonic_ms() < end;) {
    const auto more = impl_->read_some();
    if (!more || !*more) break;
  }
  auto state = std::make_unique<recording::state>();
  state->of = shared_from_this();
  state->by = {.by = author::exec, .tool = std::string(tool), .command = std::string(command_line)};
  const impl::guard held(*impl_, impl::use::work, bounds);
  if (!held.ready() && is_ended(held.ready().error())) return {}; // nobody waits for the command
  if (held.ready()) {
    result<void> done = impl_->look_through(impl_->unannounced(), bounds);
    if (!done && is_ended(done.error())) return {};
    auto mark = impl_->put_mark(state->by, {});
    if (mark)
      state->mark = *std::move(mark);
    else if (done)
      done = mark.error();
    if (!done) impl_->complain(done.error());
    if (!done) state->failure = impl_->trouble;
  } else {
    state->failure = impl_->trouble;
  }
  state->running = impl_->running.insert(
      impl_->running.end(), {.by = state->by, .began_ns = sys::file_clock_ns(), .paths = {}});
  return recording(std::move(state));
}

std::string recording::finish() {
  if (!state_) return {};
  const std::unique_ptr<state> ending = std::move(state_);
  store::impl& in = *ending->of->impl_;
  const store::impl::guard held(in);
  const agents_work ended = std::move(*ending->running);
  in.running.erase(ending->running);
  result<void> done = held.ready();
  if (done) {
    done = ended.is_command() ? in.look_through(ended.by) : in.look_at(ended.paths, ended.by);
    if (!done) in.complain(done.error());
  }
  if (done)
    in.marks.remove(std::move(ending->mark));
  else
    in.marks.leave(std::move(ending->mark)); // who comes next puts it down to this command
  if (!ending->failure.empty()) return ending->failure;
  return done ? std::string() : in.trouble;
}

} // namespace paddock::history
