// SPDX-License-Identifier: MIT

// The loop: connections come and go, bytes arrive, deadlines pass, the server stops.

#include "mcp/http/service.hpp"

#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} * 1024;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t linger_ms = 1000;      ///< for the client to take what was written
constexpr std::int64_t patience_ms = 900;     ///< for cancelled calls to end
constexpr std::int64_t accept_again_ms = 100; ///< without descriptors for another connection
constexpr unsigned accepts_max = 64;          ///< before others get their turn
constexpr std::size_t reserve_max = 32;       ///< connections for probes when all places are taken
constexpr std::int64_t reserved_head_ms = 1000; ///< for the head of these
constexpr std::int64_t slow_head_ms = 1000;     ///< a head that takes longer gives way first
/// Of the descriptors that the process may have, those that calls and the rest of it need.
constexpr std::uint64_t descriptors_kept = 256;
/// A client that sends a request and goes away gets what is done so quickly; the rest is cancelled.
constexpr std::int64_t disconnect_grace_ms = 100;

// Keys of what is waited for; connections have numbers above.
constexpr std::uint64_t key_listener = 0;
constexpr std::uint64_t key_mailbox = 1;
constexpr std::uint64_t key_stop = 2;
constexpr std::uint64_t key_stop_fd = 3;
constexpr std::uint64_t keys_end = 16;

} // namespace

http_server::service::service(std::shared_ptr<const server::core> core, http_server_options options,
                              http::listener l, file_descriptor epoll, file_descriptor wake,
                              file_descriptor stop)
    : core_(std::move(core)), options_(std::move(options)), listener_(std::move(l)),
      address_(listener_.url_of(options_.path)), epoll_(std::move(epoll)), stop_(std::move(stop)),
      mailbox_(std::make_shared<mailbox>(std::move(wake))),
      pool_(std::make_shared<call_pool>(options_.calls_running_max)),
      sessions_(options_.sessions_max, options_.session_idle_ms), buffer_(new char[read_bytes]),
      last_number_(keys_end), places_(options_.connections_max) {
  rules_.path = options_.path;
  rules_.token = options_.token;
  for (const std::string& each : options_.allowed_hosts)
    rules_.allowed_hosts.push_back(http::ascii_lower(each));
  for (const std::string& each : options_.allowed_origins)
    rules_.allowed_origins.push_back(http::ascii_lower(each));
  if (listener_.who() == http::listener::reach::file ||
      (listener_.who() == http::listener::reach::network && rules_.allowed_hosts.empty()))
    rules_.host_rule = access_rules::hosts::any;
  request_limits_ = {.head_bytes_max = options_.head_bytes_max,
                     .body_bytes_max = core_->options.limits.message_in_bytes_max};
}

result<std::unique_ptr<http_server::service>>
http_server::service::make(std::shared_ptr<const server::core> core, http_server_options options) {
  PADDOCK_TRY(http::listener l, http::listener::open(options.listen, !options.token.empty()));
  PADDOCK_TRY(file_descriptor epoll, sys::epoll_create());
  PADDOCK_TRY(file_descriptor wake, sys::eventfd());
  PADDOCK_TRY(file_descriptor stop, sys::eventfd());
  return std::unique_ptr<service>(new service(std::move(core), std::move(options), std::move(l),
                                              std::move(epoll), std::move(wake), std::move(stop)));
}

void http_server::service::stop() noexcept {
  sys::raise_event(stop_.get());
}

// --- the loop ----------------------------------------------------------------------------------

result<http_serve_outcome> http_server::service::run(int stop_fd) {
  sys::ignore_sigpipe();
  stop_fd_ = stop_fd;
  const std::uint64_t descriptors = sys::descriptor_limit();
  const std::uint64_t room = descriptors - std::min(descriptors / 2, descriptors_kept);
  places_ = static_cast<std::size_t>(std::min<std::uint64_t>(options_.connections_max, room));
  PADDOCK_CHECK(watch());
  if (!pool_->start()) return error{error_code::too_many, EAGAIN, "thread"};
  result<void> going;
  while (going && !is_finished())
    going = wait();
  look_away_from_stops();
  cancel_all();
  listener_.close();
  connections_.clear();
  const http_serve_outcome outcome{.calls_abandoned = pool_->stop()};
  mailbox_->close();
  PADDOCK_CHECK(going);
  return outcome;
}

result<void> http_server::service::watch() {
  const auto readable = [&](int fd, std::uint64_t key) {
    return sys::epoll_add(epoll_.get(), fd, {.key = key, .readable = true});
  };
  PADDOCK_CHECK(readable(listener_.descriptor(), key_listener));
  PADDOCK_CHECK(readable(mailbox_->descriptor(), key_mailbox));
  PADDOCK_CHECK(readable(stop_.get(), key_stop));
  if (stop_fd_ >= 0) PADDOCK_CHECK(readable(stop_fd_, key_stop_fd));
  check_ms_ = never;
  return {};
}

/// They stay readable.
void http_server::service::look_away_from_stops() noexcept {
  sys::epoll_remove(epoll_.get(), stop_.get());
  if (stop_fd_ >= 0) sys::epoll_remove(epoll_.get(), stop_fd_);
}

result<void> http_server::service::wait() {
  now_ms_ = sys::monotonic_ms();
  std::array<sys::readiness, 64> ready;
  const std::int64_t wait_ms =
      check_ms_ == never ? -1 : std::max<std::int64_t>(0, check_ms_ - now_ms_);
  PADDOCK_TRY(const std::size_t n, sys::epoll_wait(epoll_.get(), ready, wait_ms));
  now_ms_ = sys::monotonic_ms();
  for (std::size_t i = 0; i < n; ++i)
    on_ready(ready[i]);
  // Also for answers that were given without another thread.
  deliver_letters();
  if (now_ms_ >= check_ms_) check_deadlines();
  return {};
}

void http_server::service::on_ready(const sys::readiness& what) {
  if (what.key == key_listener) return accept_connections();
  if (what.key == key_mailbox) return; // looked at after everything else
  if (what.key == key_stop || what.key == key_stop_fd) return begin_finishing();
  if (conn* const c = find(what.key)) on_socket(*c, what);
}

void http_server::service::accept_connections() {
  if (stage_ != stage::serving) return;
  for (unsigned i = 0; i < accepts_max; ++i) {
    const bool full = connections_.size() - reserved_ >= places_;
    if (full && replaceable() == nullptr && reserved_ >= reserve_max) return listen_again(false);
    auto accepted = sys::accept4(listener_.descriptor());
    if (!accepted && accepted.error().os_errno == EAGAIN) return;
    conn* const replaced = full || !accepted ? replaceable() : nullptr;
    const bool reserved = full && (replaced == nullptr || replaced->reserved);
    if (replaced != nullptr) close(*replaced);
    if (!accepted) { // out of descriptors or memory
      if (replaced != nullptr) continue;
      check_ms_ = std::min(check_ms_, now_ms_ + accept_again_ms);
      return listen_again(false);
    }
    const std::uint64_t number = ++last_number_;
    auto c = std::make_unique<conn>(*std::move(accepted), number, request_limits_, now_ms_);
    c->registered = c->wanted();
    c->reserved = reserved;
    if (!sys::epoll_add(epoll_.get(), c->socket.get(), c->registered)) continue;
    reserved_ += reserved ? 1 : 0;
    conn& added = *connections_.emplace(number, std::move(c)).first->second;
    update(added);
  }
}

/// What is closed to make room; nullptr when all connections are at work. Of the reserve only when
/// that is full, too.
http_server::service::conn* http_server::service::replaceable() {
  conn* const slow = oldest_head(false);
  if (slow != nullptr && now_ms_ - slow->since_ms >= slow_head_ms) return slow;
  if (conn* const idle = idle_for_longest()) return idle;
  if (slow != nullptr) return slow;
  return reserved_ >= reserve_max ? oldest_head(true) : nullptr;
}

/// The connection whose head has been incomplete for longest; of the reserve also one without any
/// byte.
http_server::service::conn* http_server::service::oldest_head(bool reserved) {
  conn* oldest = nullptr;
  for (const auto& [number, c] : connections_) {
    const bool waits = c->in == conn::phase::head || (reserved && c->in == conn::phase::idle);
    if (waits && c->reserved == reserved && c->unwritten() == 0 &&
        (oldest == nullptr ||
         std::pair(c->since_ms, number) < std::pair(oldest->since_ms, oldest->number)))
      oldest = c.get();
  }
  return oldest;
}

/// The connection that has been between two requests for longest, without those of the reserve.
http_server::service::conn* http_server::service::idle_for_longest() {
  conn* oldest = nullptr;
  for (const auto& [number, c] : connections_)
    if (c->in == conn::phase::idle && !c->reserved && c->unwritten() == 0 &&
        (oldest == nullptr ||
         std::pair(c->since_ms, number) < std::pair(oldest->since_ms, oldest->number)))
      oldest = c.get();
  return oldest;
}

void http_server::service::listen_again(bool on) {
  if (listening_ == on || stage_ != stage::serving) return;
  listening_ = on;
  // Should that fail, the next connection that ends tries again.
  if (!sys::epoll_modify(epoll_.get(), listener_.descriptor(),
                         {.key = key_listener, .readable = on}))
    listening_ = !on;
}

// --- deadlines ---------------------------------------------------------------------------------

std::int64_t http_server::service::deadline_of(const conn& c) const noexcept {
  using phase = conn::phase;
  if (c.unwritten() > 0) return c.written_ms + options_.write_timeout_ms;
  switch (c.in) {
  case phase::idle:
    return c.since_ms + (c.reserved ? reserved_head_ms : options_.idle_timeout_ms);
  case phase::head:
    return c.since_ms + (c.reserved
                             ? std::min<std::int64_t>(reserved_head_ms, options_.head_timeout_ms)
                             : options_.head_timeout_ms);
  case phase::body:
    return c.since_ms + options_.body_timeout_ms;
  case phase::lingering:
    return c.since_ms + linger_ms;
  case phase::open:
    break;
  }
  const std::int64_t silent_ms =
      c.answering->streaming ? c.written_ms + options_.keep_alive_ms : never;
  return std::min(silent_ms, c.cancel_ms.value_or(never));
}

void http_server::service::check_deadlines() {
  check_ms_ = sessions_.expire(now_ms_, never);
  std::vector<std::uint64_t> due;
  for (const auto& [number, c] : connections_) {
    const std::int64_t at_ms = deadline_of(*c);
    if (at_ms <= now_ms_)
      due.push_back(number);
    else
      check_ms_ = std::min(check_ms_, at_ms);
  }
  for (const std::uint64_t number : due)
    if (conn* const c = find(number)) on_deadline(*c);
  listen_again(true);
  if (stage_ == stage::serving) return;
  if (now_ms_ < stage_ends_ms_)
    check_ms_ = std::min(check_ms_, stage_ends_ms_);
  else if (stage_ == stage::finishing)
    cancel_all();
}

void http_server::service::on_deadline(conn& c) {
  using phase = conn::phase;
  if (c.unwritten() > 0 || c.in == phase::idle || c.in == phase::lingering ||
      (c.in == phase::open && c.cancel_ms && *c.cancel_ms <= now_ms_))
    return close(c);
  if (c.in == phase::open) // a stream that was silent for long
    write(c, event_text({}, c.events_framing()));
  else
    refuse(c, 408, "the request took too long to arrive");
  update(c);
}

// --- the end -----------------------------------------------------------------------------------

void http_server::service::begin_finishing() {
  if (stage_ != stage::serving) return;
  stage_ = stage::finishing;
  stage_ends_ms_ = now_ms_ + options_.stop_grace_ms;
  check_ms_ = std::min(check_ms_, stage_ends_ms_);
  look_away_from_stops();
  listener_.close();
  deliver_letters();
  std::vector<std::uint64_t> idle;
  for (const auto& [number, c] : connections_) {
    c->last = true;
    if (c->in != conn::phase::open && c->unwritten() == 0) idle.push_back(number);
    if (c->in != conn::phase::open || !c->answering->listening) continue;
    c->answering->listening = false;
    c->answering->talk->end();
  }
  for (const std::uint64_t number : idle)
    close(*find(number));
}

void http_server::service::cancel_all() {
  stage_ = stage::cancelling;
  stage_ends_ms_ = now_ms_ + patience_ms;
  check_ms_ = std::min(check_ms_, stage_ends_ms_);
  sessions_.end_all();
  for (const auto& [number, c] : connections_)
    if (c->answering && c->answering->speaks == era::modern) c->answering->talk->end();
}

bool http_server::service::is_finished() const noexcept {
  if (stage_ == stage::serving) return false;
  if (stage_ == stage::cancelling && now_ms_ >= stage_ends_ms_) return true;
  return calls_open_ == 0 &&
         std::all_of(connections_.begin(), connections_.end(), [](const auto& each) {
           return each.second->in == conn::phase::lingering && each.second->unwritten() == 0;
         });
}

// --- a connection ------------------------------------------------------------------------------

http_server::service::conn* http_server::service::find(std::uint64_t number) {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : found->second.get();
}

void http_server::service::on_socket(conn& c, const sys::readiness& what) {
  // What has arrived is read first, also when the client is gone.
  const bool reads = what.readable && c.registered.readable;
  if (what.broken && !reads) return on_client_gone(c, false);
  if (what.writable) {
    c.flush(now_ms_);
    if (c.in == conn::phase::lingering && c.unwritten() == 0) {
      sys::shutdown_write(c.socket.get());
      c.enter(conn::phase::lingering, now_ms_);
    }
  }
  if (reads) {
    const conn::received got = c.receive({buffer_.get(), read_bytes});
    if (got != conn::received::some && (got != conn::received::nothing || what.broken))
      return close(c);
  }
  if (what.peer_done) {
    c.peer_done = c.last = true;
    // Over TCP a client that has gone looks like one that only sends no more.
    if (listener_.who() != http::listener::reach::file) return on_client_gone(c, true);
  }
  take_requests(c);
  update(c);
}

/// Closing the connection is how a modern client cancels; an older one may only have lost it.
void http_server::service::on_client_gone(conn& c, bool watch_on) {
  const bool modern = c.in == conn::phase::open && c.answering->speaks == era::modern;
  if (modern && !c.answering->listening && c.unwritten() == 0) {
    c.peer_done = c.last = true;
    if (!c.cancel_ms) c.cancel_ms = c.since_ms + disconnect_grace_ms;
    if (!watch_on && c.watched) { // it would be reported for ever
      c.watched = false;
      sys::epoll_remove(epoll_.get(), c.socket.get());
    }
  } else if (modern || !watch_on) {
    return close(c);
  }
  update(c);
}

void http_server::service::take_requests(conn& c) {
  if (c.unused.empty()) return;
  const std::string bytes = std::exchange(c.unused, {});
  std::string_view rest = bytes;
  while (c.in != conn::phase::open && c.in != conn::phase::lingering && !c.gone &&
         c.unwritten() == 0 && take_step(c, rest)) {
  }
  if (c.in != conn::phase::lingering) c.unused = rest;
}

/// False when more bytes are needed, or none will be taken any more.
bool http_server::service::take_step(conn& c, std::string_view& bytes) {
  using step = http::request_reader::step;
  if (c.in == conn::phase::idle) {
    if (bytes.empty()) return false;
    c.enter(conn::phase::head, now_ms_);
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
    on_request(c);
    return true;
  case step::bad:
    break;
  }
  refuse(c, c.reader.status(), c.reader.problem());
  return false;
}

/// After everything that happens to a connection.
void http_server::service::update(conn& c) {
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

void http_server::service::close(conn& c) {
  if (c.answering && c.answering->speaks == era::modern) c.answering->talk->abandon();
  bytes_held_ -= c.counted;
  reserved_ -= c.reserved ? 1 : 0;
  connections_.erase(c.number);
  listen_again(true);
}

} // namespace paddock::mcp
