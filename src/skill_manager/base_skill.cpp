// SPDX-License-Identifier: MIT
#include "base/later.hpp"
#include "base/start_thread.hpp"
#include "mcp/protocol/guarded.hpp"
#include "skill_manager/calls.hpp"
#include "sys/cancellation.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/mcp/client.hpp>
#include <paddock/mcp/tool.hpp>
#include <paddock/skill_manager/base_skill.hpp>
#include <paddock/version.hpp>

#include <gsl/assert>
#include <gsl/util>

#include <poll.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

namespace paddock::skill_manager {
namespace {

/// A tool call without a connection: the handler runs on the caller's thread, and only when it says
/// that it may block does another thread watch for cancellation and the deadline.
class in_process_call final : public mcp::call {
public:
  /// The options must live as long as the call.
  in_process_call(mcp::json_view arguments, const mcp::call_options& options,
                  std::size_t message_bytes_max)
      : options_(options), message_bytes_max_(message_bytes_max) {
    arguments_ = arguments;
    if (options.cancel != nullptr && options.cancel->requested()) cancelled_ = true;
  }
  ~in_process_call() override { finish(); }

  void on_cancel(std::function<void()> f) override {
    const std::lock_guard lock(guard_);
    on_cancel_ = std::move(f);
    if (on_cancel_ && cancelled_.load()) on_cancel_();
  }
  void may_block() override {
    if (watcher_.joinable()) return;
    auto finished = sys::eventfd();
    if (!finished) return cancel(); // what nobody can end had better not begin
    finished_ = *std::move(finished);
    int cancellation_fd = -1;
    if (options_.cancel != nullptr) {
      const auto fd = cancellation_watch::descriptor(*options_.cancel);
      if (!fd) return cancel();
      cancellation_fd = *fd;
    }
    if (!start_thread(watcher_, [this, cancellation_fd] { watch(cancellation_fd); })) cancel();
  }
  [[nodiscard]] bool wants_progress() const noexcept override {
    return options_.on_progress != nullptr;
  }
  void progress(double progress, std::string_view message) override {
    if (!wants_progress()) return;
    const std::lock_guard lock(progress_guard_);
    if (!(progress > last_progress_)) return;
    last_progress_ = progress;
    options_.on_progress(progress, 0, message);
  }
  void log(mcp::log_level, std::string_view) override {} // there is no client
  [[nodiscard]] std::size_t message_bytes_max() const noexcept override {
    return message_bytes_max_;
  }

  void cancel() {
    const std::lock_guard lock(guard_);
    if (!cancelled_.exchange(true) && on_cancel_) on_cancel_();
  }
  /// Ends the watching; afterwards nothing cancels any more.
  void finish() {
    if (!watcher_.joinable()) return;
    sys::raise_event(finished_.get());
    watcher_.join();
  }
  [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }

private:
  void watch(int cancellation_fd) {
    const std::int64_t deadline_ms =
        later(sys::monotonic_ms(), std::max<std::int64_t>(options_.timeout_ms_max, 0));
    for (;;) {
      std::array<pollfd, 2> entries{{{finished_.get(), POLLIN, 0}, {cancellation_fd, POLLIN, 0}}};
      const std::int64_t left_ms = deadline_ms - sys::monotonic_ms();
      const auto ready = sys::poll(entries, std::max<std::int64_t>(left_ms, 0));
      if (!ready || entries[0].revents != 0) return;
      if (entries[1].revents != 0) return cancel();
      if (left_ms <= 0) {
        timed_out_ = true;
        return cancel();
      }
    }
  }

  const mcp::call_options& options_;
  const std::size_t message_bytes_max_;
  std::mutex guard_; ///< held while on_cancel_ is set or runs
  std::function<void()> on_cancel_;
  std::atomic<bool> timed_out_{false};
  std::mutex progress_guard_;
  double last_progress_ = -std::numeric_limits<double>::infinity();
  file_descriptor finished_;
  std::thread watcher_;
};

/// The result object that a server would send.
std::string result_of(const mcp::tool_result& r, std::string_view content) {
  mcp::json_writer out;
  out.begin_object().key("content").raw(content);
  if (!r.failed() && !r.json.empty()) out.key("structuredContent").raw(r.json);
  out.key("isError").boolean(r.failed()).end_object();
  return out.take();
}

} // namespace

struct base_skill::shared {
  explicit shared(base_options o) : options(std::move(o)) {}

  const mcp::tool* find(std::string_view name) const {
    const auto found = std::ranges::find(tools, name, &mcp::tool::name);
    return found == tools.end() ? nullptr : &*found;
  }
  void tell(const any_event& e) const { skill_manager::tell(options.on_event, e); }
  [[nodiscard]] result<std::vector<mcp::tool>>
  chosen_tools(std::vector<std::string>& warnings) const;
  [[nodiscard]] result<void, skill_error> start(std::vector<std::string>& warnings);

  const base_options options;
  std::vector<mcp::tool> tools; // constant once `current` is ready

  mutable std::mutex guard;
  std::condition_variable changed;
  skill_manager::state current = skill_manager::state::idle;
  std::vector<in_process_call*> running;
};

/// What `pick` and `omit` leave; a name in them that is no tool, or no tool at all, is a warning.
result<std::vector<mcp::tool>>
base_skill::shared::chosen_tools(std::vector<std::string>& warnings) const {
  const auto known = mcp::workspace_tool_names(options.tools.tools);
  const auto warn = [&](std::string message) { warnings.push_back(std::move(message)); };
  warn_of_unknown({.pick = options.tools.pick, .omit = options.tools.omit}, known, warn);
  const auto is_known = [&](const std::string& name) {
    return std::ranges::find(known, name) != known.end();
  };
  mcp::workspace_options with = options.tools;
  std::erase_if(with.pick, std::not_fn(is_known));
  std::erase_if(with.omit, std::not_fn(is_known));
  const bool picks_none = with.pick.empty() && !options.tools.pick.empty();
  auto made = picks_none ? result<std::vector<mcp::tool>, detailed_error>(std::vector<mcp::tool>())
                         : mcp::workspace_tools(options.workspace, std::move(with));
  const bool leaves_none = !made && made.error().code == error_code::invalid_argument;
  if (!made && !leaves_none) return static_cast<const error&>(made.error());
  if (!picks_none && !leaves_none) return *std::move(made);
  std::string names;
  for (const std::string_view name : known)
    names.append(names.empty() ? "" : ", ").append(name);
  warn("pick and omit leave no tool of the Base Skill; its tools are: " + names);
  return std::vector<mcp::tool>();
}

result<void, skill_error> base_skill::shared::start(std::vector<std::string>& warnings) {
  const std::lock_guard lock(guard);
  if (current != skill_manager::state::idle)
    return fail(options.name, error_code::conflict, "the skill was initialised before");
  auto chosen = chosen_tools(warnings);
  if (!chosen) {
    current = skill_manager::state::failed;
    return fail(options.name, chosen.error().code,
                "its tools cannot be made: " + std::string(text(chosen.error().code)));
  }
  tools = *std::move(chosen);
  current = skill_manager::state::ready;
  return {};
}

base_skill::base_skill(base_options options)
    : shared_(std::make_unique<shared>(std::move(options))) {
  Expects(shared_->options.workspace != nullptr);
}

base_skill::~base_skill() {
  close();
}

const std::string& base_skill::name() const noexcept {
  return shared_->options.name;
}

skill_manager::state base_skill::state() const noexcept {
  const std::lock_guard lock(shared_->guard);
  return shared_->current;
}

result<void, skill_error> base_skill::init() {
  std::vector<std::string> warnings;
  const auto started = shared_->start(warnings);
  for (const std::string& text : warnings)
    shared_->tell(event::warning{name(), text});
  PADDOCK_CHECK(started);
  const mcp::server_identity identity{
      .name = "paddock", .version = PADDOCK_VERSION, .instructions = {}, .revision = {}};
  shared_->tell(event::starting{name(), "in this process"});
  shared_->tell(event::connected{name(), identity, {}, shared_->tools.size()});
  return {};
}

void base_skill::close() noexcept {
  std::unique_lock lock(shared_->guard);
  const bool was_ready = shared_->current == skill_manager::state::ready;
  shared_->current = skill_manager::state::closed;
  for (in_process_call* call : shared_->running)
    call->cancel();
  shared_->changed.wait(lock, [&] { return shared_->running.empty(); });
  lock.unlock();
  if (was_ready) shared_->tell(event::disconnected{name(), {}});
}

result<std::vector<tool_definition>, skill_error> base_skill::tool_definitions() {
  PADDOCK_CHECK(check_ready(state(), name()));
  std::vector<tool_definition> all;
  for (const mcp::tool& tool : shared_->tools)
    all.push_back({.skill = name(),
                   .name = tool.name,
                   .description = tool.description,
                   .input_schema = mcp::input_schema_of(tool),
                   .type = type()});
  return all;
}

const std::vector<mcp::tool>& base_skill::tools() const noexcept {
  return shared_->tools;
}

result<call_outcome, skill_error> base_skill::call_tool(std::string_view tool,
                                                        std::string_view arguments,
                                                        const mcp::call_options& options) {
  PADDOCK_CHECK(check_ready(state(), name()));
  const mcp::tool* found = shared_->find(tool);
  if (found == nullptr) return no_such_tool(name(), tool);
  call_arguments given;
  PADDOCK_CHECK(given.parse(arguments, name()));
  const std::string problems = given.complete(*found);
  const mcp::workspace_options& chosen = shared_->options.tools;
  const limits bounds = chosen.limits.value_or(mcp::limits_of(chosen.tools));
  in_process_call call(given.view(), options,
                       static_cast<std::size_t>(bounds.message_out_bytes_max));
  {
    const std::lock_guard lock(shared_->guard);
    PADDOCK_CHECK(check_ready(shared_->current, name()));
    shared_->running.push_back(&call);
  }
  const auto forget = gsl::finally([&] {
    const std::lock_guard lock(shared_->guard);
    std::erase(shared_->running, &call);
    shared_->changed.notify_all();
  });
  if (call.cancelled())
    return fail(name(), error_code::cancelled, "the call was cancelled before it began");
  std::string thrown;
  auto done = mcp::guarded(
      [&] {
        return problems.empty() ? found->handler(call)
                                : mcp::tool_result::failure(error_code::invalid_argument, problems);
      },
      thrown);
  if (!done) call.on_cancel({}); // it may refer to what is gone
  call.finish();
  if (!done)
    return fail(name(), error_code::io, "the tool " + found->name + " did not finish: " + thrown);
  const mcp::tool_result r = *std::move(done);
  // A tool that succeeded all the same has done its work.
  if (r.failed() && call.timed_out())
    return fail(name(), error_code::timed_out, "the call took longer than it may");
  if (r.failed() && call.cancelled())
    return fail(name(), error_code::cancelled, "the call was cancelled");
  std::string content = r.content.empty() ? text_content(r.json) : r.content;
  std::string whole = result_of(r, content);
  return call_outcome(
      tool_reply{.content = std::move(content), .result = std::move(whole), .failed = r.failed()});
}

} // namespace paddock::skill_manager
