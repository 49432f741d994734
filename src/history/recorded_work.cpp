// SPDX-License-Identifier: MIT

// One tool or command, recorded from before it begins until it has ended.

#include "history/store_impl.hpp"
#include "history/watched_changes.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

namespace paddock::history {
namespace {

constexpr const char* unlooked_notice = "the time of the call was over before the history had "
                                        "looked at the workspace (healthCheck says how far "
                                        "it is)";

} // namespace

struct recording::state {
  std::shared_ptr<store> of;
  cause by;
  /// Nothing: there was no time for a look before it, and there is none after it.
  std::optional<std::list<agents_work>::iterator> running{};
  std::int64_t began_ns = sys::file_clock_ns();
  work_marks::mark mark{};
  std::string failure{};                   ///< of the look before it began
  std::optional<watched_changes> before{}; ///< tools only
  bool is_watched = false;
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

recording store::unlooked(std::unique_ptr<recording::state> state, const error& why) {
  if (why.code == error_code::cancelled) return {}; // nobody waits for it
  state->failure = unlooked_notice;
  if (state->by.by == author::exec) {
    const std::lock_guard lock(impl_->told_mutex);
    impl_->unlooked.insert(state->began_ns);
  }
  return recording(std::move(state));
}

recording store::before_tool(std::string_view tool, std::span<const std::string> paths, author by,
                             const work_bounds& bounds) {
  auto state = std::make_unique<recording::state>();
  state->of = shared_from_this();
  state->by = {.by = by == author::other ? by : author::tool, .tool = std::string(tool)};
  const impl::guard held(*impl_, impl::use::work, bounds);
  if (!held.ready() && is_ended(held.ready().error()))
    return unlooked(std::move(state), held.ready().error());
  if (state->by.by != author::other) state->by.server = impl_->own_server();
  if (!held.ready()) {
    state->failure = impl_->trouble;
  } else {
    result<void> done = impl_->look_at(paths, impl_->unannounced());
    if (done) done = impl_->hold(paths);
    if (!done) impl_->complain(done.error());
    state->failure = done ? impl_->not_held(paths) : impl_->trouble;
    if (state->failure.empty()) state->failure = impl_->lost_past("what changed before this call");
    if (done) state->before.emplace(*impl_, paths);
    // Without a mark only a kill would lose something, and only who it was.
    if (!paths.empty())
      if (auto mark = impl_->put_mark(state->by, paths)) state->mark = *std::move(mark);
  }
  state->running = impl_->running.insert(
      impl_->running.end(),
      {.by = state->by, .began_ns = state->began_ns, .paths = {paths.begin(), paths.end()}});
  return recording(std::move(state));
}

recording store::before_command(std::string_view tool, std::string_view command_line,
                                const work_bounds& bounds) {
  auto state = std::make_unique<recording::state>();
  state->of = shared_from_this();
  state->by = {.by = author::exec, .tool = std::string(tool), .command = std::string(command_line)};
  // What is not read by then cannot be brought back if the command changes it.
  if (const auto read = impl_->read_for(impl_->how.command_wait_ms, bounds);
      !read && is_ended(read.error()))
    return unlooked(std::move(state), read.error());
  const impl::guard held(*impl_, impl::use::work, bounds);
  result<void> done = held.ready();
  state->by.server = impl_->own_server();
  if (done) {
    done = impl_->look_where_heard(bounds);
    if (done || !is_ended(done.error())) {
      auto mark = impl_->put_mark(state->by, {});
      if (mark)
        state->mark = *std::move(mark);
      else if (done)
        done = mark.error();
      if (!done) impl_->complain(done.error());
    }
  }
  if (!done && is_ended(done.error())) return unlooked(std::move(state), done.error());
  state->failure = done ? impl_->lost_past("what changed before this call") : impl_->trouble;
  state->began_ns = sys::file_clock_ns();
  state->running = impl_->running.insert(
      impl_->running.end(), {.by = state->by, .began_ns = state->began_ns, .paths = {}});
  return recording(std::move(state));
}

void recording::note_network(std::string_view said) {
  if (!state_) return;
  store::impl& in = *state_->of->impl_;
  const store::impl::guard held(in);
  if (!held.ready()) return;
  journal_record record = operation_of(state_->by, now_ms());
  record.tool = network_events;
  record.command = std::string(said) + " (" + state_->by.command + ")";
  record.number = in.last_number + 1;
  if (in.log.append(record, in.journal_room(store::impl::kept_for::all))) ++in.last_number;
}

std::string recording::lost() const {
  return state_ ? state_->failure : std::string();
}

void recording::watch() {
  if (!state_ || !state_->before || std::exchange(state_->is_watched, true)) return;
  state_->before->start();
}

int recording::lock() const {
  return state_ && state_->mark.lock ? state_->mark.lock.get() : -1;
}

std::string recording::finish(command_reach reach, std::span<const std::string> read_only) {
  if (!state_) return {};
  const std::unique_ptr<state> ending = std::move(state_);
  store::impl& in = *ending->of->impl_;
  if (!ending->running) {
    if (ending->by.by != author::exec) return ending->failure;
    const std::lock_guard lock(in.told_mutex);
    if (const auto own = in.unlooked.find(ending->began_ns); own != in.unlooked.end())
      in.unlooked.erase(own);
    return ending->failure;
  }
  const std::int64_t ended_ns = sys::file_clock_ns();
  const store::impl::guard held(in);
  const agents_work ended = **ending->running;
  const ended_command behind{.by = ended.by, .began_ns = ended.began_ns, .ended_ns = ended_ns};
  // What a command has touched can be sure to be as it looks from now on; what a tool does is its
  // own until that has been put down.
  const bool is_early = ended.is_command() || ending->is_watched;
  if (is_early) in.running.erase(*ending->running);
  result<void> done = held.ready();
  if (done) {
    const std::int64_t since_ns = in.running_since_ns().value_or(ended.began_ns);
    const read_only_changes theirs(in, read_only, std::min(since_ns, ended.began_ns));
    if (!ended.is_command())
      done = in.look_at(ended.paths, ended.by, ending->is_watched ? &*ending->before : nullptr);
    else if (reach != command_reach::anywhere)
      done = in.look_where_heard({}, &behind, &theirs,
                                 reach == command_reach::workspace ? new_links::possible
                                                                   : new_links::none);
    else
      done = in.look_through(ended.by, {}, ended.began_ns, &theirs);
    if (!done) in.complain(done.error());
    if (done && ending->failure.empty())
      ending->failure = in.lost_past("what this call and earlier ones changed");
    if (done && ending->failure.empty()) ending->failure = in.unkept.words();
  }
  if (!is_early) in.running.erase(*ending->running);
  if (done)
    in.marks.remove(std::move(ending->mark));
  else
    in.marks.leave(std::move(ending->mark)); // who comes next puts it down to this command
  if (!ending->failure.empty()) return ending->failure;
  return done ? std::string() : in.trouble;
}

} // namespace paddock::history
