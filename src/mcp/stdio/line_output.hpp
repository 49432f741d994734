// SPDX-License-Identifier: MIT
#pragma once

// Writes whole lines from many threads to one descriptor, and never makes them wait for the reader:
// what the descriptor does not take at once is kept, and a thread made for that purpose writes it
// when there is room.

#include <paddock/base/file_descriptor.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace paddock::mcp {

class line_output {
public:
  /// More than `backlog_max` bytes waiting is congestion. `on_closed` is called, from any thread,
  /// when nothing can be written any more. The descriptor stays the caller's.
  line_output(int fd, std::size_t backlog_max, std::function<void()> on_closed);
  line_output(const line_output&) = delete;
  line_output& operator=(const line_output&) = delete;
  ~line_output();

  void send(std::string_view line);
  /// Sends `line`, unless others are waiting already.
  void offer(std::string_view line);

  [[nodiscard]] bool congested() const noexcept {
    return waiting_.load(std::memory_order_relaxed) > backlog_max_;
  }
  /// Returns when there is no congestion, or after `timeout`.
  void wait_for_room(std::chrono::milliseconds timeout);
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  /// Bytes written so far, as a measure of progress.
  [[nodiscard]] std::uint64_t written() const noexcept {
    return written_.load(std::memory_order_relaxed);
  }
  /// Waits until everything is written; false when that fails, or nothing moves for `patience`.
  [[nodiscard]] bool flush(std::chrono::milliseconds patience);
  /// Drops what is not written, and everything sent from now on. Not to be called by two threads at
  /// once.
  void abandon();

private:
  enum class mode : std::uint8_t { nonblocking, socket, guarded_pipe, blocking };

  [[nodiscard]] std::size_t write_some(std::string_view bytes);
  void write_or_keep(std::string_view line, std::unique_lock<std::mutex>& lock);
  void drop_backlog();
  void close(std::unique_lock<std::mutex>& lock);
  void drain();

  file_descriptor own_; // a description of our own, when that makes writes non-blocking
  int fd_;
  mode mode_;
  const std::size_t backlog_max_;
  const std::function<void()> on_closed_;

  std::mutex guard_;
  std::condition_variable changed_;
  std::string backlog_;
  std::size_t backlog_done_ = 0; // bytes at its front that are written
  std::thread drainer_;
  bool quit_ = false;
  std::atomic<std::size_t> waiting_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<bool> closed_{false};
};

} // namespace paddock::mcp
