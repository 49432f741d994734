// SPDX-License-Identifier: MIT

// One connection: bytes become requests, answers become bytes, the client goes away.

#include "http/server/server.hpp"
#include "sys/stream.hpp"

#include <utility>

namespace paddock::http {
namespace {

/// A client that sends a request and goes away gets what is done so quickly; the rest is cancelled.
constexpr std::int64_t disconnect_grace_ms = 100;

} // namespace

connection* server::find(std::uint64_t number) {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : found->second.get();
}

void server::on_socket(connection& c, const sys::readiness& what) {
  // What has arrived is read first, also when the client is gone.
  const bool reads = what.readable && c.registered.readable;
  if (what.broken && !reads) return on_client_gone(c, false);
  if (what.writable) {
    c.flush(now_ms_);
    if (c.in == connection::phase::lingering && c.unwritten() == 0) {
      sys::shutdown_write(c.socket.get());
      c.enter(connection::phase::lingering, now_ms_);
    }
  }
  if (reads) {
    const connection::received got = c.receive({buffer_.get(), read_bytes});
    if (got != connection::received::some && (got != connection::received::nothing || what.broken))
      return close(c);
  }
  if (what.peer_done) {
    c.peer_done = c.last = true;
    // Over TCP a client that has gone looks like one that only sends no more.
    if (listener_.open_to() != listener::audience::owner_of_file) return on_client_gone(c, true);
  }
  take_requests(c);
  update(c);
}

void server::on_client_gone(connection& c, bool watch_on) {
  using loss = pending_answer::client_loss;
  const loss what = c.pending ? c.pending->when_client_leaves() : loss::nothing;
  if (what == loss::gives_up && c.unwritten() == 0) {
    c.peer_done = c.last = true;
    if (!c.cancel_ms) c.cancel_ms = c.since_ms + disconnect_grace_ms;
    if (!watch_on && c.watched) { // it would be reported for ever
      c.watched = false;
      sys::epoll_remove(epoll_.get(), c.socket.get());
    }
  } else if (what != loss::nothing || !watch_on) {
    return close(c);
  }
  update(c);
}

void server::take_requests(connection& c) {
  if (c.unused.empty()) return;
  const std::string bytes = std::exchange(c.unused, {});
  std::string_view rest = bytes;
  while (c.in != connection::phase::open && c.in != connection::phase::lingering && !c.gone &&
         c.unwritten() == 0 && take_step(c, rest)) {
  }
  if (c.in != connection::phase::lingering) c.unused = rest;
}

/// False when more bytes are needed, or none will be taken any more.
bool server::take_step(connection& c, std::string_view& bytes) {
  using step = request_reader::step;
  if (c.in == connection::phase::idle) {
    if (bytes.empty()) return false;
    c.enter(connection::phase::head, now_ms_);
  }
  switch (c.reader.next(bytes)) {
  case step::more:
    return false;
  case step::head:
    on_head(c);
    return true;
  case step::body: {
    const std::string_view piece = c.reader.body();
    if (bytes_held_ - c.counted + c.body.size() + piece.size() > options_.buffered_bytes_max)
      return refuse(c, 503, "too much is under way; try again in a moment"), false;
    c.body.append(piece);
    return true;
  }
  case step::end:
    c.enter(connection::phase::open, now_ms_);
    app_.handle(c);
    return true;
  case step::bad:
    break;
  }
  refuse(c, c.reader.status(), c.reader.problem());
  return false;
}

/// After everything that happens to a connection.
void server::update(connection& c) {
  if (c.gone) return close(c);
  const std::size_t held = c.bytes_held();
  bytes_held_ += held - c.counted;
  c.counted = held;
  check_ms_ = std::min(check_ms_, deadline_of(c));
  const sys::readiness wanted = c.wanted();
  if (!c.watched || wanted == c.registered) return;
  c.registered = wanted;
  if (!sys::epoll_modify(epoll_.get(), c.socket.get(), wanted)) close(c);
}

void server::close(connection& c) {
  if (c.pending) c.pending->abandon();
  bytes_held_ -= c.counted;
  reserved_ -= c.reserved ? 1 : 0;
  connections_.erase(c.number);
  listen_again(true);
}

void server::go_on(connection& c) {
  take_requests(c);
  update(c);
}

// --- a request ---------------------------------------------------------------------------------

void server::on_head(connection& c) {
  const request_reader& r = c.reader;
  c.last = c.last || !r.keeps_alive() || r.head().minor_version == 0 || c.reserved;
  const judgement judged = app_.judge(r.head());
  c.tag = judged.tag;
  if (judged.status != 0) return refuse(c, judged.status, judged.reason, judged.lines);
  if (c.reserved && !judged.is_probe)
    return refuse(c, 503, "too many connections are open; try again in a moment");
  if (!judged.takes_body && r.has_body()) return refuse(c, 413, "this request takes no body");
  c.enter(connection::phase::body, now_ms_);
  if (r.wants_continue()) c.write("HTTP/1.1 100 Continue\r\n\r\n", now_ms_);
}

// --- an answer ---------------------------------------------------------------------------------

response_head server::head_for(const connection& c, int status, std::string_view lines) const {
  return {.status = status,
          .lines = lines,
          .close = c.last,
          .to_head = c.reader.head().method == "HEAD"};
}

void server::respond(connection& c, int status, std::string_view lines, std::string_view type,
                     std::string_view body) {
  c.write(whole_response(head_for(c, status, lines), type, body), now_ms_);
  end_response(c);
}

/// What the client goes on sending is not read as a request.
void server::refuse(connection& c, int status, std::string_view reason, std::string_view lines) {
  using phase = connection::phase;
  const bool whole = c.in == phase::open ||
                     (c.in == phase::head && c.reader.is_head_complete() && !c.reader.has_body());
  c.last = c.last || !whole;
  const refusal_answer text = app_.refuse(c.reader.head(), reason);
  respond(c, status, text.lines + std::string(lines), text.type, text.body);
}

void server::begin_stream(connection& c, std::string_view lines) {
  if (c.streaming) return;
  c.streaming = true;
  c.last = c.last || c.stream_framing() == framing::until_close;
  c.write(stream_head(head_for(c, 200, lines), c.stream_framing()), now_ms_);
}

void server::stream(connection& c, std::string_view piece) {
  c.write(stream_piece(piece, c.stream_framing()), now_ms_);
}

void server::end_stream(connection& c) {
  c.write(stream_end(c.stream_framing()), now_ms_);
  end_response(c);
}

void server::end_response(connection& c) {
  c.pending.reset();
  c.streaming = false;
  if (!c.last) {
    c.reader.restart();
    return c.enter(connection::phase::idle, now_ms_);
  }
  c.enter(connection::phase::lingering, now_ms_);
  if (c.unwritten() == 0) sys::shutdown_write(c.socket.get());
}

} // namespace paddock::http
