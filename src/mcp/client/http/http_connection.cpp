// SPDX-License-Identifier: MIT
#include "mcp/client/http/http_connection.hpp"

#include "sys/stream.hpp"

#include <gsl/assert>

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace paddock::mcp {
namespace {

/// Servers close idle connections after five seconds or more; a request that crosses such an end
/// would be lost.
constexpr std::int64_t idle_ms_max = 4'000;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr error timed_out{error_code::timed_out, 0, "http"};
constexpr error lost{error_code::io, 0, "http"};

} // namespace

http_connection::http_connection(const http_origin& server, std::int64_t now_ms) : server_(server) {
  connect_next(now_ms);
}

void http_connection::start(std::uint64_t number, std::string request,
                            std::unique_ptr<http_exchange> exchange, std::int64_t deadline_ms) {
  Expects(!exchange_);
  number_ = number;
  exchange_ = std::move(exchange);
  request_ = std::move(request);
  reader_ = {};
  deadline_ms_ = deadline_ms;
  if (phase_ != phase::open) return;
  on_ready_to_send();
  write_some();
}

void http_connection::abandon() noexcept {
  if (exchange_) abandoned_ = std::move(exchange_);
  fd_.reset();
  phase_ = phase::closed;
}

short http_connection::wanted_events() const noexcept {
  if (phase_ == phase::connecting) return POLLOUT;
  return static_cast<short>(out_sent_ < out_.size() ? POLLIN | POLLOUT : POLLIN);
}

std::int64_t http_connection::deadline_ms() const noexcept {
  std::int64_t earliest = never;
  if (phase_ == phase::connecting || phase_ == phase::handshaking) earliest = connect_deadline_ms_;
  if (is_idle()) earliest = idle_deadline_ms_;
  if (exchange_ && deadline_ms_ != 0) earliest = std::min(earliest, deadline_ms_);
  return fd_ ? earliest : 0;
}

void http_connection::advance(short events, std::int64_t now_ms, std::span<char> buffer) {
  if (phase_ == phase::closed) return;
  if (!fd_) return try_next_or_fail(lost, "no address was left to try", now_ms);
  if (is_idle() && (events != 0 || now_ms >= idle_deadline_ms_)) return abandon();
  if (exchange_ && deadline_ms_ != 0 && now_ms >= deadline_ms_)
    return fail(timed_out, "the server did not answer in time");
  if (phase_ == phase::connecting || phase_ == phase::handshaking) {
    if (now_ms >= connect_deadline_ms_)
      return try_next_or_fail(timed_out, "the server could not be reached in time", now_ms);
  }
  if (phase_ == phase::connecting) {
    if (events == 0) return;
    if (const auto connected = sys::connect_error(fd_.get()); !connected)
      return try_next_or_fail(connected.error(), "the server can't be reached", now_ms);
    on_connected();
  } else if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
    read_some(now_ms, buffer);
  }
  if (phase_ != phase::closed) write_some();
}

/// Where connecting fails at once the socket is left out, and the next `advance` deals with it: the
/// exchange is not there yet.
void http_connection::connect_next(std::int64_t now_ms) {
  phase_ = phase::connecting;
  tls_.reset();
  out_.clear();
  out_sent_ = 0;
  fd_.reset();
  while (!fd_ && next_address_ < server_.addresses.size()) {
    auto fd = sys::connect_nowait(server_.addresses[next_address_++], server_.to.port);
    if (fd) fd_ = *std::move(fd);
  }
  connect_deadline_ms_ = now_ms + server_.connect_timeout_ms;
}

void http_connection::try_next_or_fail(error reason, std::string why, std::int64_t now_ms) {
  if (next_address_ < server_.addresses.size()) {
    connect_next(now_ms);
    if (fd_) return;
  }
  fail(reason, std::move(why));
}

void http_connection::on_connected() {
  if (!server_.tls) {
    phase_ = phase::open;
    if (exchange_) on_ready_to_send();
    return;
  }
  auto session = tls_session::start(*server_.tls, server_.to);
  if (!session) return fail(session.error(), "TLS could not be started");
  tls_.emplace(*std::move(session));
  phase_ = phase::handshaking;
  std::string problem;
  if (const auto begun = tls_->handshake(problem); !begun)
    return fail(begun.error(), std::move(problem));
  tls_->take_output(out_);
}

void http_connection::on_ready_to_send() {
  if (!tls_) {
    out_ += request_;
  } else {
    std::string problem;
    if (const auto sent = tls_->send(request_, problem); !sent)
      return fail(sent.error(), std::move(problem));
    tls_->take_output(out_);
  }
  request_.clear();
}

void http_connection::write_some() {
  while (out_sent_ < out_.size()) {
    const auto n = sys::send_nowait(fd_.get(), std::string_view(out_).substr(out_sent_));
    if (!n) {
      // What else is wrong shows when reading, where an answer may still be found.
      if (n.error().os_errno != EAGAIN) out_sent_ = out_.size();
      return;
    }
    out_sent_ += *n;
  }
  out_.clear();
  out_sent_ = 0;
}

void http_connection::read_some(std::int64_t now_ms, std::span<char> buffer) {
  const auto n = sys::recv_nowait(fd_.get(), buffer);
  if (!n) {
    if (n.error().os_errno != EAGAIN) on_network_end(now_ms);
    return;
  }
  if (*n == 0) return on_network_end(now_ms);
  const std::string_view bytes(buffer.data(), *n);
  if (!tls_) return feed(bytes, now_ms);

  std::string plain;
  std::string problem;
  const auto received = tls_->receive(bytes, plain, problem);
  tls_->take_output(out_); // an alert, if nothing else
  if (!received) {
    write_some();
    return fail(received.error(), std::move(problem));
  }
  if (phase_ == phase::handshaking) {
    const auto done = tls_->handshake(problem);
    if (!done) return fail(done.error(), std::move(problem));
    if (!*done) return;
    phase_ = phase::open;
    if (exchange_) on_ready_to_send();
  }
  if (phase_ == phase::open && !plain.empty()) feed(plain, now_ms);
  if (phase_ == phase::open && tls_->ended()) on_network_end(now_ms);
}

void http_connection::on_network_end(std::int64_t now_ms) {
  if (phase_ == phase::handshaking)
    return fail(lost, "the server ended the connection during the handshake of TLS");
  if (!exchange_) return abandon();
  if (tls_ && !tls_->ended()) return fail(lost, "the connection was cut off");
  if (reader_.at_end() == http_response_reader::step::end) return finish(false, now_ms);
  fail(lost, reader_.problem());
}

void http_connection::feed(std::string_view bytes, std::int64_t now_ms) {
  for (;;) {
    if (!exchange_) return abandon(); // bytes that nobody asked for
    const auto step = reader_.next(bytes);
    bool wanted = true;
    switch (step) {
    case http_response_reader::step::more:
      return;
    case http_response_reader::step::head:
      wanted = exchange_->on_head(reader_.head());
      break;
    case http_response_reader::step::body:
      wanted = exchange_->on_body(reader_.body());
      break;
    case http_response_reader::step::end:
      return finish(reader_.reusable() && bytes.empty() && out_sent_ == out_.size(), now_ms);
    case http_response_reader::step::bad:
      return fail(lost, reader_.problem());
    }
    if (!wanted) return abandon();
  }
}

void http_connection::finish(bool reusable, std::int64_t now_ms) {
  const auto done = std::move(exchange_);
  idle_deadline_ms_ = now_ms + idle_ms_max;
  if (!reusable) {
    fd_.reset();
    phase_ = phase::closed;
  }
  done->on_end(nullptr); // may start the next exchange here
}

void http_connection::fail(error reason, std::string why) {
  fd_.reset();
  phase_ = phase::closed;
  if (!exchange_) return;
  const auto done = std::move(exchange_);
  const http_failure failure{reason, std::move(why)};
  done->on_end(&failure);
}

} // namespace paddock::mcp
