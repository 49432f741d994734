// SPDX-License-Identifier: MIT
#include "mcp/server/task_table.hpp"

#include "sys/random_hex.hpp"

#include <paddock/base/detail/excerpt.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t task_id_bytes = 24;
constexpr std::size_t tasks_on_page_max = 25;

rpc_failure no_room_for_task(unsigned running_max) {
  return {.code = rpc_error::invalid_request,
          .message = "Too many tasks: " + std::to_string(running_max) +
                     " can run at the same time; wait until one has ended, cancel one with "
                     "tasks/cancel, or call without \"task\""};
}

} // namespace

rpc_failure no_such_task(std::string_view id) {
  return {.code = rpc_error::invalid_params,
          .message = "Invalid params: there is no task " + detail::excerpt(id) +
                     ", or it was over for so long that it is not kept any more; call the tool "
                     "again"};
}

task_table::task_table(std::shared_ptr<const server::core> core,
                       std::shared_ptr<task_runner> runner)
    : core_(std::move(core)), runner_(std::move(runner)),
      result_{.name = "tasks/result",
              .handler = [this](call& c) { return result_of(c); },
              .era = method_era::legacy,
              .origin = json_origin::writer} {}

// --- running -----------------------------------------------------------------------------------

std::optional<call_answer> task_table::run(active_call& c) {
  return c.request().revision == revision::r2026_07_28 ? run_long(c) : run_asked(c);
}

std::shared_ptr<task> task_table::make(const active_call& c) const {
  auto id = sys::random_hex(task_id_bytes);
  return id ? std::make_shared<task>(core_, c, *std::move(id)) : nullptr;
}

/// The client asked for a task and gets one at once.
std::optional<call_answer> task_table::run_asked(active_call& c) {
  const std::shared_ptr<task> made = make(c);
  if (made == nullptr || !made->begin() || !keep(made))
    return no_room_for_task(core_->options.tasks.running_max);
  task_begun begun{.id = made->id(), .json = made->json(task::extent::state)};
  if (runner_->start([made](const auto& settle) { made->run(settle); })) {
    make_room(made);
    return begun;
  }
  forget(made);
  return no_room_for_task(core_->options.tasks.running_max);
}

/// A task where the call takes long, and there is room for it.
std::optional<call_answer> task_table::run_long(active_call& c) {
  const std::shared_ptr<task> made = make(c);
  if (made == nullptr || !runner_->start([made](const auto& settle) { made->run(settle); }))
    return std::nullopt;
  c.may_block();
  c.on_cancel([made] { (void)made->cancel(); });
  made->wait_for(std::chrono::milliseconds(core_->options.tasks.prompt_ms));
  const bool kept = !c.cancelled().load() && keep(made);
  if (kept && made->begin()) {
    make_room(made);
    c.on_cancel({});
    return task_begun{.id = made->id(), .json = made->json(task::extent::state)};
  }
  if (kept) forget(made);
  static constexpr std::atomic<bool> never{false};
  made->wait(never);
  c.on_cancel({});
  c.note_trouble(made->trouble());
  return made->take_answer();
}

// --- the table ---------------------------------------------------------------------------------

void task_table::drop_stale() {
  std::erase_if(entries_, [](const entry& each) { return each.it->is_stale(); });
}

bool task_table::keep(const std::shared_ptr<task>& it) {
  const std::lock_guard lock(guard_);
  if (closed_) return false;
  drop_stale();
  // Who has a result may begin the next task, though others are still told of the first.
  const auto over =
      std::ranges::count_if(entries_, [](const entry& each) { return each.it->is_over(); });
  if (entries_.size() - static_cast<std::size_t>(over) >= core_->options.tasks.kept_max)
    return false;
  entries_.push_back({++last_number_, it});
  return true;
}

void task_table::make_room(const std::shared_ptr<task>& it) {
  const std::lock_guard lock(guard_);
  while (entries_.size() > core_->options.tasks.kept_max) {
    const auto oldest = std::ranges::find_if(
        entries_, [&](const entry& each) { return each.it != it && each.it->is_over(); });
    if (oldest == entries_.end()) return;
    entries_.erase(oldest);
  }
}

void task_table::forget(const std::shared_ptr<task>& it) {
  const std::lock_guard lock(guard_);
  std::erase_if(entries_, [&](const entry& each) { return each.it == it; });
}

std::shared_ptr<task> task_table::find(std::string_view id) {
  const std::lock_guard lock(guard_);
  drop_stale();
  const auto found =
      std::ranges::find_if(entries_, [&](const entry& each) { return each.it->id() == id; });
  return found == entries_.end() ? nullptr : found->it;
}

std::optional<std::string> task_table::list(std::string_view cursor) {
  std::uint64_t behind = 0;
  const char* const end = cursor.data() + cursor.size();
  if (!cursor.empty()) {
    const auto [last, problem] = std::from_chars(cursor.data(), end, behind);
    if (problem != std::errc() || last != end) return std::nullopt;
  }
  const std::lock_guard lock(guard_);
  if (behind > last_number_) return std::nullopt;
  drop_stale();
  auto each = std::ranges::upper_bound(entries_, behind, {}, &entry::number);
  json_writer out;
  out.begin_object().key("tasks").begin_array();
  for (std::size_t n = 0; each != entries_.end() && n < tasks_on_page_max; ++each, ++n) {
    out.raw(each->it->json(task::extent::state));
    behind = each->number;
  }
  out.end_array();
  if (each != entries_.end()) out.member("nextCursor", std::to_string(behind));
  out.end_object();
  return out.take();
}

void task_table::close() {
  std::vector<entry> ending;
  {
    const std::lock_guard lock(guard_);
    closed_ = true;
    ending.swap(entries_);
  }
  for (const entry& each : ending) {
    each.it->detach();
    (void)each.it->cancel();
  }
}

/// Waits for the end of the task.
method_result task_table::result_of(call& c) {
  const std::string_view id = c.arguments()["taskId"].string().value_or("");
  const std::shared_ptr<task> found = find(id);
  if (found == nullptr) return {.json = {}, .error = no_such_task(id), .needed = {}};
  c.only_waits();
  c.on_cancel([found] { found->wake(); });
  found->wait(c.cancelled());
  c.on_cancel({});
  if (found->is_over()) return found->result();
  return method_result::failure(rpc_error::internal_error, "the connection is ending");
}

} // namespace paddock::mcp
