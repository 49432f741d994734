// SPDX-License-Identifier: MIT

// What the tests of commands run: one well- or ill-behaved program per mode. The second argument is
// a cookie, by which a test finds every process that came from this one: command lines are
// inherited by fork.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <string>

namespace {

void say(const char* text) {
  (void)!::write(STDOUT_FILENO, text, std::strlen(text));
}

[[noreturn]] void live_on() {
  for (;;)
    ::pause();
}

enum class streams { kept, closed };

/// A daemon in the textbook way; returns in the first process when the daemon is there.
void start_daemon(streams standard) {
  int ready[2];
  if (::pipe(ready) != 0) std::abort();
  if (::fork() == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    if (standard == streams::closed)
      for (int fd = 0; fd < 3; ++fd)
        ::close(fd);
    ::close(ready[0]);
    ::close(ready[1]);
    live_on();
  }
  ::close(ready[1]);
  char byte;
  (void)!::read(ready[0], &byte, 1); // ends when the daemon and its parent have closed it
  ::close(ready[0]);
}

int flood(long bytes) {
  static char block[16 * 1024];
  std::memset(block, 'x', sizeof block);
  for (long written = 0; written < bytes; written += static_cast<long>(sizeof block))
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      for (std::size_t done = 0; done < sizeof block;) {
        const ssize_t n = ::write(fd, block + done, sizeof block - done);
        if (n < 0) return 1;
        done += static_cast<std::size_t>(n);
      }
  return 0;
}

/// Starts processes as fast as the limit allows; every third leaves its session.
[[noreturn]] void bomb() {
  const rlimit bound{300, 300};
  ::setrlimit(RLIMIT_NPROC, &bound);
  ::signal(SIGTERM, SIG_IGN);
  say("ready\n");
  for (unsigned n = 0;; ++n)
    if (::fork() == 0 && n % 3 == 0) ::setsid();
}

/// Never the same process for long.
[[noreturn]] void hop() {
  ::signal(SIGTERM, SIG_IGN);
  say("ready\n");
  for (unsigned n = 0;; ++n) {
    const pid_t next = ::fork();
    if (next > 0) ::_exit(0);
    if (next == 0 && n % 4 == 0) ::setsid();
  }
}

pid_t parent_of(pid_t process) {
  std::FILE* stat = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "r");
  int parent = 0;
  if (stat == nullptr || std::fscanf(stat, "%*d (%*[^)]) %*c %d", &parent) != 1) std::abort();
  std::fclose(stat);
  return parent;
}

[[noreturn]] void ignore_term() {
  ::signal(SIGTERM, SIG_IGN);
  say("ready\n");
  live_on();
}

sockaddr_in port_of_loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Says its port and answers whoever connects.
[[noreturn]] void serve() {
  sockaddr_in here = port_of_loopback(0);
  socklen_t size = sizeof here;
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::bind(server, reinterpret_cast<const sockaddr*>(&here), size) != 0 ||
      ::listen(server, 16) != 0 ||
      ::getsockname(server, reinterpret_cast<sockaddr*>(&here), &size) != 0)
    ::_exit(1);
  say((std::to_string(ntohs(here.sin_port)) + "\n").c_str());
  for (;;) {
    const int client = ::accept(server, nullptr, nullptr);
    (void)!::write(client, "served", 6);
    ::close(client);
  }
}

/// What that answers; 1: nobody does.
int fetch(int port) {
  const sockaddr_in there = port_of_loopback(port);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(client, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) return 1;
  char answer[16] = {};
  if (::read(client, answer, sizeof answer - 1) <= 0) return 1;
  say(answer);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[1];
  if (mode == "live") live_on();
  if (mode == "serve") serve();
  if (mode == "fetch") return argc > 3 ? fetch(std::atoi(argv[3])) : 2;
  if (mode == "ignore-term") ignore_term();
  if (mode == "bomb") bomb();
  if (mode == "hop-leaving") {
    if (::fork() == 0) hop();
    ::pause();
  }
  if (mode == "flood") return flood(std::atol(argv[2]));
  if (mode == "daemon-closed" || mode == "daemon-holding") {
    start_daemon(mode == "daemon-closed" ? streams::closed : streams::kept);
    say("ready\n");
    if (argc > 3) live_on();
    return 0;
  }
  if (mode == "background") {
    if (::fork() == 0) live_on();
    return 0;
  }
  if (mode == "vfork-bound") { // waits for its child in the kernel, where it cannot be stopped
    say("ready\n");
    if (::vfork() == 0) live_on();
  }
  if (mode == "close-streams") {
    for (int fd = 0; fd < 3; ++fd)
      ::close(fd);
    ::poll(nullptr, 0, 100);
    return 7;
  }
  if (mode == "stop-self") {
    say("ready\n");
    ::raise(SIGSTOP);
    return 0;
  }
  if (mode == "stop-parents") {
    start_daemon(streams::closed);
    const pid_t parent = ::getppid();
    ::kill(parent_of(parent), SIGSTOP);
    ::kill(parent, SIGSTOP);
    live_on();
  }
  if (mode == "kill-parent") {
    start_daemon(streams::closed);
    ::kill(::getppid(), SIGKILL);
    live_on();
  }
  if (mode == "kill-both") {
    const pid_t parent = ::getppid();
    ::kill(parent_of(parent), SIGKILL);
    ::kill(parent, SIGKILL);
    live_on();
  }
  return 2;
}
