// SPDX-License-Identifier: MIT

// The loop: connections come and go, bytes arrive, deadlines pass, the server stops.

#include "http/server/server.hpp"

#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

namespace paddock::http {
namespace {

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

// Keys of what is waited for; connections have numbers above.
constexpr std::uint64_t key_listener = 0;
constexpr std::uint64_t key_wake = 1;
constexpr std::uint64_t key_stop = 2;
constexpr std::uint64_t key_stop_fd = 3;
constexpr std::uint64_t keys_end = 16;

} // namespace

server::server(application& app, listener l, server_options options, file_descriptor epoll,
               file_descriptor stop)
    : app_(app), options_(options), request_limits_{.head_bytes_max = options.head_bytes_max,
                                                    .body_bytes_max = options.body_bytes_max},
      listener_(std::move(l)), epoll_(std::move(epoll)), stop_(std::move(stop)),
      buffer_(new char[read_bytes]), last_number_(keys_end), places_(options.connections_max) {}

result<std::unique_ptr<server>> server::make(application& app, listener l, server_options options) {
  PADDOCK_TRY(file_descriptor epoll, sys::epoll_create());
  PADDOCK_TRY(file_descriptor stop, sys::eventfd());
  return std::unique_ptr<server>(
      new server(app, std::move(l), options, std::move(epoll), std::move(stop)));
}

void server::stop() noexcept {
  sys::raise_event(stop_.get());
}

// --- the loop ----------------------------------------------------------------------------------

result<void> server::run(int stop_fd) {
  sys::ignore_sigpipe();
  stop_fd_ = stop_fd;
  const std::uint64_t descriptors = sys::descriptor_limit();
  const std::uint64_t room = descriptors - std::min(descriptors / 2, descriptors_kept);
  places_ = static_cast<std::size_t>(std::min<std::uint64_t>(options_.connections_max, room));
  PADDOCK_CHECK(watch());
  result<void> going;
  while (going && !is_finished())
    going = wait();
  look_away_from_stops();
  cancel_all();
  listener_.close();
  connections_.clear();
  return going;
}

result<void> server::watch() {
  const auto readable = [&](int fd, std::uint64_t key) {
    return sys::epoll_add(epoll_.get(), fd, {.key = key, .readable = true});
  };
  PADDOCK_CHECK(readable(listener_.descriptor(), key_listener));
  PADDOCK_CHECK(readable(app_.wake_descriptor(), key_wake));
  PADDOCK_CHECK(readable(stop_.get(), key_stop));
  if (stop_fd_ >= 0) PADDOCK_CHECK(readable(stop_fd_, key_stop_fd));
  check_ms_ = never;
  return {};
}

/// They stay readable.
void server::look_away_from_stops() noexcept {
  sys::epoll_remove(epoll_.get(), stop_.get());
  if (stop_fd_ >= 0) sys::epoll_remove(epoll_.get(), stop_fd_);
}

result<void> server::wait() {
  now_ms_ = sys::monotonic_ms();
  std::array<sys::readiness, 64> ready;
  const std::int64_t wait_ms =
      check_ms_ == never ? -1 : std::max<std::int64_t>(0, check_ms_ - now_ms_);
  PADDOCK_TRY(const std::size_t n, sys::epoll_wait(epoll_.get(), ready, wait_ms));
  now_ms_ = sys::monotonic_ms();
  for (std::size_t i = 0; i < n; ++i)
    on_ready(ready[i]);
  // Also for answers that were given without another thread.
  app_.deliver();
  if (now_ms_ >= check_ms_) check_deadlines();
  return {};
}

void server::on_ready(const sys::readiness& what) {
  if (what.key == key_listener) return accept_connections();
  if (what.key == key_wake) return; // looked at after everything else
  if (what.key == key_stop || what.key == key_stop_fd) return begin_finishing();
  if (connection* const c = find(what.key)) on_socket(*c, what);
}

void server::accept_connections() {
  if (stage_ != stage::serving) return;
  for (unsigned i = 0; i < accepts_max; ++i) {
    const bool full = connections_.size() - reserved_ >= places_;
    if (full && replaceable() == nullptr && reserved_ >= reserve_max) return listen_again(false);
    auto accepted = sys::accept4(listener_.descriptor());
    if (!accepted && accepted.error().os_errno == EAGAIN) return;
    connection* const replaced = full || !accepted ? replaceable() : nullptr;
    const bool reserved = full && (replaced == nullptr || replaced->reserved);
    if (replaced != nullptr) close(*replaced);
    if (!accepted) { // out of descriptors or memory
      if (replaced != nullptr) continue;
      check_ms_ = std::min(check_ms_, now_ms_ + accept_again_ms);
      return listen_again(false);
    }
    const std::uint64_t number = ++last_number_;
    auto c = std::make_unique<connection>(*std::move(accepted), number, request_limits_, now_ms_);
    c->registered = c->wanted();
    c->reserved = reserved;
    if (!sys::epoll_add(epoll_.get(), c->socket.get(), c->registered)) continue;
    reserved_ += reserved ? 1 : 0;
    connection& added = *connections_.emplace(number, std::move(c)).first->second;
    update(added);
  }
}

/// What is closed to make room; nullptr when all connections are at work. Of the reserve only when
/// that is full, too.
connection* server::replaceable() {
  connection* const slow = oldest_head(false);
  if (slow != nullptr && now_ms_ - slow->since_ms >= slow_head_ms) return slow;
  if (connection* const idle = idle_for_longest()) return idle;
  if (slow != nullptr) return slow;
  return reserved_ >= reserve_max ? oldest_head(true) : nullptr;
}

/// The connection whose head has been incomplete for longest; of the reserve also one without any
/// byte.
connection* server::oldest_head(bool reserved) {
  connection* oldest = nullptr;
  for (const auto& [number, c] : connections_) {
    const bool waits =
        c->in == connection::phase::head || (reserved && c->in == connection::phase::idle);
    if (waits && c->reserved == reserved && c->unwritten() == 0 &&
        (oldest == nullptr ||
         std::pair(c->since_ms, number) < std::pair(oldest->since_ms, oldest->number)))
      oldest = c.get();
  }
  return oldest;
}

/// The connection that has been between two requests for longest, without those of the reserve.
connection* server::idle_for_longest() {
  connection* oldest = nullptr;
  for (const auto& [number, c] : connections_)
    if (c->in == connection::phase::idle && !c->reserved && c->unwritten() == 0 &&
        (oldest == nullptr ||
         std::pair(c->since_ms, number) < std::pair(oldest->since_ms, oldest->number)))
      oldest = c.get();
  return oldest;
}

void server::listen_again(bool on) {
  if (listening_ == on || stage_ != stage::serving) return;
  listening_ = on;
  // Should that fail, the next connection that ends tries again.
  if (!sys::epoll_modify(epoll_.get(), listener_.descriptor(),
                         {.key = key_listener, .readable = on}))
    listening_ = !on;
}

// --- deadlines ---------------------------------------------------------------------------------

std::int64_t server::deadline_of(const connection& c) const noexcept {
  using phase = connection::phase;
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
  const std::int64_t silent_ms = c.streaming ? c.written_ms + options_.keep_alive_ms : never;
  return std::min(silent_ms, c.cancel_ms.value_or(never));
}

void server::check_deadlines() {
  check_ms_ = app_.expire(now_ms_, never);
  std::vector<std::uint64_t> due;
  for (const auto& [number, c] : connections_) {
    const std::int64_t at_ms = deadline_of(*c);
    if (at_ms <= now_ms_)
      due.push_back(number);
    else
      check_ms_ = std::min(check_ms_, at_ms);
  }
  for (const std::uint64_t number : due)
    if (connection* const c = find(number)) on_deadline(*c);
  listen_again(true);
  if (stage_ == stage::serving) return;
  if (now_ms_ < stage_ends_ms_)
    check_ms_ = std::min(check_ms_, stage_ends_ms_);
  else if (stage_ == stage::finishing)
    cancel_all();
}

void server::on_deadline(connection& c) {
  using phase = connection::phase;
  if (c.unwritten() > 0 || c.in == phase::idle || c.in == phase::lingering ||
      (c.in == phase::open && c.cancel_ms && *c.cancel_ms <= now_ms_))
    return close(c);
  if (c.in == phase::open) // a stream that was silent for long
    stream(c, app_.sign_of_life());
  else
    refuse(c, 408, "the request took too long to arrive");
  update(c);
}

// --- the end -----------------------------------------------------------------------------------

void server::begin_finishing() {
  if (stage_ != stage::serving) return;
  stage_ = stage::finishing;
  stage_ends_ms_ = now_ms_ + options_.stop_grace_ms;
  check_ms_ = std::min(check_ms_, stage_ends_ms_);
  look_away_from_stops();
  listener_.close();
  app_.deliver();
  std::vector<std::uint64_t> idle;
  for (const auto& [number, c] : connections_) {
    c->last = true;
    if (c->in != connection::phase::open && c->unwritten() == 0) idle.push_back(number);
    if (c->pending) c->pending->finish();
  }
  for (const std::uint64_t number : idle)
    close(*find(number));
}

void server::cancel_all() {
  stage_ = stage::cancelling;
  stage_ends_ms_ = now_ms_ + patience_ms;
  check_ms_ = std::min(check_ms_, stage_ends_ms_);
  app_.cancel_all();
  for (const auto& [number, c] : connections_)
    if (c->pending) c->pending->cancel();
}

bool server::is_finished() const noexcept {
  if (stage_ == stage::serving) return false;
  if (stage_ == stage::cancelling && now_ms_ >= stage_ends_ms_) return true;
  return app_.is_idle() &&
         std::all_of(connections_.begin(), connections_.end(), [](const auto& each) {
           return each.second->in == connection::phase::lingering && each.second->unwritten() == 0;
         });
}

} // namespace paddock::http
