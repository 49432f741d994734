// SPDX-License-Identifier: MIT
#include "mcp/http/service.hpp"

#include "http/server/secret.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace paddock::mcp {

namespace {

constexpr std::size_t id_bytes = 24;

} // namespace

result<std::shared_ptr<legacy_session>> session_table::add(std::shared_ptr<session> talk,
                                                           std::int64_t now_ms) {
  PADDOCK_TRY(std::string id, http::new_secret(id_bytes));
  if (by_id_.size() >= sessions_max_) {
    auto oldest = by_id_.end();
    for (auto each = by_id_.begin(); each != by_id_.end(); ++each)
      if (each->second->calls_open == 0 &&
          (oldest == by_id_.end() || each->second->used_ms < oldest->second->used_ms))
        oldest = each;
    if (oldest == by_id_.end()) return error{error_code::too_many, 0, "sessions"};
    by_id_.erase(oldest);
  }
  const auto made = std::make_shared<legacy_session>(
      legacy_session{.id = id, .talk = std::move(talk), .calls_open = 0, .used_ms = now_ms});
  by_id_.emplace(std::move(id), made);
  return made;
}

std::shared_ptr<legacy_session> session_table::find(std::string_view id, std::int64_t now_ms) {
  const auto found = by_id_.find(std::string(id));
  if (found == by_id_.end()) return nullptr;
  found->second->used_ms = now_ms;
  return found->second;
}

bool session_table::end(std::string_view id) {
  const auto found = by_id_.find(std::string(id));
  if (found == by_id_.end()) return false;
  (void)found->second->talk->end(); // it has no subscription
  by_id_.erase(found);
  return true;
}

void session_table::end_all() {
  for (const auto& [id, each] : by_id_)
    (void)each->talk->end();
}

std::int64_t session_table::expire(std::int64_t now_ms, std::int64_t never) {
  std::int64_t next_ms = never;
  std::erase_if(by_id_, [&](const auto& entry) {
    if (entry.second->calls_open > 0) return false; // its end will be a use
    const std::int64_t at_ms = entry.second->used_ms + idle_ms_;
    if (at_ms <= now_ms) return true;
    next_ms = std::min(next_ms, at_ms);
    return false;
  });
  return next_ms;
}

namespace {

constexpr std::chrono::milliseconds patience_with_last_tasks{500};

} // namespace

http_server::service::service(std::shared_ptr<const server::core> core, http_server_options options,
                              const http::listener& l, file_descriptor wake)
    : core_(std::move(core)), options_(std::move(options)), address_(l.url_of(options_.path)),
      mailbox_(std::make_shared<mailbox>(std::move(wake))),
      pool_(std::make_shared<http::worker_pool>(options_.calls_running_max,
                                                options_.calls_waiting_max)),
      runner_(std::make_shared<task_runner>(core_->options.tasks.running_max)),
      tasks_(core_->has_tasks ? std::make_shared<task_table>(core_, runner_) : nullptr),
      sessions_(options_.sessions_max, options_.session_idle_ms) {
  using audience = http::listener::audience;
  rules_.path = options_.path;
  rules_.token = options_.token;
  for (const std::string& each : options_.allowed_hosts)
    rules_.who.allowed_hosts.push_back(http::ascii_lower(each));
  for (const std::string& each : options_.allowed_origins)
    rules_.who.allowed_origins.push_back(http::ascii_lower(each));
  if (l.open_to() == audience::owner_of_file ||
      (l.open_to() == audience::network && rules_.who.allowed_hosts.empty()))
    rules_.who.host_rule = http::asker_rules::hosts::any;
}

result<std::unique_ptr<http_server::service>>
http_server::service::make(std::shared_ptr<const server::core> core, http_server_options options) {
  PADDOCK_TRY(http::listener l, http::listener::open(options.listen, !options.token.empty()));
  PADDOCK_TRY(file_descriptor wake, sys::eventfd());
  const http::server_options serving{
      .connections_max = options.connections_max,
      .buffered_bytes_max = options.buffered_bytes_max,
      .head_bytes_max = options.head_bytes_max,
      .body_bytes_max = core->options.limits.message_in_bytes_max,
      .head_timeout_ms = options.head_timeout_ms,
      .body_timeout_ms = options.body_timeout_ms,
      .write_timeout_ms = options.write_timeout_ms,
      .idle_timeout_ms = options.idle_timeout_ms,
      .keep_alive_ms = options.keep_alive_ms,
      .stop_grace_ms = options.stop_grace_ms,
  };
  std::unique_ptr<service> made(
      new service(std::move(core), std::move(options), l, std::move(wake)));
  PADDOCK_TRY(made->http_, http::server::make(*made, std::move(l), serving));
  return made;
}

result<http_serve_outcome> http_server::service::run(int stop_fd) {
  if (!pool_->start()) return error{error_code::too_many, EAGAIN, "thread"};
  const auto served = http_->run(stop_fd);
  http_serve_outcome outcome{.calls_abandoned = pool_->stop()};
  (void)runner_->wait_until(std::chrono::steady_clock::now() + patience_with_last_tasks);
  outcome.calls_abandoned += runner_->running();
  if (!served) outcome.failure = served.error();
  mailbox_->close();
  return outcome;
}

std::int64_t http_server::service::expire(std::int64_t now_ms, std::int64_t never) {
  return sessions_.expire(now_ms, never);
}

void http_server::service::cancel_all() {
  sessions_.end_all();
  if (tasks_) tasks_->close();
}

} // namespace paddock::mcp
