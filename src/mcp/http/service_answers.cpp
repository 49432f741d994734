// SPDX-License-Identifier: MIT

// Answers: from what a call says to the bytes on its connection.

#include "mcp/http/service.hpp"

namespace paddock::mcp {
namespace {

/// Progress for a client that is that far behind is dropped.
constexpr std::size_t unread_events_max = std::size_t{256} * 1024;
/// What must not be dropped is brief for one behind by so much.
constexpr std::size_t unread_told_max = std::size_t{1} << 20;

std::string event_text(std::string_view line) {
  std::string text;
  text.reserve(line.size() + 32);
  return text.append("event: message\ndata: ").append(line).append("\n\n");
}

std::string session_line(std::string_view id) {
  return id.empty() ? std::string() : std::string("Mcp-Session-Id: ").append(id).append("\r\n");
}

int status_of(rpc_error code, era speaks) {
  if (speaks == era::modern) return code == rpc_error::method_not_found ? 404 : 400;
  return code == rpc_error::parse_error || code == rpc_error::invalid_request ? 400 : 200;
}

} // namespace

void http_server::service::deliver() {
  for (std::vector<reply_part> parts = mailbox_->take(); !parts.empty(); parts = mailbox_->take())
    for (const reply_part& each : parts)
      deliver(each);
}

void http_server::service::deliver(const reply_part& part) {
  using kind = reply_part::kind;
  posted_message& p = *part.to;
  const bool is_told = part.what == kind::told;
  if (part.what == kind::event || is_told) p.event_taken(part.text.size());
  if (part.what == kind::done) {
    --calls_open_;
    if (p.owner) {
      --p.owner->calls_open;
      p.owner->used_ms = http_->now_ms();
    }
  }
  conn* const c = http_->find(p.connection);
  if (c == nullptr || c->pending != part.to) return;
  if (part.what == kind::event && c->unwritten() > unread_events_max) return;
  const bool event = part.what == kind::event || is_told || p.listening;
  if (event || !p.accepts_json) begin_events(*c, p);
  if (event) {
    const bool is_behind = is_told && c->unwritten() > unread_told_max;
    http_->stream(*c, event_text(is_behind ? part.brief : part.text));
  } else if (c->streaming) {
    if (part.what != kind::done) http_->stream(*c, event_text(part.text));
    http_->end_stream(*c);
  } else {
    const int status = part.what == kind::done      ? 202 // cancelled; there is no response
                       : part.what == kind::refusal ? status_of(part.code, p.speaks)
                                                    : 200;
    respond(*c, status, part.text, p.new_session);
  }
  http_->go_on(*c);
}

void http_server::service::begin_events(conn& c, const posted_message& p) {
  if (c.streaming) return;
  http_->begin_stream(c, session_line(p.new_session) + origin_lines(c.reader.head(), rules_.who) +
                             "Content-Type: text/event-stream\r\n"
                             "Cache-Control: no-cache, no-transform\r\n"
                             "X-Accel-Buffering: no\r\n");
}

void http_server::service::respond(conn& c, int status, std::string_view json,
                                   std::string_view session) {
  http_->respond(c, status, session_line(session) + origin_lines(c.reader.head(), rules_.who),
                 json.empty() ? "" : "application/json", json);
}

/// A refusal of a message that was read.
void http_server::service::refuse(conn& c, int status, const message& m, std::string_view reason,
                                  rpc_error code) {
  respond(c, status, error_response(m.id, code, reason));
}

/// A refusal that no JSON-RPC request was found for.
http::refusal_answer http_server::service::refuse(const http::request_head& head,
                                                  std::string_view reason) {
  return {.lines = origin_lines(head, rules_.who),
          .type = "application/json",
          .body = error_response({}, rpc_error::invalid_request, reason)};
}

} // namespace paddock::mcp
