// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

extern char** environ; // NOLINT

namespace paddock::bench {

/// A program that answers each line with a line.
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
  }
  line_process(const line_process&) = delete;
  line_process& operator=(const line_process&) = delete;
  ~line_process() {
    ::close(to_);
    ::close(from_);
    ::waitpid(pid_, nullptr, 0);
  }

  /// The number of bytes of the answer.
  std::size_t round_trip(const std::string& line) {
    if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
    answer_.clear();
    std::array<char, 65536> buffer;
    while (answer_.empty() || answer_.back() != '\n') {
      const ssize_t n = ::read(from_, buffer.data(), buffer.size());
      if (n <= 0) std::abort();
      answer_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return answer_.size();
  }
  [[nodiscard]] bool answered(const char* part) const {
    return answer_.find(part) != std::string::npos;
  }
  [[nodiscard]] double resident_kib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; status >> word;)
      if (word == "VmRSS:") {
        double kib = 0;
        status >> kib;
        return kib;
      }
    return 0;
  }

private:
  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string answer_;
};

} // namespace paddock::bench
