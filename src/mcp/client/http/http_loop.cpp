// SPDX-License-Identifier: MIT
#include "mcp/client/http/http_loop.hpp"

#include "base/start_thread.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>

#include <algorithm>
#include <limits>

namespace paddock::mcp {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} * 1024;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

std::string serialised(const http_request& request, const url& server) {
  std::string out;
  out.reserve(512 + request.body.size());
  const auto line = [&](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  out.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  line("Host", server.authority());
  for (const auto& [name, value] : request.headers)
    line(name, value);
  if (request.method == "POST") line("Content-Length", std::to_string(request.body.size()));
  return out.append("\r\n").append(request.body);
}

} // namespace

http_loop::http_loop(http_origin server, file_descriptor wake)
    : server_(std::move(server)), wake_(std::move(wake)), buffer_(new char[read_bytes]) {}

result<std::unique_ptr<http_loop>> http_loop::start(http_origin server) {
  PADDOCK_TRY(file_descriptor wake, sys::eventfd());
  std::unique_ptr<http_loop> loop(new http_loop(std::move(server), std::move(wake)));
  if (!start_thread(loop->thread_, [l = loop.get()] { l->run(); }))
    return error{error_code::too_many, 0, "thread"};
  return loop;
}

http_loop::~http_loop() {
  stop();
}

void http_loop::post(task t) {
  {
    const std::lock_guard lock(guard_);
    if (stopping_) return;
    inbox_.push_back(std::move(t));
  }
  sys::raise_event(wake_.get());
}

void http_loop::stop() noexcept {
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
  }
  sys::raise_event(wake_.get());
  if (thread_.joinable()) thread_.join();
}

std::uint64_t http_loop::exchange(const http_request& request,
                                  std::unique_ptr<http_exchange> receiver) {
  const std::int64_t now_ms = sys::monotonic_ms();
  const std::uint64_t number = ++last_number_;
  connection_for_next(now_ms).start(number, serialised(request, server_.to), std::move(receiver),
                                    request.timeout_ms == 0 ? 0 : now_ms + request.timeout_ms);
  return number;
}

http_connection& http_loop::connection_for_next(std::int64_t now_ms) {
  for (const auto& c : connections_)
    if (c->is_idle() && now_ms < c->deadline_ms()) return *c;
  return *connections_.emplace_back(std::make_unique<http_connection>(server_, now_ms));
}

void http_loop::abandon(std::uint64_t number) {
  for (const auto& c : connections_)
    if (number != 0 && c->exchange() == number) c->abandon();
}

void http_loop::abandon_all() {
  for (const auto& c : connections_)
    c->abandon();
  timers_.clear();
}

void http_loop::limit(std::uint64_t number, std::int64_t delay_ms) {
  for (const auto& c : connections_)
    if (number != 0 && c->exchange() == number) c->set_deadline(sys::monotonic_ms() + delay_ms);
}

void http_loop::after(std::int64_t delay_ms, task t) {
  timers_.push_back({sys::monotonic_ms() + delay_ms, std::move(t)});
}

void http_loop::run_tasks() {
  std::vector<task> tasks;
  {
    const std::lock_guard lock(guard_);
    tasks.swap(inbox_);
  }
  for (const task& t : tasks)
    t();
}

void http_loop::run_timers(std::int64_t now_ms) {
  if (timers_.empty()) return;
  std::vector<timer> due;
  std::vector<timer> later;
  for (timer& t : timers_)
    (t.at_ms > now_ms ? later : due).push_back(std::move(t));
  timers_ = std::move(later);
  for (const timer& t : due)
    t.run();
}

std::int64_t http_loop::wait_ms(std::int64_t now_ms) const {
  std::int64_t earliest = never;
  for (const timer& t : timers_)
    earliest = std::min(earliest, t.at_ms);
  for (const auto& c : connections_)
    earliest = std::min(earliest, c->deadline_ms());
  return earliest == never ? -1 : std::max<std::int64_t>(earliest - now_ms, 0);
}

void http_loop::poll_connections() {
  std::vector<pollfd> entries;
  entries.reserve(connections_.size() + 1);
  entries.push_back({.fd = wake_.get(), .events = POLLIN, .revents = 0});
  for (const auto& c : connections_)
    entries.push_back({.fd = c->fd(), .events = c->wanted_events(), .revents = 0});
  // Fails only without memory; the next round tries again.
  (void)sys::poll(entries, wait_ms(sys::monotonic_ms()));
  if (entries[0].revents != 0) {
    char counter[8];
    (void)sys::read(wake_.get(), counter);
  }
  const std::int64_t now_ms = sys::monotonic_ms();
  // What callbacks add to `connections_` has no entry yet.
  for (std::size_t i = 1; i < entries.size(); ++i) {
    http_connection& c = *connections_[i - 1];
    if (entries[i].revents != 0 || now_ms >= c.deadline_ms())
      c.advance(entries[i].revents, now_ms, {buffer_.get(), read_bytes});
  }
}

void http_loop::run() {
  for (;;) {
    {
      const std::lock_guard lock(guard_);
      if (stopping_) break;
    }
    run_tasks();
    run_timers(sys::monotonic_ms());
    std::erase_if(connections_, [](const auto& c) { return c->is_closed(); });
    poll_connections();
  }
  connections_.clear();
  timers_.clear();
  const std::lock_guard lock(guard_);
  inbox_.clear();
}

} // namespace paddock::mcp
