// SPDX-License-Identifier: MIT
#include "skill_manager/calls.hpp"
#include "skill_manager/mcp_connection.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/skill_manager/mcp_skill.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace paddock::skill_manager {
namespace {

constexpr unsigned restarts_max = 1;

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

struct mcp_skill::shared {
  explicit shared(mcp_options o) : options(std::move(o)) {}

  [[nodiscard]] result<std::shared_ptr<connection>> use(failure* why);
  [[nodiscard]] result<std::shared_ptr<connection>> start(std::unique_lock<std::mutex>& lock,
                                                          failure* why);
  [[nodiscard]] bool may_offer(std::string_view tool) const;
  [[nodiscard]] error remember(error e, failure reason, failure* why);
  void explain_loss(const connection& lost, std::string_view text, failure* why);

  const mcp_options options;
  const cancellation stop;

  mutable std::mutex guard;
  std::condition_variable changed;
  skill_manager::state current = skill_manager::state::idle;
  bool initialised = false;
  bool closing = false;
  unsigned restarts = 0;
  std::shared_ptr<connection> link; // while ready
  error failed_with{};              // while failed
  failure failed_because;
};

/// The connection, started where it is not there yet or was lost. One thread starts it, the others
/// wait.
result<std::shared_ptr<mcp_skill::connection>> mcp_skill::shared::use(failure* why) {
  std::unique_lock lock(guard);
  changed.wait(lock, [&] { return current != skill_manager::state::starting; });
  if (closing) return fail(why, options.name, error_code::cancelled, "the skill was closed");
  if (!initialised)
    return fail(why, options.name, error_code::conflict, "the skill is not initialised");
  if (current == skill_manager::state::failed) {
    if (why != nullptr) *why = failed_because;
    return failed_with;
  }
  if (current == skill_manager::state::ready) {
    if (link->connected()) return link;
    if (restarts == restarts_max)
      return remember({error_code::io, 0, "skill_manager"},
                      {options.name, "the server was lost again after it had been restarted: " +
                                         link->why_lost()},
                      why);
    ++restarts;
  }
  return start(lock, why);
}

result<std::shared_ptr<mcp_skill::connection>>
mcp_skill::shared::start(std::unique_lock<std::mutex>& lock, failure* why) {
  current = skill_manager::state::starting;
  std::shared_ptr<connection> old = std::exchange(link, nullptr);
  lock.unlock();
  old.reset(); // what is left of the lost one
  failure reason;
  auto opened = connection::open(options, stop, &reason);
  lock.lock();
  changed.notify_all();
  if (!opened) return remember(opened.error(), std::move(reason), why);
  current = skill_manager::state::ready;
  link = *opened; // close, which waits for this, ends it
  if (closing) return fail(why, options.name, error_code::cancelled, "the skill was closed");
  return *std::move(opened);
}

error mcp_skill::shared::remember(error e, failure reason, failure* why) {
  current = skill_manager::state::failed;
  failed_with = e;
  failed_because = std::move(reason);
  if (why != nullptr) *why = failed_because;
  return e;
}

/// Whether `pick` and `omit` let the tool through, whatever the server has.
bool mcp_skill::shared::may_offer(std::string_view tool) const {
  const tool_choice& choice = options.tools;
  if (std::ranges::find(choice.omit, tool) != choice.omit.end()) return false;
  return choice.pick.empty() || std::ranges::find(choice.pick, tool) != choice.pick.end();
}

void mcp_skill::shared::explain_loss(const connection& lost, std::string_view text, failure* why) {
  std::string message(text);
  if (message.empty()) message = lost.why_lost();
  const std::lock_guard lock(guard);
  message += restarts < restarts_max ? "; the server is restarted for the next call"
                                     : "; the server is not restarted again";
  (void)fail(why, options.name, error_code::io, std::move(message));
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
  const bool lost = shared_->current == skill_manager::state::ready &&
                    shared_->restarts == restarts_max && !shared_->link->connected();
  return lost ? skill_manager::state::failed : shared_->current;
}

result<void> mcp_skill::init(failure* why) {
  {
    const std::lock_guard lock(shared_->guard);
    if (shared_->closing) return fail(why, name(), error_code::cancelled, "the skill was closed");
    if (std::exchange(shared_->initialised, true))
      return fail(why, name(), error_code::conflict, "the skill was initialised before");
  }
  if (shared_->options.start == startup::lazy) return {};
  PADDOCK_CHECK(shared_->use(why));
  return {};
}

void mcp_skill::close() noexcept {
  std::unique_lock lock(shared_->guard);
  shared_->closing = true;
  shared_->stop.request();
  shared_->changed.wait(lock, [&] { return shared_->current != skill_manager::state::starting; });
  if (shared_->current == skill_manager::state::closed) return;
  shared_->current = skill_manager::state::starting; // a second close waits for this one
  const auto link = std::exchange(shared_->link, nullptr);
  lock.unlock();
  if (link) link->close();
  lock.lock();
  shared_->current = skill_manager::state::closed;
  shared_->changed.notify_all();
}

result<std::vector<tool_definition>> mcp_skill::tool_definitions(failure* why) {
  PADDOCK_TRY(const auto link, shared_->use(why));
  PADDOCK_TRY(const auto definitions, link->definitions(why));
  return *definitions;
}

result<call_outcome> mcp_skill::call_tool(std::string_view tool, std::string_view arguments,
                                          const mcp::call_options& options, failure* why) {
  call_arguments given;
  PADDOCK_CHECK(given.parse(arguments, name(), why));
  if (!shared_->may_offer(tool)) return no_such_tool(why, name(), tool);
  PADDOCK_TRY(const auto link, shared_->use(why));
  if (!offers(*link->known(), tool)) {
    PADDOCK_TRY(const auto renewed, link->definitions(why));
    if (!offers(*renewed, tool)) return no_such_tool(why, name(), tool);
  }
  mcp::call_options with = options;
  if (shared_->options.timeout_ms) {
    with.timeout_ms = *shared_->options.timeout_ms;
    with.timeout_ms_max = std::max(with.timeout_ms_max, with.timeout_ms);
  }
  std::string text;
  const auto reply = link->client().call_tool(tool, arguments, with, &text);
  if (!reply) {
    if (text.empty()) text = paddock::text(reply.error().code);
    if (reply.error().code == error_code::io && !link->connected())
      shared_->explain_loss(*link, text, why);
    else
      (void)fail(why, name(), reply.error().code, std::move(text));
    return reply.error();
  }
  mcp::json_document document;
  const auto whole = document.parse(reply->json);
  if (!whole || !whole->is(mcp::json_kind::object))
    return fail(why, name(), error_code::io, "the server's answer is no JSON object");
  return call_outcome(tool_reply{
      .content = content_of(*whole, tool), .result = reply->json, .failed = reply->failed});
}

} // namespace paddock::skill_manager
