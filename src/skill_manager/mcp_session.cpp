// SPDX-License-Identifier: MIT
#include "skill_manager/mcp_session.hpp"

#include "skill_manager/calls.hpp"
#include "skill_manager/visible_schema.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/base/detail/visible_text.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace paddock::skill_manager {
namespace {

constexpr std::size_t names_shown_max = 50;

bool holds(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// The command line or the URL, for people.
std::string target_of(const mcp::endpoint& endpoint) {
  if (const auto* remote = std::get_if<mcp::http_endpoint>(&endpoint)) return remote->url;
  std::string line;
  for (const std::string& argument : std::get<mcp::stdio_endpoint>(endpoint).argv) {
    if (!line.empty()) line += ' ';
    line += argument;
  }
  return line;
}

std::string names_of(const std::vector<mcp::remote_tool>& tools) {
  std::string names;
  for (std::size_t i = 0; i < tools.size() && i < names_shown_max; ++i)
    names += (i == 0 ? "" : ", ") + detail::with_hidden_named(tools[i].name);
  if (tools.size() > names_shown_max)
    names += " and " + std::to_string(tools.size() - names_shown_max) + " more";
  return tools.empty() ? "it has none" : "its tools are: " + names;
}

/// Tools that a model cannot be told of without characters that nobody sees.
class left_out {
public:
  void add(std::string_view tool, const std::string& where) {
    if (++count_ > told_max) return;
    const std::string name = detail::with_hidden_named(tool);
    told_.push_back("the tool " + detail::excerpt(name, name_characters_max) +
                    " is left out: " + where +
                    " has characters that nobody sees; have its server mended, or name it in omit");
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  void tell(const std::function<void(std::string text)>& warn) const {
    for (const std::string& each : told_)
      warn(each);
    if (count_ > told_max)
      warn(std::to_string(count_ - told_max) +
           " more tools are left out: their names or schemas have characters that nobody sees");
  }

private:
  static constexpr std::size_t told_max = 10;
  static constexpr std::size_t name_characters_max = 80;
  std::size_t count_ = 0;
  std::vector<std::string> told_;
};

} // namespace

result<std::shared_ptr<mcp_skill::session>, skill_error>
mcp_skill::session::open(const mcp_options& options, const hooks& on, const cancellation& stop) {
  const auto made = std::make_shared<session>(options, on);
  const std::string target = target_of(options.endpoint);
  made->tell(event::starting{options.name, target});
  mcp::client_options with = options.client;
  with.on_log = [c = made.get()](std::string_view line) {
    c->tell(event::log_line{c->options_.name, line});
  };
  with.on_tools_changed = [c = made.get()] { c->stale_ = true; };
  with.on_lost = [c = made.get()](std::string_view reason) { c->on_lost(reason); };
  auto client = mcp::client::connect(options.endpoint, std::move(with), &stop);
  if (!client)
    return skill_error(options.name, client.error(),
                       "cannot use " + target + ": " + explain(client.error()));
  made->client_.emplace(*std::move(client));
  made->select();
  made->announce();
  return made;
}

void mcp_skill::session::select() {
  const auto tools = client_->tools();
  const tool_choice& choice = options_.tools;
  std::vector<std::string_view> known;
  for (const mcp::remote_tool& tool : *tools)
    known.push_back(tool.name);
  warn_of_unknown(choice, known, hooks_.warn);
  auto chosen = std::make_shared<std::vector<tool_definition>>();
  left_out unreadable;
  for (const mcp::remote_tool& tool : *tools) {
    if (holds(choice.omit, tool.name)) continue;
    if (detail::has_hidden(tool.name)) {
      unreadable.add(tool.name, "its name");
      continue;
    }
    if (!choice.pick.empty() && !holds(choice.pick, tool.name)) continue;
    readable_schema schema = visible_schema(tool.input_schema);
    if (!schema.refused.empty()) {
      unreadable.add(tool.name, schema.refused + " in its input schema");
      continue;
    }
    chosen->push_back({.skill = options_.name,
                       .name = tool.name,
                       .description = detail::without_hidden(tool.description),
                       .input_schema = std::move(schema.json),
                       .type = skill_type::mcp});
  }
  unreadable.tell(hooks_.warn);
  if (chosen->empty() && !tools->empty() && unreadable.empty())
    hooks_.warn("pick and omit leave no tool of the server; " + names_of(*tools));
  const std::lock_guard lock(guard_);
  definitions_ = std::move(chosen);
}

result<definition_list, skill_error> mcp_skill::session::definitions() {
  if (stale_.exchange(false)) {
    if (const auto fetched = client_->refresh_tools(); !fetched) {
      stale_ = true;
      return skill_error(options_.name, fetched.error(),
                         "the server's tools changed and cannot be fetched: " +
                             explain(fetched.error()));
    }
    select();
  }
  return known();
}

definition_list mcp_skill::session::known() const {
  const std::lock_guard lock(guard_);
  return definitions_;
}

bool mcp_skill::session::connected() const {
  return client_->connected();
}

bool mcp_skill::session::answers_ping(const cancellation& stop) {
  // The current revision has no ping; asking what the server is costs as little.
  const bool modern = client_->server().revision == "2026-07-28";
  const mcp::call_options within{.timeout_ms = options_.ping_timeout_ms,
                                 .timeout_ms_max = options_.ping_timeout_ms,
                                 .cancel = &stop};
  const auto answered = client_->request(modern ? "server/discover" : "ping", "{}", within);
  left_unanswered = !answered && answered.error().code == error_code::timed_out;
  return !left_unanswered && client_->connected();
}

std::string mcp_skill::session::why_lost() const {
  const std::lock_guard lock(events_guard_);
  return lost_.value_or("");
}

void mcp_skill::session::announce() {
  tell(event::connected{options_.name, client_->server(), client_->times(), known()->size()});
  std::unique_lock lock(events_guard_);
  announced_ = true;
  if (lost_) tell_end(lock, *lost_);
}

void mcp_skill::session::on_lost(std::string_view why) {
  std::unique_lock lock(events_guard_);
  lost_ = why.empty() ? "the connection was lost" : std::string(why);
  if (tell_end(lock, *lost_)) hooks_.lost();
}

void mcp_skill::session::close() noexcept {
  if (client_) client_->close();
  std::unique_lock lock(events_guard_);
  tell_end(lock, {});
}

/// Once, and after "connected". False when it is not up to the caller. Unlocks.
bool mcp_skill::session::tell_end(std::unique_lock<std::mutex>& lock, std::string why) {
  const bool is_mine = announced_ && !std::exchange(ended_, true);
  lock.unlock();
  if (is_mine) tell(event::disconnected{options_.name, why});
  return is_mine;
}

} // namespace paddock::skill_manager
