// SPDX-License-Identifier: MIT
#pragma once

// A child process that answers lines with lines, over a pair of pipes.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern char** environ; // NOLINT

namespace paddock::bench {

class line_process {
public:
  explicit line_process(std::vector<std::string> argv) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::vector<char*> args;
    for (auto& a : argv)
      args.push_back(a.data());
    args.push_back(nullptr);
    if (::posix_spawnp(&pid_, args[0], &actions, nullptr, args.data(), environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    ::fcntl(to_, F_SETFL, O_NONBLOCK);
  }
  line_process(const line_process&) = delete;
  line_process& operator=(const line_process&) = delete;
  /// Ends the child by ending its input, and waits for it.
  ~line_process() {
    ::close(to_);
    ::close(from_);
    ::waitpid(pid_, nullptr, 0);
  }

  /// Takes in what the child writes meanwhile, so that neither waits for the other.
  void send(std::string_view line) {
    while (!line.empty()) {
      const ssize_t n = ::write(to_, line.data(), line.size());
      if (n > 0) {
        line.remove_prefix(static_cast<std::size_t>(n));
        continue;
      }
      if (n == 0 || errno != EAGAIN) std::abort();
      std::array<pollfd, 2> both{pollfd{to_, POLLOUT, 0}, pollfd{from_, POLLIN, 0}};
      ::poll(both.data(), both.size(), -1);
      if (both[1].revents != 0) take_in();
    }
  }
  /// The next line with its newline; valid until the next call. Empty at the end of the output.
  std::string_view receive() {
    received_.erase(0, std::exchange(taken_, 0));
    for (std::size_t searched = 0;;) {
      const auto end = received_.find('\n', searched);
      if (end != std::string::npos) {
        taken_ = end + 1;
        return std::string_view(received_).substr(0, taken_);
      }
      searched = received_.size();
      if (!take_in()) return {};
    }
  }
  /// One line out, one line in.
  std::string_view round_trip(std::string_view line) {
    send(line);
    const auto answer = receive();
    if (answer.empty()) std::abort();
    return answer;
  }

  /// A line such as "VmRSS" or "VmHWM" of /proc/PID/status, in KiB.
  [[nodiscard]] double memory_kib(std::string_view field) const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; status >> word;) {
      if (word != std::string(field) + ":") continue;
      double kib = 0;
      status >> kib;
      return kib;
    }
    return 0;
  }
  /// User and system time of the process so far, in microseconds; the kernel counts in ticks.
  [[nodiscard]] double cpu_us() const {
    std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto after_name = text.rfind(')');
    std::size_t at = after_name;
    double ticks = 0;
    for (int field = 2; field <= 15; ++field) { // utime is field 14, stime 15
      at = text.find(' ', at + 1);
      if (field >= 13) ticks += std::strtod(text.c_str() + at, nullptr);
      if (field == 14) break;
    }
    return ticks * 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

private:
  bool take_in() {
    std::array<char, 65536> buffer;
    const ssize_t n = ::read(from_, buffer.data(), buffer.size());
    if (n > 0) received_.append(buffer.data(), static_cast<std::size_t>(n));
    return n > 0;
  }

  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string received_;
  std::size_t taken_ = 0;
};

} // namespace paddock::bench
