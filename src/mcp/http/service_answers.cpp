// SPDX-License-Identifier: MIT

// Answers: from what a call says to the bytes on its connection.

#include "mcp/http/service.hpp"
#include "sys/socket.hpp"

#include <utility>

namespace paddock::mcp {
namespace {

/// Progress for a client that is that far behind is dropped.
constexpr std::size_t unread_events_max = std::size_t{256} * 1024;

int status_of(rpc_error code, era speaks) {
  if (speaks == era::modern) return code == rpc_error::method_not_found ? 404 : 400;
  return code == rpc_error::parse_error || code == rpc_error::invalid_request ? 400 : 200;
}

} // namespace

void http_server::service::deliver_letters() {
  for (std::vector<letter> letters = mailbox_->take(); !letters.empty(); letters = mailbox_->take())
    for (const letter& l : letters)
      deliver(l);
}

void http_server::service::deliver(const letter& l) {
  exchange& e = *l.from;
  if (l.what == letter::kind::event) e.event_taken(l.text.size());
  if (l.what == letter::kind::done) {
    --calls_open_;
    if (e.owner) {
      --e.owner->calls_open;
      e.owner->used_ms = now_ms_;
    }
  }
  conn* const c = find(e.connection);
  if (c == nullptr || c->answering != l.from) return;
  if (l.what == letter::kind::event && c->unwritten() > unread_events_max) return;
  const bool event = l.what == letter::kind::event || e.listening;
  if (event || !e.accepts_json) begin_events(*c);
  const framing f = c->events_framing();
  if (event) {
    write(*c, event_text(l.text, f));
  } else if (e.streaming) {
    if (l.what != letter::kind::done) write(*c, event_text(l.text, f));
    write(*c, event_stream_end(f));
    end_response(*c);
  } else {
    const int status = l.what == letter::kind::done      ? 202 // cancelled; there is no response
                       : l.what == letter::kind::refusal ? status_of(l.code, e.speaks)
                                                         : 200;
    respond(*c, json_answer(head_for(*c, status), l.text));
  }
  take_requests(*c);
  update(*c);
}

void http_server::service::begin_events(conn& c) {
  if (c.answering->streaming) return;
  c.answering->streaming = true;
  c.last = c.last || c.events_framing() == framing::until_close;
  write(c, event_stream_head(head_for(c, 200), c.events_framing()));
}

void http_server::service::write(conn& c, std::string_view bytes) {
  c.write(bytes, now_ms_);
}

answer_head http_server::service::head_for(const conn& c, int status) const {
  return {.status = status,
          .lines = {},
          .session = c.answering ? std::string_view(c.answering->new_session) : std::string_view(),
          .origin = c.judged.origin,
          .close = c.last,
          .to_head = c.reader.head().method == "HEAD"};
}

void http_server::service::respond(conn& c, std::string_view response) {
  write(c, response);
  end_response(c);
}

/// A refusal. What the client goes on sending is not read as a request.
void http_server::service::refuse(conn& c, int status, std::string_view reason,
                                  std::string_view lines) {
  const bool whole =
      c.in == conn::phase::open ||
      (c.in == conn::phase::head && c.reader.is_head_complete() && !c.reader.has_body());
  c.last = c.last || !whole;
  if (c.judged.origin.empty()) c.judged.origin = allowed_origin(c.reader.head(), rules_);
  answer_head head = head_for(c, status);
  head.lines = lines;
  respond(c, refusal_answer(head, reason));
}

/// A refusal of a message that was read.
void http_server::service::refuse(conn& c, int status, const message& m, std::string_view reason,
                                  rpc_error code) {
  respond(c, json_answer(head_for(c, status), error_response(m.id, code, reason)));
}

void http_server::service::end_response(conn& c) {
  c.answering.reset();
  c.judged = {};
  if (!c.last) {
    c.reader.restart();
    return c.enter(conn::phase::idle, now_ms_);
  }
  c.enter(conn::phase::lingering, now_ms_);
  if (c.unwritten() == 0) sys::shutdown_write(c.socket.get());
}

} // namespace paddock::mcp
