// SPDX-License-Identifier: MIT
#include "mcp/stdio/line_output.hpp"

#include "base/start_thread.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>

#include <cerrno>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t kept_capacity_max = std::size_t{256} * 1024;
constexpr int drainer_looks_up_ms = 50;

bool writable(int fd, int timeout_ms) {
  pollfd entry{.fd = fd, .events = POLLOUT, .revents = 0};
  const auto ready = sys::poll({&entry, 1}, timeout_ms);
  return ready && *ready > 0;
}

} // namespace

line_output::line_output(int fd, std::size_t backlog_max, std::function<void()> on_closed)
    : fd_(fd), mode_(mode::blocking), backlog_max_(backlog_max), on_closed_(std::move(on_closed)) {
  const sys::stream_kind kind = sys::kind_of_stream(fd);
  if (sys::is_nonblocking(fd)) {
    mode_ = mode::nonblocking;
  } else if (kind == sys::stream_kind::socket) {
    mode_ = mode::socket;
  } else if (kind == sys::stream_kind::pipe) {
    // The description is shared with other processes, so its O_NONBLOCK is not ours to set.
    mode_ = mode::guarded_pipe;
    if (auto own = sys::nonblocking_pipe_writer(fd)) {
      own_ = *std::move(own);
      fd_ = own_.get();
      mode_ = mode::nonblocking;
    }
  }
}

line_output::~line_output() {
  abandon();
}

/// How much was written at once, possibly nothing. A failure marks the output as closed.
std::size_t line_output::write_some(std::string_view bytes) {
  if (mode_ == mode::guarded_pipe) {
    if (!writable(fd_, 0)) return 0;
    bytes = bytes.substr(0, PIPE_BUF); // what a writable pipe takes without waiting
  }
  const auto n = mode_ == mode::socket ? sys::send_nowait(fd_, bytes) : sys::write(fd_, bytes);
  if (n) {
    written_.fetch_add(*n, std::memory_order_relaxed);
    return *n;
  }
  if (n.error().os_errno != EAGAIN && n.error().os_errno != EWOULDBLOCK)
    closed_.store(true, std::memory_order_relaxed);
  return 0;
}

void line_output::drop_backlog() {
  backlog_ = {};
  backlog_done_ = 0;
  waiting_.store(0, std::memory_order_relaxed);
  changed_.notify_all();
}

void line_output::close(std::unique_lock<std::mutex>& lock) {
  drop_backlog();
  lock.unlock();
  on_closed_();
  lock.lock();
}

void line_output::write_or_keep(std::string_view line, std::unique_lock<std::mutex>& lock) {
  if (closed()) return;
  if (backlog_.empty()) {
    while (!line.empty()) {
      const std::size_t n = write_some(line);
      if (closed()) return close(lock);
      if (n == 0) break;
      line.remove_prefix(n);
    }
    if (line.empty()) return;
  }
  backlog_ += line;
  waiting_.store(backlog_.size() - backlog_done_, std::memory_order_relaxed);
  if (!drainer_.joinable() && !start_thread(drainer_, [this] { drain(); })) {
    closed_.store(true, std::memory_order_relaxed);
    return close(lock);
  }
  changed_.notify_all();
}

void line_output::send(std::string_view line) {
  std::unique_lock lock(guard_);
  write_or_keep(line, lock);
}

void line_output::offer(std::string_view line) {
  std::unique_lock lock(guard_);
  if (backlog_.empty()) write_or_keep(line, lock);
}

void line_output::drain() {
  std::unique_lock lock(guard_);
  for (;;) {
    changed_.wait(lock, [&] { return quit_ || !backlog_.empty(); });
    if (quit_) return;
    lock.unlock();
    const bool ready = writable(fd_, drainer_looks_up_ms);
    lock.lock();
    if (!ready || backlog_.empty()) continue;
    const std::size_t n = write_some(std::string_view(backlog_).substr(backlog_done_));
    if (closed()) {
      close(lock);
      continue;
    }
    backlog_done_ += n;
    waiting_.store(backlog_.size() - backlog_done_, std::memory_order_relaxed);
    if (backlog_done_ == backlog_.size()) {
      backlog_.clear();
      backlog_done_ = 0;
      if (backlog_.capacity() > kept_capacity_max) backlog_.shrink_to_fit();
    } else if (backlog_done_ > backlog_.size() / 2) {
      backlog_.erase(0, backlog_done_);
      backlog_done_ = 0;
    }
    changed_.notify_all();
  }
}

void line_output::wait_for_room(std::chrono::milliseconds timeout) {
  std::unique_lock lock(guard_);
  changed_.wait_for(lock, timeout, [&] { return quit_ || !congested(); });
}

bool line_output::flush(std::chrono::milliseconds patience) {
  std::unique_lock lock(guard_);
  for (;;) {
    const std::uint64_t before = written();
    const bool done = changed_.wait_for(
        lock, patience, [&] { return backlog_.empty() || closed() || written() != before; });
    if (closed()) return false;
    if (!done || backlog_.empty()) return backlog_.empty();
  }
}

void line_output::abandon() {
  {
    const std::lock_guard lock(guard_);
    closed_.store(true, std::memory_order_relaxed);
    quit_ = true;
    drop_backlog();
  }
  if (drainer_.joinable()) drainer_.join();
  const std::lock_guard lock(guard_);
  own_.reset(); // so that the client sees the end even when a call is left behind
}

} // namespace paddock::mcp
