// SPDX-License-Identifier: MIT
#pragma once

// A client's end of a connection, byte by byte in the test's hands: it never blocks, so that one
// thread can flood, stall and cancel. And a paddock-mcp program at the other end.

#include "precompiled/tests.hpp"
#include "support/campaign.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>

namespace paddock::test {

inline constexpr int silence_ms = 60'000; // only a broken server is silent for so long

struct pipe_ends {
  file_descriptor read;
  file_descriptor write;
};

inline pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  return {file_descriptor(ends[0]), file_descriptor(ends[1])};
}

class line_peer {
public:
  line_peer() = default;
  line_peer(file_descriptor to, file_descriptor from) : to_(std::move(to)), from_(std::move(from)) {
    ::signal(SIGPIPE, SIG_IGN);
    ::fcntl(to_.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
  }

  /// Bytes for the server; written when there is room.
  void put(std::string_view bytes) { out_ += bytes; }
  [[nodiscard]] std::size_t unsent() const { return out_.size() - sent_; }
  void close_input() { to_.reset(); }
  void close_output() { from_.reset(); }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool refused() const { return refused_; } ///< the server does not read any more

  /// What `poll` is to wait for.
  [[nodiscard]] pollfd wants_to_write() const {
    return {.fd = unsent() > 0 && !refused_ ? to_.get() : -1, .events = POLLOUT, .revents = 0};
  }
  [[nodiscard]] pollfd wants_to_read() const {
    return {.fd = ended_ ? -1 : from_.get(), .events = POLLIN, .revents = 0};
  }
  void write_some() {
    while (unsent() > 0 && !refused_) {
      const ssize_t n = ::write(to_.get(), out_.data() + sent_, unsent());
      if (n < 0) {
        refused_ = errno != EAGAIN;
        break;
      }
      sent_ += static_cast<std::size_t>(n);
    }
    if (sent_ < out_.size() / 2) return;
    out_.erase(0, sent_);
    sent_ = 0;
  }
  void read_some() {
    std::array<char, 65536> chunk;
    const ssize_t n = ::read(from_.get(), chunk.data(), chunk.size());
    if (n > 0)
      in_.append(chunk.data(), static_cast<std::size_t>(n));
    else if (n == 0 || errno != EAGAIN)
      ended_ = true;
  }
  /// A whole line that has come, without its newline; valid until the next call of anything.
  std::optional<std::string_view> take() {
    const auto newline = in_.find('\n', searched_);
    if (newline == std::string::npos) {
      in_.erase(0, taken_);
      taken_ = 0;
      searched_ = in_.size();
      return std::nullopt;
    }
    const auto line = std::string_view(in_).substr(taken_, newline - taken_);
    taken_ = searched_ = newline + 1;
    return line;
  }
  [[nodiscard]] bool torn() const { return ended_ && taken_ < in_.size(); }

  enum class reading : std::uint8_t { yes, no };
  /// Lets bytes flow until something moved; false when nothing did for `timeout_ms`.
  bool pump(int timeout_ms = silence_ms, reading r = reading::yes) {
    std::array<pollfd, 2> entries{wants_to_write(), wants_to_read()};
    if (r == reading::no) entries[1].fd = -1;
    if (::poll(entries.data(), entries.size(), timeout_ms) <= 0) return false;
    if (entries[0].revents != 0) write_some();
    if (entries[1].revents != 0) read_some();
    return true;
  }
  /// The next line, or nothing at the end; silence is a failure.
  std::optional<std::string> receive() {
    for (;;) {
      if (const auto line = take()) return std::string(*line);
      if (ended_) return std::nullopt;
      if (!pump()) {
        ADD_FAILURE() << "the server says nothing";
        return std::nullopt;
      }
    }
  }
  /// Writes what is left, while answers are kept for later.
  void flush() {
    while (unsent() > 0 && !refused_)
      if (!pump()) {
        ADD_FAILURE() << "the server does not read";
        return;
      }
  }

private:
  file_descriptor to_, from_;
  std::string out_;
  std::size_t sent_ = 0;
  std::string in_;
  std::size_t taken_ = 0;
  std::size_t searched_ = 0;
  bool ended_ = false;
  bool refused_ = false;
};

/// What /proc says of a process.
class process_view {
public:
  explicit process_view(pid_t id) : at_("/proc/" + std::to_string(id)) {}

  [[nodiscard]] std::size_t resident_kib() const {
    std::ifstream status(at_ + "/status");
    for (std::string word; status >> word;)
      if (word == "VmRSS:") {
        std::size_t kib = 0;
        status >> kib;
        return kib;
      }
    return 0;
  }
  [[nodiscard]] std::size_t descriptors() const { return entries("/fd"); }
  [[nodiscard]] std::size_t threads() const { return entries("/task"); }
  [[nodiscard]] std::size_t children() const {
    std::size_t count = 0;
    std::error_code gone;
    for (const auto& task : std::filesystem::directory_iterator(at_ + "/task", gone)) {
      std::ifstream list(task.path() / "children");
      for (int id = 0; list >> id;)
        ++count;
    }
    return count;
  }

private:
  [[nodiscard]] std::size_t entries(const char* name) const {
    std::size_t count = 0;
    std::error_code gone;
    for (std::filesystem::directory_iterator i(at_ + name, gone), end; !gone && i != end;
         i.increment(gone))
      ++count;
    return count;
  }
  std::string at_;
};

#ifdef PADDOCK_TEST_ADAPTER
/// A paddock-mcp of its own.
class adapter_program {
public:
  explicit adapter_program(const std::string& workspace,
                           const std::vector<std::string>& options = {"--exec", "best-effort"}) {
    pipe_ends to = make_pipe();
    pipe_ends from = make_pipe();
    std::vector<std::string> words = {PADDOCK_TEST_ADAPTER, "--workspace", workspace};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (std::string& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to.read.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, from.write.get(), 1);
    const int failed = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) { // never go on with an id that stands for all processes
      std::fprintf(stderr, "%s: %s\n", argv[0], std::strerror(failed));
      std::abort();
    }
    peer = line_peer(std::move(to.write), std::move(from.read));
  }
  adapter_program(const adapter_program&) = delete;
  adapter_program& operator=(const adapter_program&) = delete;
  ~adapter_program() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t id() const { return pid_; }
  [[nodiscard]] process_view view() const { return process_view(pid_); }
  /// Waits for the program's end: its exit code, or 128 and the signal that killed it.
  int exit_code() {
    if (pid_ <= 0) std::abort();
    const file_descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    pollfd entry{.fd = handle.get(), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, silence_ms) != 1) {
      ADD_FAILURE() << "the adapter does not end";
      ::kill(pid_, SIGKILL);
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  line_peer peer;

private:
  pid_t pid_ = -1;
};
#endif

} // namespace paddock::test
