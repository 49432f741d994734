// SPDX-License-Identifier: MIT

// paddock-exec-helper: runs one command and makes sure that nothing of it outlives the call.
// Started by the library only (src/exec/protocol/exec_protocol.hpp says how), and small and static
// so that it starts fast.
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

#include "exec/helper/command_process.hpp"
#include "exec/helper/control_group.hpp"
#include "exec/helper/loopback_namespace.hpp"
#include "exec/helper/policy/helper.hpp"
#include "exec/helper/policy/policy.hpp"
#include "exec/helper/policy/text.hpp"
#include "exec/helper/privileges.hpp"
#include "exec/helper/process_tree.hpp"
#include "exec/helper/root/protection.hpp"
#include "exec/helper/root/scratch.hpp"
#include "exec/helper/root/session_mounts.hpp"
#include "exec/helper/root/visible_paths.hpp"
#include "exec/helper/scratch_keeper.hpp"
#include "exec/helper/verify.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
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
#include <cstring>
#include <initializer_list>

using namespace paddock::sys;

namespace paddock::exec {
namespace {

std::int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// Closes everything above the standard streams but what was given to this program.
void close_all_but(const options& given) {
  const int keep[] = {
      given.channel,           given.in,           given.out,           given.err,
      given.directory,         given.workspace,    given.policy,        given.user_namespace,
      given.network_namespace, given.scratch_user, given.scratch_mounts, given.lock};
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

// --- the supervisor -----------------------------------------------------------------------------

class supervisor {
public:
  supervisor(const options& given, const policy& wanted, const visible_paths& visible,
             const places& where, shared_state& shared)
      : given_(given), wanted_(wanted), visible_(visible), where_(where), shared_(shared),
        entries_(wanted) {}

  /// Starts the parent, which starts the command.
  void start() {
    take_scratch();
    enter_network();
    library_ = ::getppid();
    // The channel does not end while another process has a copy of the library's descriptors.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigset_t awaited;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, SIGCHLD);
    ::sigaddset(&awaited, SIGTERM);
    signals_ = ::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ < 0) fail(given_.channel, exec_stage::helper, errno);
    if (wanted_.wants(confine::protected_entries))
      if (const int failed = entries_.share(given_.workspace); failed != 0)
        fail(given_.channel, exec_stage::helper, failed);
    start_parent();
  }

  /// Until the command has ended or everything is to be killed.
  void watch() {
    std::int64_t kill_at = -1;
    while (parent_ != 0) {
      pollfd events[] = {{signals_, POLLIN, 0}, {given_.channel, POLLIN, 0}};
      const std::int64_t left = kill_at < 0 ? -1 : kill_at - monotonic_ms();
      if (kill_at >= 0 && left <= 0) return;
      ::poll(events, 2, static_cast<int>(left));
      if (events[0].revents != 0) {
        drain_signals();
        reap();
      }
      if (::getppid() != library_) return;
      if (events[1].revents == 0) continue;
      exec_stop request{};
      const ssize_t size = ::recv(given_.channel, &request, sizeof request, 0);
      if (size <= 0) return;
      const std::int64_t grace_ms = size == sizeof request ? request.grace_ms : given_.grace_ms;
      const std::int64_t until =
          monotonic_ms() + (grace_ms < sys::grace_ms_max ? grace_ms : sys::grace_ms_max);
      if (kill_at < 0) ask_to_terminate();
      if (kill_at < 0 || until < kill_at) kill_at = until;
    }
  }

  /// Ends whatever is left below this process and reports.
  void finish() {
    const tree_remains remains = namespaced_ ? end_namespace() : end_tree();
    entries_.sweep(given_.workspace, given_.channel);
    if (shared_.scratch[0] != '\0' && !shared_.scratch_lasts) remove_tree(shared_.scratch);
    if (shared_.group[0] != '\0') remove_group(shared_.group);
    const exec_confined confined{exec_event::confined, shared_.taken, entries_.unheld()};
    (void)!::send(given_.channel, &confined, sizeof confined, MSG_NOSIGNAL);
    if (!reported_) report_end(SIGKILL); // it cannot be reaped: killed, and stuck in the kernel
    send_event(given_.channel, exec_event::done, static_cast<int>(remains), leftovers_ ? 1 : 0);
  }

private:
  /// From where this process comes, and not from the user namespace that it goes into.
  void take_scratch() {
    int failed = wanted_.fixed->scratch_errno;
    const bool is_asked = given_.scratch_mounts != 0;
    if (is_asked && wanted_.wants(confine::file_system))
      failed = copy_session(given_, visible_, shared_.session);
    if (is_asked || failed != 0) shared_.taken.set(confine::step::session_scratch, failed);
    for (const int fd : {given_.scratch_user, given_.scratch_mounts})
      if (fd != 0) ::close(fd);
  }

  /// Before any process is started: a change of rights undoes what prctl has set.
  void enter_network() {
    if (given_.network_namespace == 0) {
      if (const int failed = wanted_.fixed->loopback_errno; failed != 0)
        shared_.taken.set(confine::step::loopback, failed);
      return;
    }
    const int failed = enter_loopback(given_);
    shared_.taken.set(confine::step::loopback, failed);
    if (failed == 0) shared_.taken.set(confine::step::network_namespace, 0);
  }

  void start_parent() {
    const auto self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
    const command_setup setup{given_, wanted_, where_, visible_, entries_, shared_, self};
    new_namespaces made;
    parent_ = fork_into_namespaces(wanted_, shared_.taken, made);
    if (parent_ < 0) fail(given_.channel, exec_stage::helper, errno);
    if (parent_ == 0) run_parent(setup, made);
    namespaced_ = (made.flags & CLONE_NEWPID) != 0;
    if (given_.user_namespace != 0) (void)drop_capabilities(); // those it has in there
    ::close(self);
    for (const int mount : shared_.session.mounts)
      if (mount >= 0) ::close(mount);
    for (const int fd : {given_.in, given_.out, given_.err, given_.directory})
      ::close(fd);
  }

  void ask_to_terminate() const {
    if (namespaced_) ::kill(parent_, SIGTERM); // it passes it on
    const pid_t command = namespaced_ ? 0 : shared_.command;
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
      if (!namespaced_ && child == shared_.command &&
          !shared_.ended) { // adopted: its parent is dead
        shared_.status = status;
        shared_.ended = true;
      }
    }
    if (parent_ == 0 && shared_.ended && !reported_) report_end(shared_.status);
    return child == 0 || errno != ECHILD;
  }

  /// The kernel lets the init be waited for when nothing else is left in its namespace.
  tree_remains end_namespace() {
    if (reap() && parent_ != 0) {
      ::kill(parent_, SIGUSR1); // tells the command from what it left behind
      if (!all_gone_within(500)) {
        ::kill(parent_, SIGKILL);
        shared_.killed = true;
        shared_.leftovers = true; // too many to be ended in time
        if (!all_gone_within(tree_end_ms_max)) return tree_remains::unknown;
      }
    }
    leftovers_ = shared_.leftovers;
    return leftovers_ || shared_.killed ? tree_remains::namespace_killed : tree_remains::nothing;
  }

  /// Freezes and kills in rounds until the kernel says that there is no child left. As this process
  /// adopts every orphan below it, that means no descendant either.
  tree_remains end_tree() {
    if (!reap()) return tree_remains::nothing;
    killing_ = true;
    if (end_group_at_once()) return tree_remains::group_killed;
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

  /// What has left the control group, if it could, is for the others to find.
  bool end_group_at_once() {
    if (!shared_.taken.has(confine::step::control_group)) return false;
    leftovers_ = group_has_other_than(shared_.group, parent_, shared_.command);
    return kill_group(shared_.group) && all_gone_within(500);
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
  const policy& wanted_;
  const visible_paths& visible_;
  const places& where_;
  shared_state& shared_;
  protection entries_;
  bool namespaced_ = false; ///< the parent is the init of a PID namespace
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
  unsigned long value = 0;
  if (!read_number(text, value) || *text != '\0' || value > LONG_MAX) return false;
  number = static_cast<long>(value);
  return number >= lowest;
}

bool parse_arguments(int argc, char** argv, options& given) {
  constexpr int descriptors = 12;
  constexpr int needed = 7; // of them; the others may be 0
  if (argc < descriptors + 3) return false;
  long numbers[descriptors + 1];
  for (int i = 0; i <= descriptors; ++i) {
    if (!parse_number(argv[1 + i], i < needed ? 3 : 0, numbers[i])) return false;
    const bool descriptor = i < needed || (i < descriptors && numbers[i] != 0);
    if (descriptor && ::fcntl(static_cast<int>(numbers[i]), F_GETFD) < 0) return false;
  }
  given = {.channel = static_cast<int>(numbers[0]),
           .in = static_cast<int>(numbers[1]),
           .out = static_cast<int>(numbers[2]),
           .err = static_cast<int>(numbers[3]),
           .directory = static_cast<int>(numbers[4]),
           .workspace = static_cast<int>(numbers[5]),
           .policy = static_cast<int>(numbers[6]),
           .user_namespace = static_cast<int>(numbers[7]),
           .network_namespace = static_cast<int>(numbers[8]),
           .scratch_user = static_cast<int>(numbers[9]),
           .scratch_mounts = static_cast<int>(numbers[10]),
           .lock = static_cast<int>(numbers[11]),
           .grace_ms = numbers[12] < sys::grace_ms_max ? numbers[12] : sys::grace_ms_max,
           .argv = argv + descriptors + 2};
  return true;
}

void set_up_process(const options& given) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  const struct sigaction by_default{}; // ignored, it would make dead children vanish unreported
  ::sigaction(SIGCHLD, &by_default, nullptr);
  close_all_but(given);
  // No privileges from set-user-ID files: such a process could not be killed by this one.
  // The command gets streams of its own later.
  const bool ready = open_null_streams() && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                     ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && ::prctl(PR_SET_DUMPABLE, 0) == 0;
  if (!ready) fail(given.channel, exec_stage::helper, errno);
  ::prctl(PR_SET_NAME, "paddock-exec-helper"); // run by a descriptor it has none
  ::setsid();
}

} // namespace

int run_helper(int argc, char** argv) {
  if (argc == 2 + verify_arguments && std::strcmp(argv[1], verify_option) == 0)
    return verify(const_cast<const char**>(argv + 2));
  if (argc == 4 && std::strcmp(argv[1], make_loopback_option) == 0) {
    long channel = 0;
    return parse_number(argv[2], 3, channel) ? make_loopback(static_cast<int>(channel), argv[3])
                                             : 2;
  }
  if (argc == 2 + make_scratch_arguments && std::strcmp(argv[1], make_scratch_option) == 0)
    return make_session(argv + 2);
  options given;
  if (!parse_arguments(argc, argv, given)) {
    constexpr char told[] = "paddock-exec-helper is started by the paddock library, not by hand\n";
    (void)!::write(STDERR_FILENO, told, sizeof told - 1);
    return 2;
  }
  set_up_process(given);
  void* memory = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(given.channel, exec_stage::helper, errno);
  auto& shared = *static_cast<shared_state*>(memory);
  shared.taken.clear();
  shared.session.clear();
  static policy wanted;
  static places where;
  static visible_paths visible;
  if (!map_policy(given.policy, wanted)) fail(given.channel, exec_stage::helper, EINVAL);
  ::close(given.policy);
  find_places(given, where);
  if (wanted.wants(confine::file_system)) {
    visible.collect(wanted, where.workspace, given.argv[0]);
    shared.taken.set(confine::step::paths, visible.unreachable().os_errno);
    shared.taken.unreachable = visible.unreachable().index;
  }
  supervisor command(given, wanted, visible, where, shared);
  command.start();
  command.watch();
  command.finish();
  return 0;
}

} // namespace paddock::exec
