// SPDX-License-Identifier: MIT
#include "mcp/client/http/streamable_http.hpp"

#include "mcp/protocol/header_value.hpp"

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

/// How long a server may take to accept what needs no answer.
constexpr std::int64_t notification_ms = 30'000;
constexpr std::int64_t session_end_ms_max = 1'000;
constexpr int failures_max = 5;

bool is_handshake_end(const http_message& m) {
  return !m.modern && m.method == "notifications/initialized";
}

} // namespace

streamable_http::streamable_http(http_headers headers, const client_options& options,
                                 incoming& sink)
    : headers_(std::move(headers)), message_bytes_max_(options.message_bytes_max),
      close_ms_(std::clamp<std::int64_t>(options.close_grace_ms, 1, session_end_ms_max)),
      sink_(sink) {}

result<void> streamable_http::start(http_origin server) {
  target_ = server.to.target;
  PADDOCK_TRY(loop_, http_loop::start(std::move(server)));
  return {};
}

result<void, detailed_error> streamable_http::send(const outgoing& message) {
  PADDOCK_TRY(auto counted, in_flight::begin(in_flight_));
  auto j = std::make_shared<job>(job{http_message(message), std::move(counted)});
  loop_->post([this, j = std::move(j)] { submit(j); });
  return {};
}

void streamable_http::forget(const request_id& id) noexcept {
  loop_->post([this, id] { drop(id); });
}

void streamable_http::drop(const request_id& id) {
  std::erase_if(held_, [&](const auto& j) { return j->message.id == id; });
  const auto found = waiting_.find(id.json());
  if (found == waiting_.end()) return;
  loop_->abandon(found->second.transfer);
  waiting_.erase(found);
}

void streamable_http::close() noexcept {
  if (!loop_) return;
  {
    const std::lock_guard lock(guard_);
    if (std::exchange(closed_, true)) return;
  }
  loop_->post([this] { end_session(); });
  {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [this] { return session_ended_; });
  }
  loop_->stop();
}

http_headers streamable_http::headers_for(std::string_view accept,
                                          const http_message* message) const {
  http_headers out = headers_;
  out.emplace_back("Accept", accept);
  out.emplace_back("Accept-Encoding", "identity");
  const std::string& revision = message != nullptr ? message->revision : revision_;
  // The handshake settles the revision, so it can't name one.
  if (!revision.empty() && (message == nullptr || message->method != "initialize"))
    out.emplace_back("MCP-Protocol-Version", header_value_of(revision));
  if (message != nullptr) {
    out.emplace_back("Content-Type", "application/json");
    if (message->modern) {
      if (!message->method.empty())
        out.emplace_back("Mcp-Method", header_value_of(message->method));
      if (!message->name.empty()) out.emplace_back("Mcp-Name", header_value_of(message->name));
      for (const auto& [name, value] : message->parameters)
        out.emplace_back(name, header_value_of(value));
      return out;
    }
  }
  if (!session_.empty()) out.emplace_back("Mcp-Session-Id", session_);
  return out;
}

http_request streamable_http::get_request(const std::string& target,
                                          std::string_view last_event_id) const {
  http_request request{.method = "GET",
                       .target = target,
                       .headers = headers_for("text/event-stream", nullptr),
                       .body = {}};
  if (!last_event_id.empty()) request.headers.emplace_back("Last-Event-ID", last_event_id);
  return request;
}

/// Where the answer of the server at `from` leads, if that may be followed.
std::optional<std::string> streamable_http::redirected(const std::string& from,
                                                       const http_head& head) const {
  url asked = loop_->server();
  asked.target = from;
  return same_origin_target(asked, head);
}

void streamable_http::submit(std::shared_ptr<job> j) {
  if (closing_) return;
  const http_message& m = j->message;
  if (m.id) waiting_[m.id->json()] = {};
  if (holding_) return held_.push_back(std::move(j));
  if (session_is_lost_ && m.id) return renew_session(std::move(j));
  if (j->target.empty()) j->target = target_;
  if (m.method == "initialize") initialize_ = m.json;
  if (is_handshake_end(m)) {
    holding_ = true;
    revision_ = m.revision;
    initialized_ = m.json;
  }
  j->session = m.modern ? std::string() : session_;
  http_request request{.method = "POST",
                       .target = j->target,
                       .headers = headers_for("application/json, text/event-stream", &m),
                       .body = m.json,
                       .timeout_ms = m.id ? 0 : notification_ms};
  const std::uint64_t number = loop_->send(
      std::move(request), std::make_unique<response>(*this, response::role::message, j));
  if (m.id) waiting_[m.id->json()].transfer = number;
}

void streamable_http::release_held() {
  if (!std::exchange(holding_, false)) return;
  // First, so that it is not behind the requests whose notifications it may carry.
  if (!std::exchange(listening_, true)) listen({.session = listening_in_});
  for (auto& j : std::exchange(held_, {}))
    submit(std::move(j));
}

/// Takes up the stream of a request where it broke off.
void streamable_http::resume(std::shared_ptr<job> j, const stream_position& from) {
  const auto found = waiting_.find(j->message.id->json());
  if (found == waiting_.end()) return;
  if (++found->second.resumptions > failures_max)
    return refuse(*j, 0, {}, {error_code::io, 0, "http"},
                  "the stream of the answer breaks off again and again");
  found->second.transfer = 0;
  loop_->after(from.retry_ms, [this, j = std::move(j), from] {
    const auto still = waiting_.find(j->message.id->json());
    if (still == waiting_.end() || closing_) return;
    still->second.transfer =
        loop_->send(get_request(j->target, from.last_event_id),
                    std::make_unique<response>(*this, response::role::resumption, j, from));
  });
}

/// The stream that the server speaks on by itself; it may have none.
void streamable_http::listen(const stream_position& from) {
  listening_transfer_ =
      loop_->send(get_request(target_, from.last_event_id),
                  std::make_unique<response>(*this, response::role::listening, nullptr, from));
}

void streamable_http::listen_again(const stream_position& from, bool heard_something) {
  if (from.session != listening_in_) return;
  listen_failures_ = heard_something ? 0 : listen_failures_ + 1;
  if (listen_failures_ > failures_max) return;
  const std::int64_t delay_ms = from.retry_ms << listen_failures_;
  loop_->after(delay_ms, [this, from] {
    if (!closing_ && from.session == listening_in_) listen(from);
  });
}

/// Tells the server that the session is over; waits for it no longer than `close_ms_`.
void streamable_http::end_session() {
  closing_ = true;
  loop_->abandon_all();
  held_.clear();
  waiting_.clear();
  if (session_.empty()) {
    const std::lock_guard lock(guard_);
    session_ended_ = true;
    return changed_.notify_all();
  }
  http_request request{.method = "DELETE",
                       .target = target_,
                       .headers = headers_for("application/json", nullptr),
                       .body = {},
                       .timeout_ms = close_ms_};
  loop_->send(std::move(request),
              std::make_unique<response>(*this, response::role::session_end, nullptr));
}

void streamable_http::deliver(std::string_view json) {
  if (!closing_) sink_.on_message(json);
}

void streamable_http::refuse(const job& j, int status, std::string_view body, const error& reason,
                             std::string_view why) {
  if (closing_) return;
  if (!j.message.id) return sink_.on_log(std::string(why) + " (" + j.message.method + ")");
  if (waiting_.erase(j.message.id->json()) != 0)
    sink_.on_refused(*j.message.id, status, body, reason, why);
}

opened_transport open_streamable_http(http_origin server, http_headers headers,
                                      const client_options& options, incoming& sink) {
  auto transport = std::make_unique<streamable_http>(std::move(headers), options, sink);
  PADDOCK_CHECK(transport->start(std::move(server)));
  return std::unique_ptr<client_transport>(std::move(transport));
}

} // namespace paddock::mcp
