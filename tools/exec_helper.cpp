// SPDX-License-Identifier: MIT

// paddock-exec-helper: runs one command and makes sure that nothing of it outlives the call.
// Started by the library only (src/sys/exec_protocol.hpp says how), and small and static so that it
// starts fast.
//
//   supervisor   child subreaper; talks to the library; ends the tree when the command has ended,
//   when it is told to, or
//    |           when the library's process is gone
//    `- parent   waits for the command. It is a process of its own so that `kill -9 $PPID` hits it
//    and not the
//        |       supervisor. The init of a PID namespace takes its place.
//        `- command   in a session of its own; confinement is applied here, between set-up and
//        execve
//
// Signals stay blocked in the first two, and both are undumpable, so that a command of the same
// user cannot reach into them through /proc or ptrace.

#include "process_tree.hpp"
#include "sys/exec_protocol.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace paddock::sys;

namespace paddock::exec {
namespace {

struct options {
  int channel;
  int out;
  int err;
  int directory;
  long grace_ms;
  char** argv;
};

/// Memory that supervisor and parent share.
struct shared_state {
  volatile pid_t command; ///< 0 until it leads its own process group
  volatile int status;
  volatile bool ended; ///< `status` is valid
};

void send_event(int channel, exec_event event, int first, int second) {
  const exec_message message{event, first, second};
  (void)!::send(channel, &message, sizeof message, MSG_NOSIGNAL);
}

[[noreturn]] void fail(int channel, exec_stage stage, int os_errno) {
  send_event(channel, exec_event::failed, static_cast<int>(stage), os_errno);
  ::_exit(127);
}

std::int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// Closes the descriptors first..last; kernels before 5.9 have no call for it.
void close_descriptors(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  const long highest = ::sysconf(_SC_OPEN_MAX);
  for (unsigned fd = first; fd <= last && static_cast<long>(fd) < highest; ++fd)
    ::close(static_cast<int>(fd));
}

/// Closes everything above the standard streams but what was given to this program.
void close_all_but(const options& given) {
  const int keep[] = {given.channel, given.out, given.err, given.directory};
  unsigned next = 3;
  for (;;) {
    unsigned lowest = UINT_MAX;
    for (const int fd : keep)
      if (static_cast<unsigned>(fd) >= next && static_cast<unsigned>(fd) < lowest)
        lowest = static_cast<unsigned>(fd);
    if (lowest == UINT_MAX) break;
    if (lowest > next) close_descriptors(next, lowest - 1);
    next = lowest + 1;
  }
  close_descriptors(next, UINT_MAX);
}

// --- the command --------------------------------------------------------------------------------

/// Runs the program; returns only when it cannot be run, with errno. A program file that another
/// thread of the library's process has just written stays open for writing in a process that is
/// being started, for an instant.
void execute(const char* program, char** argv) {
  long pause_ns = 1'000'000;
  for (int attempt = 0; attempt < 6; ++attempt) {
    ::execve(program, argv, environ);
    if (errno != ETXTBSY) return;
    const timespec pause{0, pause_ns};
    ::nanosleep(&pause, nullptr);
    pause_ns *= 2;
  }
  errno = ETXTBSY;
}

exec_stage stage_of(int os_errno, const char* program) {
  const bool exists = os_errno == ENOENT && ::access(program, F_OK) == 0;
  return exists ? exec_stage::interpreter : exec_stage::execve;
}

/// Looks the program up in the PATH of the command's environment, absolute entries only.
[[noreturn]] void search_and_execute(int channel, char** argv) {
  const char* path = std::getenv("PATH");
  int reason = ENOENT;
  const std::size_t name_size = std::strlen(argv[0]);
  for (const char* entry = path; entry != nullptr;) {
    const char* end = std::strchr(entry, ':');
    const std::size_t size =
        end != nullptr ? static_cast<std::size_t>(end - entry) : std::strlen(entry);
    char program[PATH_MAX];
    if (entry[0] == '/' && size + 1 + name_size + 1 <= sizeof program) {
      std::memcpy(program, entry, size);
      program[size] = '/';
      std::memcpy(program + size + 1, argv[0], name_size + 1);
      execute(program, argv);
      const int error = errno;
      const exec_stage stage = stage_of(error, program);
      if (error == EACCES) {
        // A later entry may have one that can be run. What is in a directory that may not be
        // searched counts as not there.
        if (::access(program, F_OK) == 0) reason = error;
      } else if ((error != ENOENT && error != ENOTDIR) || stage == exec_stage::interpreter) {
        fail(channel, stage, error);
      }
    }
    entry = end != nullptr ? end + 1 : nullptr;
  }
  fail(channel, exec_stage::execve, reason);
}

void restore_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number <= SIGRTMAX; ++number)
    if (number != SIGKILL && number != SIGSTOP) ::sigaction(number, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_command(const options& given, shared_state& shared, pid_t parent) {
  const pid_t self = ::setsid();
  shared.command = self;
  send_event(given.channel, exec_event::started, self, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);

  if (::fchdir(given.directory) != 0) fail(given.channel, exec_stage::working_directory, errno);
  const bool streams =
      ::dup2(given.out, STDOUT_FILENO) >= 0 && ::dup2(given.err, STDERR_FILENO) >= 0;
  const int channel = 3;
  const bool kept = given.channel == channel ? ::fcntl(channel, F_SETFD, FD_CLOEXEC) == 0
                                             : ::dup3(given.channel, channel, O_CLOEXEC) >= 0;
  if (!streams || !kept) fail(given.channel, exec_stage::helper, errno);
  close_descriptors(channel + 1, UINT_MAX);
  restore_signals();

  char** argv = given.argv;
  if (std::strchr(argv[0], '/') == nullptr) search_and_execute(channel, argv);
  execute(argv[0], argv);
  const int error = errno;
  fail(channel, stage_of(error, argv[0]), error);
}

[[noreturn]] void run_parent(const options& given, shared_state& shared, pid_t supervisor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(1);
  const pid_t self = ::getpid();
  const pid_t command = ::fork();
  if (command < 0) fail(given.channel, exec_stage::helper, errno);
  if (command == 0) run_command(given, shared, self);
  ::close(given.out);
  ::close(given.err);
  int status = 0;
  while (::waitpid(command, &status, 0) < 0 && errno == EINTR) {
  }
  shared.status = status;
  shared.ended = true;
  ::_exit(0);
}

// --- the supervisor -----------------------------------------------------------------------------

class supervisor {
public:
  supervisor(const options& given, shared_state& shared) : given_(given), shared_(shared) {}

  /// Starts the parent, which starts the command.
  void start() {
    library_ = ::getppid();
    // The channel does not end while another process has a copy of the library's descriptors.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigset_t awaited;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, SIGCHLD);
    ::sigaddset(&awaited, SIGTERM);
    signals_ = ::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ < 0) fail(given_.channel, exec_stage::helper, errno);
    const pid_t self = ::getpid();
    parent_ = ::fork();
    if (parent_ < 0) fail(given_.channel, exec_stage::helper, errno);
    if (parent_ == 0) run_parent(given_, shared_, self);
    ::close(given_.out);
    ::close(given_.err);
    ::close(given_.directory);
  }

  /// Until the command has ended or everything is to be killed.
  void watch() {
    std::int64_t kill_at = -1;
    while (parent_ != 0) {
      pollfd events[] = {{signals_, POLLIN, 0}, {kill_at < 0 ? given_.channel : -1, POLLIN, 0}};
      const std::int64_t left = kill_at < 0 ? -1 : kill_at - monotonic_ms();
      if (kill_at >= 0 && left <= 0) return;
      ::poll(events, 2, static_cast<int>(left));
      if (events[0].revents != 0) {
        drain_signals();
        reap();
      }
      if (::getppid() != library_) return;
      if (events[1].revents == 0) continue;
      char request;
      if (::recv(given_.channel, &request, 1, 0) <= 0) return;
      kill_at = monotonic_ms() + given_.grace_ms;
      ask_to_terminate();
    }
  }

  /// Ends whatever is left below this process and reports.
  void finish() {
    const tree_remains remains = end_tree();
    if (!reported_) report_end(SIGKILL); // it cannot be reaped: killed, and stuck in the kernel
    send_event(given_.channel, exec_event::done, static_cast<int>(remains), leftovers_ ? 1 : 0);
  }

private:
  void ask_to_terminate() const {
    const pid_t command = shared_.command;
    if (command == 0) return;
    ::kill(-command, SIGTERM);
    ::kill(-command, SIGCONT); // a stopped process takes the other one only when it goes on
  }

  void drain_signals() const {
    signalfd_siginfo taken[8];
    while (::read(signals_, taken, sizeof taken) > 0) {
    }
  }

  /// Collects dead children, adopted ones too, and reports the end of the command. False when there
  /// is no child left, dead or alive.
  bool reap() {
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (child == parent_) {
        parent_ = 0;
        orphaned_ = WIFSIGNALED(status) && !killing_;
      }
      if (child == shared_.command && !shared_.ended) { // adopted: its parent is dead
        shared_.status = status;
        shared_.ended = true;
      }
    }
    if (parent_ == 0 && shared_.ended && !reported_) report_end(shared_.status);
    return child == 0 || errno != ECHILD;
  }

  /// Freezes and kills in rounds until the kernel says that there is no child left. As this process
  /// adopts every orphan below it, that means no descendant either.
  tree_remains end_tree() {
    if (!reap()) return tree_remains::nothing;
    killing_ = true;
    const std::int64_t give_up_at = monotonic_ms() + tree_end_ms_max;
    process_tree tree;
    while (monotonic_ms() < give_up_at) {
      if (!tree.freeze()) return end_group();
      leftovers_ = leftovers_ || tree.has_other_than(parent_, shared_.command);
      tree.kill_all();
      if (all_gone_within(20)) return tree_remains::nothing_killed;
    }
    return tree_remains::unknown;
  }

  /// Without /proc the command's group, and its parent, are all that can be found.
  tree_remains end_group() {
    if (shared_.command != 0) ::kill(-shared_.command, SIGKILL);
    if (parent_ != 0) ::kill(parent_, SIGKILL);
    return all_gone_within(500) ? tree_remains::nothing_killed : tree_remains::unknown;
  }

  bool all_gone_within(std::int64_t ms) {
    const std::int64_t until = monotonic_ms() + ms;
    while (reap()) {
      const std::int64_t left = until - monotonic_ms();
      if (left <= 0) return false;
      pollfd event{signals_, POLLIN, 0};
      ::poll(&event, 1, static_cast<int>(left));
      drain_signals();
    }
    return true;
  }

  void report_end(int status) {
    reported_ = true;
    send_event(given_.channel, exec_event::ended, status, orphaned_ ? 1 : 0);
  }

  const options& given_;
  shared_state& shared_;
  pid_t library_ = 0;
  pid_t parent_ = 0; ///< 0 when it is dead
  int signals_ = -1;
  bool reported_ = false; ///< the end of the command
  bool killing_ = false;
  bool orphaned_ = false; ///< somebody else killed the parent
  bool leftovers_ = false;
};

// --- start --------------------------------------------------------------------------------------

bool parse_number(const char* text, long lowest, long& number) {
  char* end = nullptr;
  errno = 0;
  number = std::strtol(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && number >= lowest;
}

bool parse(int argc, char** argv, options& given) {
  if (argc < 7) return false;
  long numbers[5];
  for (int i = 0; i < 5; ++i) {
    const bool descriptor = i < 4;
    if (!parse_number(argv[1 + i], descriptor ? 3 : 0, numbers[i])) return false;
    if (descriptor && ::fcntl(static_cast<int>(numbers[i]), F_GETFD) < 0) return false;
  }
  given = {.channel = static_cast<int>(numbers[0]),
           .out = static_cast<int>(numbers[1]),
           .err = static_cast<int>(numbers[2]),
           .directory = static_cast<int>(numbers[3]),
           .grace_ms = numbers[4] < INT_MAX ? numbers[4] : INT_MAX,
           .argv = argv + 6};
  return true;
}

/// Standard streams of all three processes; the command gets its own output streams later.
bool open_null() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return false;
  for (int fd = 0; fd < 3; ++fd) {
    if (null == fd ? ::fcntl(fd, F_SETFD, 0) < 0 : ::dup2(null, fd) < 0) return false;
  }
  if (null > 2) ::close(null);
  return true;
}

void set_up_process(const options& given) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL); // ignored, it would make dead children vanish unreported
  close_all_but(given);
  // No privileges from set-user-ID files: such a process could not be killed by this one.
  const bool ready = open_null() && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                     ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && ::prctl(PR_SET_DUMPABLE, 0) == 0;
  if (!ready) fail(given.channel, exec_stage::helper, errno);
  ::setsid();
}

} // namespace
} // namespace paddock::exec

int main(int argc, char** argv) {
  using namespace paddock::exec;
  options given;
  if (!parse(argc, argv, given)) {
    std::fputs("paddock-exec-helper is started by the paddock library, not by hand\n", stderr);
    return 2;
  }
  set_up_process(given);
  void* memory = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(given.channel, exec_stage::helper, errno);
  auto& shared = *static_cast<shared_state*>(memory);
  supervisor command(given, shared);
  command.start();
  command.watch();
  command.finish();
  return 0;
}
