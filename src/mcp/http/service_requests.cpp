// SPDX-License-Identifier: MIT

// Requests: from a head that is judged to a message that its session has.

#include "mcp/http/message_rules.hpp"
#include "mcp/http/service.hpp"

#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::string_view session_header = "mcp-session-id";

/// What judge() found, as a connection keeps it.
constexpr std::uint32_t json_accepted = 0x100;
constexpr std::uint32_t events_accepted = 0x200;

std::uint32_t tag_of(const verdict& v) {
  return static_cast<std::uint32_t>(v.to) | (v.accepts_json ? json_accepted : 0) |
         (v.accepts_events ? events_accepted : 0);
}
route route_of(std::uint32_t tag) {
  return static_cast<route>(tag & 0xff);
}

} // namespace

http::judgement http_server::service::judge(const http::request_head& head) {
  const verdict v = mcp::judge(head, rules_);
  return {.status = v.status,
          .reason = v.reason,
          .lines = std::string(v.header),
          .takes_body = v.to == route::message,
          .is_probe = v.to == route::health,
          .tag = tag_of(v)};
}

void http_server::service::handle(conn& c) {
  const http::request_head& head = c.reader.head();
  switch (route_of(c.tag)) {
  case route::health:
    return http_->respond(c, 200, origin_lines(head, rules_.who), "text/plain", "ok\n");
  case route::preflight:
    return http_->respond(c, 204, preflight_lines(head) + origin_lines(head, rules_.who), {}, {});
  case route::end_session:
    return end_session(c);
  case route::message:
    return on_message(c);
  case route::refused:
    break;
  }
}

void http_server::service::end_session(conn& c) {
  const std::string_view id = c.reader.head().header(session_header);
  if (id.empty()) return http_->refuse(c, 400, "say which session to end in Mcp-Session-Id");
  if (!sessions_.end(id)) return http_->refuse(c, 404, "there is no such session");
  respond(c, 204, {});
}

void http_server::service::on_message(conn& c) {
  auto t = std::make_unique<transaction>();
  t->bytes = c.body.size();
  c.body.append(json_padding, '\0');
  const auto parsed = t->document.parse_padded({c.body.data(), t->bytes});
  c.body = {};
  if (!parsed) {
    const std::string text = std::string("Parse error: ") + parsed.error().operation;
    return respond(c, 400, error_response({}, rpc_error::parse_error, text));
  }
  const auto p = std::make_shared<posted_message>(mailbox_, c.number);
  p->accepts_json = (c.tag & json_accepted) != 0;
  p->accepts_events = (c.tag & events_accepted) != 0;
  const message m = classify(*parsed);
  p->speaks = era_of(m, c.reader.head());
  t->events = p.get();
  if (p->speaks == era::modern)
    on_modern(c, p, std::move(t), m);
  else
    on_legacy(c, p, std::move(t), m);
}

void http_server::service::on_modern(conn& c, const post& p, std::unique_ptr<transaction> t,
                                     const message& m) {
  if (m.kind == message_kind::response) return refuse(c, 400, m, "nobody waits for a response");
  if (const auto mismatch = header_mismatch(m, c.reader.head()))
    return refuse(c, 400, m, *mismatch, rpc_error::header_mismatch);
  if (m.kind == message_kind::request && m.method == "tools/call")
    if (const auto mismatch =
            parameter_mismatch(core_->headers_of(m.params["name"].string().value_or("")),
                               m.params["arguments"], c.reader.head()))
      return refuse(c, 400, m, *mismatch, rpc_error::header_mismatch);
  if (m.method == "subscriptions/listen" && !p->accepts_events)
    return refuse(c, 406, m, "a subscription needs Accept: text/event-stream");
  t->modern = true;
  p->talk = std::make_shared<session>(core_, tasks_);
  pass_on(c, p, std::move(t), m);
}

void http_server::service::on_legacy(conn& c, const post& p, std::unique_ptr<transaction> t,
                                     const message& m) {
  const http::fields& headers = c.reader.head();
  const bool batch = t->document.root().is(json_kind::array);
  if (m.kind == message_kind::request && m.method == "initialize")
    return begin_session(c, p, std::move(t), m);
  if (m.kind == message_kind::invalid && !batch) {
    p->talk = std::make_shared<session>(core_, runner_);
    return pass_on(c, p, std::move(t), m);
  }
  const std::string_view version = headers.header("mcp-protocol-version");
  if (!version.empty() && !is_legacy_revision(version))
    return refuse(c, 400, m, "this MCP-Protocol-Version is not known; send initialize");
  const std::string_view id = headers.header(session_header);
  if (id.empty())
    return refuse(c, 400, m, "send initialize first, and its Mcp-Session-Id with every request");
  p->owner = sessions_.find(id, http_->now_ms());
  if (!p->owner) return refuse(c, 404, m, "there is no such session; send initialize");
  p->talk = p->owner->talk;
  pass_on(c, p, std::move(t), m);
}

void http_server::service::begin_session(conn& c, const post& p, std::unique_ptr<transaction> t,
                                         const message& m) {
  p->talk = std::make_shared<session>(core_, runner_);
  const auto added = sessions_.add(p->talk, http_->now_ms());
  if (!added) return refuse(c, 503, m, "too many sessions; end one with DELETE");
  p->new_session = (*added)->id;
  pass_on(c, p, std::move(t), m);
  if (p->talk->is_initialized()) return;
  (void)sessions_.end(p->new_session);
  p->new_session.clear();
}

/// However many calls are under way: it takes no time, or ends one of them.
bool http_server::service::is_always_taken(std::string_view method) {
  return method == "ping" || method == "initialize" || method == "tasks/cancel";
}

/// The message is one that its session is to judge.
void http_server::service::pass_on(conn& c, const post& p, std::unique_ptr<transaction> t,
                                   const message& m) {
  const bool is_bounded = m.kind != message_kind::notification && !is_always_taken(m.method);
  if (is_bounded &&
      calls_open_ >= std::size_t{options_.calls_running_max} + options_.calls_waiting_max)
    return refuse(c, 503, m, "too many calls are under way; try again in a moment");
  const std::size_t share =
      std::size_t{options_.calls_running_max} + options_.calls_waiting_max / 2;
  if (is_bounded && p->owner && p->owner->calls_open >= share)
    return refuse(c, 503, m, "this session has too many calls under way; wait for one of them");
  const bool wants_events =
      p->accepts_events && request_id::from(m.params["_meta"]["progressToken"]).has_value();
  c.pending = p;
  t = p->talk->accept(std::move(t));
  p->listening = p->talk->is_listening();
  if (t && !t->calls.empty()) {
    ++calls_open_;
    if (p->owner) ++p->owner->calls_open;
    if (wants_events) begin_events(c, *p);
    pool_->submit(p->job_of(std::move(t)));
  } else if (t) {
    p->answer(std::move(t));
  } else {
    respond(c, 202, {});
  }
}

} // namespace paddock::mcp
