// SPDX-License-Identifier: MIT
#include "skill_manager/calls.hpp"
#include "skill_manager/mcp_skill_state.hpp"
#include "sys/syscall.hpp"

#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <utility>

namespace paddock::skill_manager {
namespace {

/// The blocks of a result; one of text where it has none.
std::string content_of(mcp::json_view whole, std::string_view tool) {
  const mcp::json_view content = whole["content"];
  if (content.is(mcp::json_kind::array) && content.size() > 0) return content.text();
  const mcp::json_view structured = whole["structuredContent"];
  return text_content(structured.exists() ? structured.text()
                                          : std::string(tool) + " returned nothing");
}

bool offers(const std::vector<tool_definition>& all, std::string_view tool) {
  return std::ranges::find(all, tool, &tool_definition::name) != all.end();
}

} // namespace

/// The session, started where it is not there yet or was lost. One thread starts it, the others
/// wait.
result<std::shared_ptr<mcp_skill::session>, skill_error> mcp_skill::shared::use() {
  std::unique_lock lock(guard);
  changed.wait(lock, [&] { return !busy; });
  if (closing) return fail(options.name, error_code::cancelled, "the skill was closed");
  if (!initialised) return fail(options.name, error_code::conflict, "the skill is not initialised");
  if (current == skill_manager::state::failed) return *failed_because;
  if (current == skill_manager::state::idle) return start(lock);
  if (current == skill_manager::state::ready && link->connected())
    return link->left_unanswered && link->calls_in_flight == 0 ? check(lock) : link;
  if (!is_remote()) return replace_lost(lock);
  if (current == skill_manager::state::ready) begin_reconnecting();
  return fail(options.name, error_code::io,
              "the server was lost (" + lost_because + "); " + when_again());
}

result<std::shared_ptr<mcp_skill::session>, skill_error>
mcp_skill::shared::replace_lost(std::unique_lock<std::mutex>& lock) {
  if (restarts < restarts_max) {
    ++restarts;
    return start(lock);
  }
  const auto old = std::exchange(link, nullptr);
  auto failed =
      remember(fail(options.name, error_code::io,
                    "the server was lost again after it had been restarted: " + old->why_lost()));
  lock.unlock(); // `old` ends what is left of it
  return failed;
}

/// Of a program that left a call unanswered. While it does not say that it lives, nobody else is
/// sent to it.
result<std::shared_ptr<mcp_skill::session>, skill_error>
mcp_skill::shared::check(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<session> suspect = link;
  busy = true;
  lock.unlock();
  const bool alive = suspect->answers_ping(stop);
  if (!alive && suspect->connected())
    suspect->give_up("it left a call unanswered until its deadline, and then a ping");
  lock.lock();
  busy = false;
  changed.notify_all();
  if (closing) return fail(options.name, error_code::cancelled, "the skill was closed");
  if (alive) return suspect;
  return replace_lost(lock);
}

result<std::shared_ptr<mcp_skill::session>, skill_error>
mcp_skill::shared::start(std::unique_lock<std::mutex>& lock) {
  current = skill_manager::state::starting;
  busy = true;
  std::shared_ptr<session> old = std::exchange(link, nullptr);
  lock.unlock();
  old.reset(); // what is left of the lost one
  auto made = session::open(options, hooks, stop);
  lock.lock();
  busy = false;
  changed.notify_all();
  if (!made) return remember(std::move(made).error());
  current = skill_manager::state::ready;
  link = *made; // close, which waits for this, ends it
  connected_at_ms = sys::monotonic_ms();
  if (closing) return fail(options.name, error_code::cancelled, "the skill was closed");
  if (is_remote() && !link->connected()) begin_reconnecting(); // nobody was there to hear of it
  return *std::move(made);
}

skill_error mcp_skill::shared::remember(skill_error reason) {
  current = skill_manager::state::failed;
  failed_because = std::move(reason);
  return *failed_because;
}

skill_manager::state mcp_skill::shared::visible_state() const {
  using skill_manager::state;
  if (current != state::ready) return current;
  if (link->connected()) return link->left_unanswered ? state::unresponsive : state::ready;
  return is_remote() || restarts < restarts_max ? state::reconnecting : state::failed;
}

void mcp_skill::shared::warn(const std::string& text) {
  {
    const std::lock_guard lock(guard);
    if (warned.size() >= warned_max || !warned.insert(text).second) return;
  }
  tell(event::warning{options.name, text});
}

// --- calls --------------------------------------------------------------------------------------

/// Whether `pick` and `omit` let the tool through, whatever the server has.
bool mcp_skill::shared::may_offer(std::string_view tool) const {
  const tool_choice& choice = options.tools;
  if (std::ranges::find(choice.omit, tool) != choice.omit.end()) return false;
  return choice.pick.empty() || std::ranges::find(choice.pick, tool) != choice.pick.end();
}

std::string mcp_skill::shared::after_loss() const {
  const std::lock_guard lock(guard);
  if (is_remote()) return "; the call may have been carried out; " + when_again();
  return restarts < restarts_max ? "; the server is restarted for the next call"
                                 : "; the server is not restarted again";
}

/// What a call failed with, and what comes next.
skill_error mcp_skill::shared::error_of_call(session& asked, const detailed_error& reason) {
  std::string text = explain(reason);
  if (reason.code == error_code::io && !asked.connected()) {
    text += after_loss();
  } else if (reason.code == error_code::timed_out && !is_remote()) {
    asked.left_unanswered = true;
    text += "; before the next call the server is asked whether it still answers";
  }
  return {options.name, reason, std::move(text)};
}

mcp_skill::mcp_skill(mcp_options options) : shared_(std::make_unique<shared>(std::move(options))) {}

mcp_skill::~mcp_skill() {
  close();
}

const std::string& mcp_skill::name() const noexcept {
  return shared_->options.name;
}

skill_manager::state mcp_skill::state() const noexcept {
  const std::lock_guard lock(shared_->guard);
  return shared_->visible_state();
}

result<void, skill_error> mcp_skill::init() {
  if (is_inside_observer())
    return fail(name(), error_code::conflict,
                "an observer cannot wait for a server: initialise the skill after it has returned");
  {
    const std::lock_guard lock(shared_->guard);
    if (shared_->closing) return fail(name(), error_code::cancelled, "the skill was closed");
    if (std::exchange(shared_->initialised, true))
      return fail(name(), error_code::conflict, "the skill was initialised before");
  }
  if (shared_->options.start == startup::lazy) return {};
  PADDOCK_CHECK(shared_->use());
  return {};
}

void mcp_skill::close() noexcept {
  std::unique_lock lock(shared_->guard);
  shared_->closing = true;
  shared_->stop.request();
  shared_->changed.notify_all();
  shared_->changed.wait(lock, [&] { return !shared_->busy; });
  if (shared_->current == skill_manager::state::closed) return;
  shared_->busy = true; // a second close waits for this one
  const auto link = std::exchange(shared_->link, nullptr);
  shared_->current = skill_manager::state::starting; // nothing is ready without a link
  std::thread reconnector = std::move(shared_->reconnector);
  lock.unlock();
  if (reconnector.joinable()) reconnector.join();
  if (link) link->close();
  lock.lock();
  shared_->current = skill_manager::state::closed;
  shared_->busy = false;
  shared_->changed.notify_all();
}

/// Without waiting for anything.
result<std::vector<tool_definition>, skill_error> mcp_skill::shared::known_tools() const {
  const std::lock_guard lock(guard);
  if (closing) return fail(options.name, error_code::cancelled, "the skill was closed");
  if (current == skill_manager::state::failed) return *failed_because;
  if (link != nullptr) return *link->known();
  if (offered) return *offered;
  return fail(options.name, error_code::conflict,
              "the skill is not connected, and an observer cannot wait for it: ask again after it "
              "has returned");
}

result<std::vector<tool_definition>, skill_error> mcp_skill::tool_definitions() {
  if (is_inside_observer()) return shared_->known_tools();
  auto link = shared_->use();
  if (!link) {
    // An agent's tools do not come and go with a session that will be there again.
    const std::lock_guard lock(shared_->guard);
    const bool comes_back = shared_->current == skill_manager::state::reconnecting;
    if (comes_back && shared_->offered) return *shared_->offered;
    return std::move(link).error();
  }
  PADDOCK_TRY(const auto definitions, (*link)->definitions());
  const std::lock_guard lock(shared_->guard);
  shared_->offered = definitions;
  return *definitions;
}

result<call_outcome, skill_error> mcp_skill::call_tool(std::string_view tool,
                                                       std::string_view arguments,
                                                       const mcp::call_options& options) {
  call_arguments given;
  PADDOCK_CHECK(given.parse(arguments, name()));
  if (!shared_->may_offer(tool)) return no_such_tool(name(), tool);
  if (is_inside_observer())
    return fail(name(), error_code::conflict,
                "an observer cannot wait for a server: call the tool after it has returned");
  PADDOCK_TRY(const auto link, shared_->use());
  if (!offers(*link->known(), tool)) {
    PADDOCK_TRY(const auto renewed, link->definitions());
    if (!offers(*renewed, tool)) return no_such_tool(name(), tool);
  }
  mcp::call_options with = options;
  if (shared_->options.timeout_ms) {
    with.timeout_ms = *shared_->options.timeout_ms;
    with.timeout_ms_max = std::max(with.timeout_ms_max, with.timeout_ms);
  }
  ++link->calls_in_flight;
  const auto reply = link->client().call_tool(tool, arguments, with);
  --link->calls_in_flight;
  if (reply) link->left_unanswered = false;
  if (!reply) return shared_->error_of_call(*link, reply.error());
  mcp::json_document document;
  const auto whole = document.parse(reply->json);
  if (!whole || !whole->is(mcp::json_kind::object))
    return fail(name(), error_code::io, "the server's answer is no JSON object");
  return call_outcome(tool_reply{
      .content = content_of(*whole, tool), .result = reply->json, .failed = reply->failed});
}

} // namespace paddock::skill_manager
