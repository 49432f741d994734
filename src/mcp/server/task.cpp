// SPDX-License-Identifier: MIT
#include "mcp/server/task.hpp"

#include "mcp/protocol/iso_time.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/excerpt.hpp>

#include <gsl/assert>

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::array<std::string_view, 4> task_status_names = {"working", "completed", "failed",
                                                               "cancelled"};
constexpr std::size_t status_characters_max = 200;
/// Of the message around a result: the task itself, and an id.
constexpr std::size_t task_envelope_bytes_max = 4096;

std::string iso_time(std::chrono::system_clock::time_point t) {
  using namespace std::chrono;
  return iso8601_ms(duration_cast<nanoseconds>(t.time_since_epoch()).count());
}

/// What is asked for, with views of `params`.
call_request copy_for_task(const call_request& asked, json_view params, const std::string& id) {
  call_request copy{.id = asked.id, .tool = asked.tool, .revision = asked.revision};
  copy.log_from = asked.log_from;
  copy.client = asked.client;
  copy.client_name = asked.client ? asked.client_name : std::string_view();
  copy.client_version = asked.client ? asked.client_version : std::string_view();
  copy.read(params);
  if (copy.revision != revision::r2026_07_28) copy.task_id = id;
  return copy;
}

std::int64_t kept_ms_of(const task_options& options, std::optional<std::int64_t> wanted) {
  return std::clamp<std::int64_t>(wanted.value_or(options.kept_ms), 1,
                                  std::max<std::int64_t>(options.kept_ms_max, 1));
}

} // namespace

std::string_view name_of(task_status status) noexcept {
  return task_status_names[static_cast<std::size_t>(status)];
}

task::task(std::shared_ptr<const server::core> core, const active_call& from, std::string id)
    : core_(std::move(core)), id_(std::move(id)),
      kept_ms_(kept_ms_of(core_->options.tasks, from.request().task_kept_ms)),
      is_modern_(from.request().revision == revision::r2026_07_28),
      asked_(std::make_shared<asked>()), events_(&from.events()), created_ms_(sys::monotonic_ms()) {
  const auto parsed = asked_->document.parse(from.request().params.text());
  Expects(parsed.has_value()); // it was parsed before
  asked_->call.emplace(*this, *core_, copy_for_task(from.request(), *parsed, id_));
  asked_->call->follow([this](std::string_view message) { note(message); });
}

void task::offer(std::string_view line) {
  const std::lock_guard lock(voice_guard_);
  if (events_ != nullptr) events_->offer(line);
}

void task::detach() {
  const std::lock_guard lock(voice_guard_);
  events_ = nullptr;
}

/// How far it is, as progress says it.
void task::note(std::string_view message) {
  std::string shown = detail::excerpt(message, status_characters_max);
  const std::lock_guard lock(guard_);
  if (status_ != task_status::working || shown == message_) return;
  message_ = std::move(shown);
  updated_ = clock::now();
}

// --- the call ----------------------------------------------------------------------------------

void task::run(const std::function<void()>& settle) {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  const std::shared_ptr<asked> mine = asked_;
  call_answer answer = mine->call->run(0);
  settle();
  {
    const std::lock_guard lock(guard_);
    if (!begun_) {
      answer_ = std::move(answer);
      over_ = true;
      changed_.notify_all();
      return;
    }
  }
  end(answer, duration_cast<microseconds>(steady_clock::now() - start));
}

void task::end(const call_answer& answer, std::chrono::microseconds took) {
  const auto line = static_cast<std::size_t>(core_->options.limits.message_out_bytes_max);
  const std::size_t room = line - std::min(line, task_envelope_bytes_max);
  active_call& call = *asked_->call;
  kept_answer kept = keep_answer(call.request(), answer, core_->modern_meta, room);
  call_report& report = call.report;
  report = {.outcome = kept.outcome,
            .error = std::string(kind_of_failure(answer, kept.outcome)),
            .duration_us = static_cast<std::uint64_t>(took.count()),
            .bytes_out = kept.json.size()};
  const bool refused = kept.json.empty();
  {
    const std::lock_guard lock(guard_);
    if (status_ == task_status::cancelled) {
      report.outcome = call_outcome::cancelled;
    } else {
      const bool failed = refused || (!is_modern_ && kept.outcome != call_outcome::succeeded);
      status_ = failed ? task_status::failed : task_status::completed;
      message_ = refused  ? kept.error.message
                 : failed ? "the call failed: " + report.error
                          : std::string();
    }
    kept_ = std::move(kept);
    over_ = true;
    updated_ = clock::now();
    ended_ms_ = sys::monotonic_ms();
    changed_.notify_all();
  }
  call.tell_observer();
  tell_client();
  tell_followers();
  const std::lock_guard lock(guard_);
  asked_.reset(); // whoever cancels it at this moment holds it, too
}

task_status task::cancel() {
  std::shared_ptr<asked> held;
  {
    const std::lock_guard lock(guard_);
    if (status_ != task_status::working || (over_ && begun_)) return status_;
    if (begun_) {
      status_ = task_status::cancelled;
      message_ = "cancelled";
      updated_ = clock::now();
    }
    held = asked_;
  }
  {
    const std::lock_guard lock(held->call->guard);
    held->call->cancel(active_call::canceller::end_of_connection);
  }
  tell_followers();
  return task_status::working;
}

// --- before it has begun -----------------------------------------------------------------------

void task::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(guard_);
  changed_.wait_for(lock, time, [&] { return over_; });
}

bool task::begin() {
  {
    const std::lock_guard lock(guard_);
    if (over_) return false;
    begun_ = true;
  }
  const std::lock_guard lock(voice_guard_);
  if (events_ != nullptr) events_ = is_modern_ ? nullptr : events_->after_answer();
  return true;
}

call_answer task::take_answer() {
  const std::lock_guard lock(guard_);
  return std::move(answer_);
}

// --- afterwards --------------------------------------------------------------------------------

void task::wait(const std::atomic<bool>& given_up) {
  std::unique_lock lock(guard_);
  changed_.wait(lock, [&] { return over_ || given_up.load(); });
}

void task::wake() {
  const std::lock_guard lock(guard_);
  changed_.notify_all();
}

bool task::is_over() const {
  const std::lock_guard lock(guard_);
  return over_;
}

bool task::is_stale() const {
  const std::lock_guard lock(guard_);
  return over_ && sys::monotonic_ms() - ended_ms_ >= kept_ms_;
}

/// The time to live counts from the creation. One of 2026-07-28 may grow, and does while the call
/// runs, so that it never ends before its result can be had.
void task::write_state(json_writer& out) const {
  out.member("taskId", id_).member("status", name_of(status_));
  if (!message_.empty()) out.member("statusMessage", message_);
  out.member("createdAt", iso_time(created_)).member("lastUpdatedAt", iso_time(updated_));
  const std::int64_t interval = core_->options.tasks.poll_interval_ms;
  if (is_modern_) {
    const std::int64_t age = (over_ ? ended_ms_ : sys::monotonic_ms()) - created_ms_;
    out.key("ttlMs").integer(age + kept_ms_).key("pollIntervalMs").integer(interval);
  } else {
    out.key("ttl").integer(kept_ms_).key("pollInterval").integer(interval);
  }
}

void task::write_outcome(json_writer& out) const {
  if (status_ == task_status::completed) out.key("result").raw(kept_.json);
  if (status_ != task_status::failed) return;
  out.key("error").begin_object().key("code").integer(static_cast<int>(kept_.error.code));
  out.member("message", kept_.error.message);
  if (!kept_.error.data.empty()) out.key("data").raw(kept_.error.data);
  out.end_object();
}

std::string task::json(extent wanted) const {
  const std::lock_guard lock(guard_);
  json_writer out;
  out.begin_object();
  write_state(out);
  if (wanted == extent::outcome && is_modern_) write_outcome(out);
  out.end_object();
  return out.take();
}

method_result task::result() const {
  const std::lock_guard lock(guard_);
  if (kept_.json.empty()) return {.json = {}, .error = kept_.error, .needed = {}};
  json_writer out;
  out.begin_object_with(kept_.json).key("_meta").begin_object();
  out.key(meta_related_task).begin_object().member("taskId", id_).end_object();
  out.end_object().end_object();
  return {.json = out.take()};
}

/// A client of 2025-11-25 hears of the end where the connection can say so by itself.
void task::tell_client() {
  if (is_modern_) return;
  json_writer out;
  out.begin_object().member("jsonrpc", "2.0").member("method", "notifications/tasks/status");
  out.key("params").raw(json(extent::state)).end_object().end_line();
  offer(out.str());
}

void task::follow(const std::shared_ptr<subscription>& by) {
  {
    const std::lock_guard lock(guard_);
    if (status_ == task_status::working) {
      std::erase_if(followers_, [](const auto& each) { return each.expired(); });
      followers_.push_back(by);
      return;
    }
  }
  by->tell_of_task(json(extent::outcome), json(extent::state));
}

void task::tell_followers() {
  std::vector<std::weak_ptr<subscription>> followers;
  {
    const std::lock_guard lock(guard_);
    if (status_ != task_status::working) followers.swap(followers_);
  }
  if (followers.empty()) return;
  const std::string outcome = json(extent::outcome), state = json(extent::state);
  for (const auto& each : followers)
    if (const std::shared_ptr<subscription> to = each.lock()) to->tell_of_task(outcome, state);
}

} // namespace paddock::mcp
