// SPDX-License-Identifier: MIT
#include "mcp_child.hpp"

#include <gsl/util>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::int64_t answer_ms_max = 60'000;
constexpr std::int64_t exit_ms_max = 5'000;
constexpr std::size_t line_bytes_max = std::size_t{64} * 1024 * 1024;

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

error failure(const char* operation, int os_errno) {
  return {error_code::io, os_errno, operation};
}

struct pipe_ends {
  file_descriptor read;
  file_descriptor write;
};

result<pipe_ends> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failure("pipe2", errno);
  return pipe_ends{file_descriptor(ends[0]), file_descriptor(ends[1])};
}

/// Starts the program with the two descriptors as its standard input and output; its process id.
result<int> spawn(const std::vector<std::string>& argv, int in, int out) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (const auto& argument : argv)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  if (const int failed = ::posix_spawn_file_actions_init(&actions); failed != 0)
    return failure("posix_spawn_file_actions_init", failed);
  const auto free_actions = gsl::finally([&] { ::posix_spawn_file_actions_destroy(&actions); });
  posix_spawnattr_t attributes;
  if (const int failed = ::posix_spawnattr_init(&attributes); failed != 0)
    return failure("posix_spawnattr_init", failed);
  const auto free_attributes = gsl::finally([&] { ::posix_spawnattr_destroy(&attributes); });

  ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t id = -1;
  const int failed =
      ::posix_spawn(&id, argv.front().c_str(), &actions, &attributes, pointers.data(), environ);
  if (failed != 0) return failure("posix_spawn", failed);
  return static_cast<int>(id);
}

} // namespace

result<mcp_child> mcp_child::start(const std::vector<std::string>& argv) {
  ::signal(SIGPIPE, SIG_IGN); // a server that ended is an error of the next write
  PADDOCK_TRY(auto in, make_pipe());
  PADDOCK_TRY(auto out, make_pipe());
  PADDOCK_TRY(const int id, spawn(argv, in.read.get(), out.write.get()));
  mcp_child child;
  child.id_ = id;
  child.input_ = std::move(in.write);
  child.output_ = std::move(out.read);
  return child;
}

mcp_child::mcp_child(mcp_child&& other) noexcept
    : id_(std::exchange(other.id_, -1)), input_(std::move(other.input_)),
      output_(std::move(other.output_)), received_(std::move(other.received_)) {}

mcp_child::~mcp_child() {
  if (id_ < 0) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

result<void> mcp_child::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(input_.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failure("write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

result<std::string> mcp_child::receive(std::int64_t deadline_ms) {
  std::array<char, std::size_t{64} * 1024> buffer;
  std::size_t searched = 0;
  for (;;) {
    if (const auto end = received_.find('\n', searched); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (searched > line_bytes_max) return failure("read", EMSGSIZE);
    const auto left_ms = deadline_ms - now_ms();
    pollfd ready{output_.get(), POLLIN, 0};
    if (left_ms <= 0) return error{error_code::timed_out, 0, "read"};
    if (::poll(&ready, 1, static_cast<int>(left_ms)) <= 0) continue;
    const ssize_t size = ::read(output_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return failure("read", size < 0 ? errno : EPIPE);
    received_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

result<std::string> mcp_child::exchange(std::string_view request) {
  PADDOCK_CHECK(send(std::string(request) + '\n'));
  return receive(now_ms() + answer_ms_max);
}

int mcp_child::finish() {
  input_.reset();
  const auto deadline = now_ms() + exit_ms_max;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(id_, &status, WNOHANG)) == 0 && now_ms() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (ended != id_) return -1; // the destructor ends it
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace paddock::cli
