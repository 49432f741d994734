// SPDX-License-Identifier: MIT

// Requests: from a head that is judged to a message that its session has.

#include "mcp/http/message_rules.hpp"
#include "mcp/http/service.hpp"

#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::string_view session_header = "mcp-session-id";

} // namespace

void http_server::service::on_head(conn& c) {
  const http::request_reader& r = c.reader;
  c.last = c.last || !r.keeps_alive() || r.head().minor_version == 0 || c.reserved;
  c.judged = judge(r.head(), rules_);
  if (c.judged.to == route::refused)
    return refuse(c, c.judged.status, c.judged.reason, c.judged.header);
  if (c.reserved && c.judged.to != route::health)
    return refuse(c, 503, "too many connections are open; try again in a moment");
  if (c.judged.to != route::message && r.has_body())
    return refuse(c, 413, "this request takes no body");
  c.enter(conn::phase::body, now_ms_);
  if (r.wants_continue()) write(c, "HTTP/1.1 100 Continue\r\n\r\n");
}

void http_server::service::on_request(conn& c) {
  c.enter(conn::phase::open, now_ms_);
  switch (c.judged.to) {
  case route::health:
    return respond(c, health_answer(head_for(c, 200)));
  case route::preflight: {
    const std::string lines = preflight_lines(c.reader.head());
    answer_head head = head_for(c, 204);
    head.lines = lines;
    return respond(c, json_answer(head, {}));
  }
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
  if (id.empty()) return refuse(c, 400, "say which session to end in Mcp-Session-Id");
  if (!sessions_.end(id)) return refuse(c, 404, "there is no such session");
  respond(c, json_answer(head_for(c, 204), {}));
}

void http_server::service::on_message(conn& c) {
  auto w = std::make_unique<work>();
  w->bytes = c.body.size();
  c.body.append(json_padding, '\0');
  const auto parsed = w->document.parse_padded({c.body.data(), w->bytes});
  c.body = {};
  if (!parsed) {
    const std::string text = std::string("Parse error: ") + parsed.error().operation;
    return respond(c,
                   json_answer(head_for(c, 400), error_response({}, rpc_error::parse_error, text)));
  }
  const auto e = std::make_shared<exchange>(mailbox_, c.number);
  e->accepts_json = c.judged.accepts_json;
  e->accepts_events = c.judged.accepts_events;
  const message m = classify(*parsed);
  e->speaks = era_of(m, c.reader.head());
  w->out = e.get();
  if (e->speaks == era::modern)
    on_modern(c, e, std::move(w), m);
  else
    on_legacy(c, e, std::move(w), m);
}

void http_server::service::on_modern(conn& c, const std::shared_ptr<exchange>& e,
                                     std::unique_ptr<work> w, const message& m) {
  if (m.kind == message_kind::response) return refuse(c, 400, m, "nobody waits for a response");
  if (const auto mismatch = header_mismatch(m, c.reader.head()))
    return refuse(c, 400, m, *mismatch, rpc_error::header_mismatch);
  if (m.kind == message_kind::request && m.method == "tools/call")
    if (const auto mismatch =
            parameter_mismatch(core_->headers_of(m.params["name"].string().value_or("")),
                               m.params["arguments"], c.reader.head()))
      return refuse(c, 400, m, *mismatch, rpc_error::header_mismatch);
  if (m.method == "subscriptions/listen" && !e->accepts_events)
    return refuse(c, 406, m, "a subscription needs Accept: text/event-stream");
  w->modern = true;
  e->talk = std::make_shared<session>(core_);
  pass_on(c, e, std::move(w), m);
}

void http_server::service::on_legacy(conn& c, const std::shared_ptr<exchange>& e,
                                     std::unique_ptr<work> w, const message& m) {
  const http::fields& headers = c.reader.head();
  const bool batch = w->document.root().is(json_kind::array);
  if (m.kind == message_kind::request && m.method == "initialize")
    return begin_session(c, e, std::move(w), m);
  if (m.kind == message_kind::invalid && !batch) {
    e->talk = std::make_shared<session>(core_);
    return pass_on(c, e, std::move(w), m);
  }
  const std::string_view version = headers.header("mcp-protocol-version");
  if (!version.empty() && !is_legacy_revision(version))
    return refuse(c, 400, m, "this MCP-Protocol-Version is not known; send initialize");
  const std::string_view id = headers.header(session_header);
  if (id.empty())
    return refuse(c, 400, m, "send initialize first, and its Mcp-Session-Id with every request");
  e->owner = sessions_.find(id, now_ms_);
  if (!e->owner) return refuse(c, 404, m, "there is no such session; send initialize");
  e->talk = e->owner->talk;
  pass_on(c, e, std::move(w), m);
}

void http_server::service::begin_session(conn& c, const std::shared_ptr<exchange>& e,
                                         std::unique_ptr<work> w, const message& m) {
  e->talk = std::make_shared<session>(core_);
  const auto added = sessions_.add(e->talk, now_ms_);
  if (!added) return refuse(c, 503, m, "too many sessions; end one with DELETE");
  e->new_session = (*added)->id;
  pass_on(c, e, std::move(w), m);
  if (e->talk->is_initialized()) return;
  (void)sessions_.end(e->new_session);
  e->new_session.clear();
}

/// The message is one that its session is to judge.
void http_server::service::pass_on(conn& c, const std::shared_ptr<exchange>& e,
                                   std::unique_ptr<work> w, const message& m) {
  if (m.kind != message_kind::notification &&
      calls_open_ >= std::size_t{options_.calls_running_max} + options_.calls_waiting_max)
    return refuse(c, 503, m, "too many calls are under way; try again in a moment");
  const bool wants_events =
      e->accepts_events && request_id::from(m.params["_meta"]["progressToken"]).has_value();
  c.answering = e;
  auto calls = e->talk->accept(std::move(w));
  e->listening = e->talk->is_listening();
  if (calls) {
    ++calls_open_;
    if (e->owner) ++e->owner->calls_open;
    if (wants_events) begin_events(c);
    pool_->submit({e, std::move(calls)});
  } else if (!e->replied) {
    respond(c, json_answer(head_for(c, 202), {}));
  }
}

} // namespace paddock::mcp
