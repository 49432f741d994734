// SPDX-License-Identifier: MIT
#include "egress/flow.hpp"

#include "sys/stream.hpp"

#include <paddock/exec/host_list.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace paddock::egress {
namespace {

/// For a TLS greeting or a request head.
constexpr std::int64_t greeting_ms_max = 5'000;
constexpr std::int64_t lookup_ms_max = 15'000;
/// For one address, or for the answer of the proxy.
constexpr std::int64_t connect_ms_max = 10'000;
/// Before the next address of a host is tried.
constexpr std::int64_t next_ms = 2'000;
/// A connection without traffic.
constexpr std::int64_t idle_ms_max = 60 * 60 * 1'000;
/// A connection with one side closed, or to a host that reads nothing: then nothing shows that the
/// command is gone.
constexpr std::int64_t stalled_ms_max = 5 * 60 * 1'000;
constexpr std::string_view ssh_greeting = "SSH-"; // RFC 4253, section 4.2
constexpr std::size_t proxy_answer_bytes_max = 16UL * 1024;
/// Buffered for a side that does not read, before reading from the other stops.
constexpr std::size_t held_bytes_max = 256UL * 1024;

} // namespace

flow::flow(file_descriptor inside, destination to, std::int64_t now_ms)
    : inside_(std::move(inside)), to_(std::move(to)), began_ms_(now_ms), moved_ms_(now_ms),
      now_ms_(now_ms) {
  if (to_.wanted == destination::proof::http) guard_.emplace(to_.host, to_.port);
  if (to_.wanted == destination::proof::none) stage_ = stage::resolving;
}

void flow::refuse(sys::egress_kind why, std::string detail) {
  if (stage_ == stage::over) return;
  outcome_ = why;
  detail_ = std::move(detail);
  stage_ = stage::over;
  if (inside_) sys::reset_on_close(inside_.get());
  inside_.reset();
  if (outside_) sys::reset_on_close(outside_.get());
  outside_.reset();
}

bool flow::has_rest() const {
  const bool goes_on = stage_ == stage::relaying && !(inside_done_ && to_outside_.empty());
  const bool begins =
      stage_ == stage::resolving || stage_ == stage::connecting || stage_ == stage::asking_proxy;
  return goes_on || begins;
}

flow::interest flow::inside_interest() const {
  switch (stage_) {
  case stage::greeting:
    return {.read = true};
  case stage::resolving:
  case stage::connecting:
  case stage::asking_proxy:
  case stage::over:
    return {};
  case stage::relaying:
    break;
  }
  return {.read = !inside_done_ && to_outside_.size() < held_bytes_max,
          .write = !to_inside_.empty()};
}

flow::interest flow::outside_interest() const {
  switch (stage_) {
  case stage::connecting:
    return {.write = true};
  case stage::asking_proxy:
    return {.read = true, .write = !to_outside_.empty()};
  case stage::relaying:
    return {.read = !outside_done_ && to_inside_.size() < held_bytes_max,
            .write = !to_outside_.empty()};
  case stage::greeting:
  case stage::resolving:
  case stage::over:
    break;
  }
  return {};
}

/// Sends at once, without a copy, unless other bytes wait.
void flow::pass_on(std::string_view bytes, bool to_inside) {
  std::string& held = to_inside ? to_inside_ : to_outside_;
  if (held.empty()) {
    const auto size = sys::send_nowait(to_inside ? inside_.get() : outside_.get(), bytes);
    if (!size && size.error().os_errno != EAGAIN) return refuse(sys::egress_kind::ended);
    if (size && !to_inside) sent_ += *size;
    bytes.remove_prefix(size ? *size : 0);
  }
  held.append(bytes);
}

void flow::take_from_inside(std::string_view bytes) {
  is_greeted_ = true;
  if (stage_ == stage::greeting) {
    greeting_.append(bytes);
    return greet();
  }
  if (!guard_ && (!second_ || second_->is_over())) return pass_on(bytes, false);
  judge(bytes);
  if (stage_ == stage::relaying) write_side(false);
}

/// Appends what may go on of the client's bytes, before and after the connection outside.
void flow::judge(std::string_view bytes) {
  if (second_) {
    if (!second_->take(bytes, to_outside_)) refuse_second();
    return;
  }
  if (const char* wrong = guard_->take(bytes, to_outside_); wrong != nullptr) {
    const std::string& other = guard_->asked_for();
    refuse(other.empty() ? sys::egress_kind::bad_request : sys::egress_kind::other_host,
           other.empty() ? wrong : other);
  }
}

void flow::refuse_second() {
  const std::string& other = second_->asked_for();
  refuse(other.empty() ? sys::egress_kind::not_tls : sys::egress_kind::other_host, other);
}

/// Client bytes that waited for the answer go on, or the connection is refused.
void flow::take_answer(std::string_view bytes) {
  const std::size_t before = to_outside_.size();
  if (second_ && !second_->answered(bytes, to_outside_)) refuse_second();
  if (guard_)
    if (const char* wrong = guard_->answered(bytes, to_outside_); wrong != nullptr)
      refuse(sys::egress_kind::bad_request, wrong);
  if (stage_ == stage::relaying && to_outside_.size() != before) write_side(false);
}

void flow::greet() {
  if (to_.or_ssh && greeting_.starts_with(ssh_greeting)) {
    guard_.reset();
    to_outside_ = std::exchange(greeting_, {});
    stage_ = stage::resolving;
    return;
  }
  if (to_.or_ssh && ssh_greeting.starts_with(greeting_)) return;
  if (to_.wanted == destination::proof::http) {
    judge(std::exchange(greeting_, {}));
    if (stage_ == stage::over) return;
    stage_ = to_outside_.empty() ? stage::greeting : stage::resolving;
    return;
  }
  hello said = read_client_hello(greeting_);
  if (said.state == hello_state::incomplete && greeting_.size() < 2 * hello_bytes_max) return;
  if (said.state == hello_state::named && folded_host_name(said.name) == to_.host) {
    const std::string sent = std::exchange(greeting_, {});
    to_outside_ = sent.substr(0, said.bytes);
    second_.emplace(to_.host);
    stage_ = stage::resolving;
    return judge(std::string_view(sent).substr(said.bytes));
  }
  if (said.state == hello_state::named)
    return refuse(sys::egress_kind::other_host, std::move(said.name));
  refuse(sys::egress_kind::not_tls);
}

void flow::connect_to(std::vector<sys::endpoint> places, bool by_proxy) {
  places_ = std::move(places);
  by_proxy_ = by_proxy;
  next_place_ = 0;
  try_next();
}

void flow::try_next() {
  stage_ = stage::connecting;
  moved_ms_ = now_ms_;
  while (next_place_ < places_.size()) {
    auto begun = sys::begin_connect(places_[next_place_++]);
    if (!begun) continue;
    // The former closes after that: by the other number the gateway sees that this is a new one.
    outside_ = *std::move(begun);
    return;
  }
  refuse(sys::egress_kind::unreachable);
}

void flow::connected() {
  moved_ms_ = now_ms_;
  sys::set_nodelay_and_keepalive(outside_.get());
  if (!by_proxy_) {
    stage_ = stage::relaying;
    return write_side(false);
  }
  const std::string place = to_.host + ":" + std::to_string(to_.port);
  greeting_ =
      std::exchange(to_outside_, "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n\r\n");
  stage_ = stage::asking_proxy;
  write_side(false);
}

void flow::read_proxy_answer(std::string_view bytes) {
  proxy_answer_.append(bytes);
  const auto end = proxy_answer_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (proxy_answer_.size() > proxy_answer_bytes_max)
      refuse(sys::egress_kind::unreachable, "the proxy answered too long");
    return;
  }
  constexpr std::string_view good = "HTTP/1.1 2";
  const std::string_view answer = proxy_answer_;
  if (!answer.starts_with(good) && !answer.starts_with("HTTP/1.0 2"))
    return refuse(sys::egress_kind::unreachable,
                  "the proxy answered: " + proxy_answer_.substr(0, proxy_answer_.find('\r')));
  to_inside_ = proxy_answer_.substr(end + 4);
  proxy_answer_ = {};
  to_outside_ = std::exchange(greeting_, {});
  stage_ = stage::relaying;
  write_side(false);
  write_side(true);
}

void flow::inside_ready(const sys::readiness& what, std::span<char> scratch) {
  if (stage_ == stage::over) return;
  if (what.writable) write_side(true);
  if ((what.readable || what.broken) && inside_interest().read)
    read_side(true, scratch);
  else if (what.broken)
    refuse(sys::egress_kind::ended);
}

void flow::outside_ready(const sys::readiness& what, std::span<char> scratch) {
  if (stage_ == stage::over) return;
  if (stage_ == stage::connecting)
    return sys::end_connect(outside_.get()) ? connected() : try_next();
  if (what.writable) write_side(false);
  if ((what.readable || what.broken) && outside_interest().read)
    read_side(false, scratch);
  else if (what.broken)
    refuse(sys::egress_kind::ended);
}

void flow::read_side(bool from_inside, std::span<char> scratch) {
  const int fd = from_inside ? inside_.get() : outside_.get();
  const auto size = sys::recv_nowait(fd, scratch);
  if (!size && size.error().os_errno == EAGAIN) return;
  moved_ms_ = now_ms_;
  if (!size) return refuse(sys::egress_kind::ended);
  const std::string_view bytes(scratch.data(), *size);
  if (bytes.empty()) {
    if (stage_ != stage::relaying)
      return refuse(from_inside ? sys::egress_kind::ended : sys::egress_kind::unreachable);
    (from_inside ? inside_done_ : outside_done_) = true;
    return end_if_done();
  }
  if (from_inside) return take_from_inside(bytes);
  if (stage_ == stage::asking_proxy) return read_proxy_answer(bytes);
  received_ += bytes.size();
  pass_on(bytes, true);
  if (stage_ != stage::over) take_answer(bytes);
}

void flow::write_side(bool to_inside) {
  std::string& held = to_inside ? to_inside_ : to_outside_;
  const int fd = to_inside ? inside_.get() : outside_.get();
  std::size_t gone = 0;
  while (gone < held.size()) {
    const auto size = sys::send_nowait(fd, std::string_view(held).substr(gone));
    if (!size && size.error().os_errno == EAGAIN) break;
    if (!size) return refuse(sys::egress_kind::ended);
    gone += *size;
    moved_ms_ = now_ms_;
  }
  if (!to_inside && stage_ == stage::relaying) sent_ += gone;
  held.erase(0, gone);
  end_if_done();
}

/// Passes on the end of a direction after its last byte; is over when both have ended.
void flow::end_if_done() {
  if (stage_ != stage::relaying) return;
  if (inside_done_ && to_outside_.empty() && !outside_shut_) {
    sys::shutdown_write(outside_.get());
    outside_shut_ = true;
  }
  if (outside_done_ && to_inside_.empty() && !inside_shut_) {
    sys::shutdown_write(inside_.get());
    inside_shut_ = true;
  }
  if (!inside_shut_ || !outside_shut_) return;
  outcome_ = sys::egress_kind::ended;
  stage_ = stage::over;
  inside_.reset();
  outside_.reset();
}

/// Clients also open connections that they then do not need.
void flow::refuse_greeting() {
  if (!is_greeted_) return refuse(sys::egress_kind::ended);
  if (guard_)
    return refuse(sys::egress_kind::bad_request, "did not get a whole request in 5 seconds");
  refuse(sys::egress_kind::not_tls);
}

void flow::time_passed(std::int64_t now_ms) {
  now_ms_ = now_ms;
  const std::int64_t waited = now_ms - moved_ms_;
  switch (stage_) {
  case stage::greeting:
    if (now_ms - began_ms_ > greeting_ms_max) refuse_greeting();
    break;
  case stage::resolving:
    if (waited > lookup_ms_max) refuse(sys::egress_kind::not_found);
    break;
  case stage::connecting:
    if (waited > (next_place_ < places_.size() ? next_ms : connect_ms_max)) try_next();
    break;
  case stage::asking_proxy:
    if (waited > connect_ms_max) refuse(sys::egress_kind::unreachable, "the proxy does not answer");
    break;
  case stage::relaying:
    if (waited >
        (inside_done_ || outside_done_ || !to_outside_.empty() ? stalled_ms_max : idle_ms_max))
      refuse(sys::egress_kind::ended);
    break;
  case stage::over:
    break;
  }
}

} // namespace paddock::egress
