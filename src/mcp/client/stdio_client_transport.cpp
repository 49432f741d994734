// SPDX-License-Identifier: MIT

// A server as a child process. A call that waits receives on its own thread, so that it never
// changes threads: one of the waiting threads leads, reads what comes and hands it out; the others
// sleep, and the leader wakes one of them when it leaves. While nobody waits, the watcher reads. It
// does not look at the server's output as long as others do, and notices their leaving only after a
// while, so that a burst of calls does not wake it each time.

#include "base/start_thread.hpp"
#include "exec/piped_program.hpp"
#include "mcp/client/client_transport.hpp"
#include "mcp/stdio/line_output.hpp"
#include "mcp/stdio/line_reader.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

/// Cuts a stream of text for people into lines of bounded length; what is beyond is dropped.
class log_lines {
public:
  static constexpr std::size_t line_bytes_max = std::size_t{8} * 1024;

  template <class F> void append(std::string_view bytes, const F& on_line) {
    for (;;) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      line_.append(part.substr(0, line_bytes_max - line_.size()));
      if (end == std::string_view::npos) return;
      finish(on_line);
      bytes.remove_prefix(end + 1);
    }
  }
  /// Hands over what follows the last newline, too.
  template <class F> void finish(const F& on_line) {
    if (line_.ends_with('\r')) line_.pop_back();
    if (!line_.empty()) on_line(std::string_view(line_));
    line_.clear();
  }

private:
  std::string line_;
};

constexpr std::int64_t look_ms_min = 20; ///< between two looks of the watcher at a busy connection
constexpr std::int64_t look_ms_max = 320;
/// How long a server that closed its output may take to end, so that the reason can be told.
constexpr std::int64_t end_follows_ms_max = 100;

pollfd readable(int fd) {
  return {.fd = fd, .events = POLLIN, .revents = 0};
}

class stdio_client final : public client_transport {
public:
  struct events {
    file_descriptor stop;         ///< raised by close
    file_descriptor input_closed; ///< raised when the server takes nothing any more
  };

  stdio_client(piped_program program, events e, const client_options& options, incoming& sink)
      : program_(std::move(program)), events_(std::move(e)), sink_(sink),
        close_grace_ms_(options.close_grace_ms), lines_(options.message_bytes_max),
        input_(program_.input.get(), options.message_bytes_max,
               [fd = events_.input_closed.get()] { sys::raise_event(fd); }) {}
  stdio_client(const stdio_client&) = delete;
  stdio_client& operator=(const stdio_client&) = delete;
  ~stdio_client() override { close(); }

  [[nodiscard]] bool start_watching() {
    return start_thread(watcher_, [this] { watch(); });
  }

  result<void, detailed_error> send(const outgoing& message) override {
    const auto refuse = [](error_code code, const char* text) {
      return detailed_error({code, 0, "send"}, text);
    };
    if (lost_.load() || input_.closed())
      return refuse(error_code::io, "the server takes no more messages");
    if (input_.congested())
      return refuse(error_code::too_many, "the server does not read what it was sent");
    std::string line;
    line.reserve(message.json.size() + 1);
    line.append(message.json).push_back('\n');
    input_.send(line);
    return {};
  }
  void forget(const request_id&) noexcept override {}
  void wait(waiter& w) override {
    while (!w.is_over()) {
      if (lead_if_free()) {
        while (!w.is_over() && !lost_.load() &&
               receive(w.cancel_descriptor(), w.poll_ms()) == found::something) {
        }
        stop_leading();
        continue;
      }
      {
        const std::lock_guard lock(guard_);
        if (!led_ && !closing_ && !lost_.load()) continue;
        sleeping_.push_back(&w);
      }
      w.sleep();
      const std::lock_guard lock(guard_);
      std::erase(sleeping_, &w);
      // The waking may have been meant for whoever leads next, and this thread may not.
      if (!led_ && !sleeping_.empty() && w.is_over()) sleeping_.front()->wake();
    }
  }
  void close() noexcept override {
    const std::lock_guard closing(closing_guard_);
    if (closed_) return;
    {
      std::unique_lock lock(guard_);
      closing_ = true;
      sys::raise_event(events_.stop.get());
      leader_left_.wait(lock, [&] { return !led_; });
    }
    if (watcher_.joinable()) watcher_.join();
    input_.abandon();
    end_program();
    closed_ = true;
  }

private:
  enum class found : std::uint8_t { nothing, something };

  void watch() {
    bool others_read = false;
    std::uint64_t seen = 0;
    std::int64_t look_ms = look_ms_min;
    for (;;) {
      const bool reads = !others_read && !lost_.load();
      std::array entries{readable(events_.stop.get()), readable(program_.errors.get()),
                         readable(reads ? program_.output.get() : -1),
                         readable(reads ? program_.end_event() : -1),
                         readable(reads ? events_.input_closed.get() : -1)};
      const auto ready = sys::poll(entries, others_read && !lost_.load() ? look_ms : -1);
      if (!ready || entries[0].revents != 0) return;
      if (entries[1].revents != 0) read_errors();
      const std::uint64_t now = receptions_.load(std::memory_order_relaxed);
      if (others_read) {
        const std::lock_guard lock(guard_);
        others_read = led_ || now != seen;
        look_ms = std::min(look_ms * 2, look_ms_max);
      } else if (entries[2].revents != 0 || entries[3].revents != 0 || entries[4].revents != 0) {
        others_read = !lead_if_free();
        look_ms = look_ms_min;
        if (!others_read) {
          receive(-1, 0);
          stop_leading();
        }
      }
      seen = now;
    }
  }
  [[nodiscard]] bool lead_if_free() {
    const std::lock_guard lock(guard_);
    if (led_ || closing_ || lost_.load()) return false;
    led_ = true;
    return true;
  }
  void stop_leading() {
    const std::lock_guard lock(guard_);
    led_ = false;
    if (!sleeping_.empty()) sleeping_.front()->wake();
    if (closing_) leader_left_.notify_all();
  }
  /// Waits for one thing to happen and deals with it. Nothing: the time is over, or the waiting has
  /// to be thought over.
  found receive(int cancel_descriptor, std::int64_t timeout_ms) {
    std::array entries{readable(program_.output.get()), readable(program_.end_event()),
                       readable(events_.input_closed.get()), readable(events_.stop.get()),
                       readable(cancel_descriptor)};
    const auto ready = sys::poll(entries, timeout_ms);
    receptions_.fetch_add(1, std::memory_order_relaxed);
    if (!ready || *ready == 0 || entries[3].revents != 0) return found::nothing;
    if (entries[0].revents != 0)
      read_output();
    else if (entries[1].revents != 0)
      lose(error_code::io, why_output_ended());
    else if (entries[2].revents != 0)
      lose(error_code::io, "the server closed its standard input");
    return found::something;
  }
  void read_output() {
    const auto n = sys::read(program_.output.get(), lines_.space());
    if (!n && n.error().os_errno == EAGAIN) return;
    const bool ended = !n || *n == 0;
    if (!ended) lines_.added(*n);
    for (auto item = lines_.take(); item || ended; item = lines_.take()) {
      if (!item) item = lines_.take_rest();
      if (!item) break;
      if (item->too_long)
        return lose(error_code::too_large, "the server sent a line that is longer than allowed");
      sink_.on_message(item->line);
    }
    if (ended) lose(error_code::io, why_output_ended());
  }
  void lose(error_code code, std::string why) {
    lost_.store(true);
    error reason{code, 0, "server"};
    if (const auto failed = program_.start_failure()) reason = *failed;
    sink_.on_lost(reason, why);
  }
  std::string why_output_ended() {
    std::array entries{readable(program_.end_event())};
    const auto ready = sys::poll(entries, end_follows_ms_max);
    if (!ready || *ready == 0) return "the server closed its standard output";
    std::string end = program_.describe_end();
    return end.empty() ? "the server ended" : "the server " + end;
  }
  void read_errors() {
    std::array<char, 4096> buffer;
    const auto n = sys::read(program_.errors.get(), buffer);
    if (!n && n.error().os_errno == EAGAIN) return;
    const auto log = [this](std::string_view line) { sink_.on_log(line); };
    if (n && *n > 0) return errors_.append({buffer.data(), *n}, log);
    errors_.finish(log);
    program_.errors.reset();
  }
  void end_program() {
    program_.input.reset();
    if (!ended_within(close_grace_ms_)) {
      program_.terminate();
      (void)ended_within(program_.terminate_ms_max());
    }
    program_.kill();
    program_.output.reset();
    program_.errors.reset();
  }
  /// Goes on reading, so that the server is not kept from ending by a full pipe.
  bool ended_within(std::int64_t ms) {
    std::array<char, 4096> ignored;
    const std::int64_t until = sys::monotonic_ms() + ms;
    for (;;) {
      std::array entries{readable(program_.end_event()), readable(program_.output.get()),
                         readable(program_.errors.get())};
      const std::int64_t left_ms = std::max<std::int64_t>(0, until - sys::monotonic_ms());
      const auto ready = sys::poll(entries, left_ms);
      if (entries[2].revents != 0) read_errors();
      if (entries[0].revents != 0) return true;
      if (!ready || left_ms == 0) return false;
      if (entries[1].revents == 0) continue;
      const auto n = sys::read(program_.output.get(), ignored);
      if (n ? *n == 0 : n.error().os_errno != EAGAIN) program_.output.reset();
    }
  }

  piped_program program_;
  const events events_;
  incoming& sink_;
  const std::int64_t close_grace_ms_;
  log_lines errors_;

  // Of the leader.
  line_reader lines_;

  line_output input_;
  std::thread watcher_;
  std::atomic<std::uint64_t> receptions_{0};
  std::atomic<bool> lost_{false};

  std::mutex closing_guard_; // before guard_
  bool closed_ = false;
  std::mutex guard_;
  std::condition_variable leader_left_;
  bool closing_ = false;
  bool led_ = false;
  std::vector<waiter*> sleeping_;
};

} // namespace

opened_transport start_stdio(const stdio_endpoint& to, const client_options& options,
                             incoming& sink) {
  PADDOCK_TRY(auto stop, sys::eventfd());
  PADDOCK_TRY(auto input_closed, sys::eventfd());
  PADDOCK_TRY(auto program, piped_program::start({.argv = to.argv,
                                                  .environment = to.environment,
                                                  .working_directory = to.working_directory,
                                                  .confinement = to.confinement,
                                                  .kill_grace_ms = options.close_grace_ms,
                                                  .helper = to.helper}));
  auto transport = std::make_unique<stdio_client>(
      std::move(program), stdio_client::events{std::move(stop), std::move(input_closed)}, options,
      sink);
  if (!transport->start_watching()) return error{error_code::too_many, EAGAIN, "thread"};
  return std::unique_ptr<client_transport>(std::move(transport));
}

} // namespace paddock::mcp
