// SPDX-License-Identifier: MIT
#include "exec/helper/command_process.hpp"

#include "exec/helper/command_rights.hpp"
#include "exec/helper/command_scratch.hpp"
#include "exec/helper/control_group.hpp"
#include "exec/helper/locked_mounts.hpp"
#include "exec/helper/policy/text.hpp"
#include "exec/helper/program.hpp"
#include "exec/helper/root/private_root.hpp"
#include "exec/helper/root/proc.hpp"
#include "exec/helper/stray_writes.hpp"
#include "exec/helper/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

using namespace paddock::sys;

namespace paddock::exec {
namespace {

using confine::step;

bool same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void name_of(int fd, char (&name)[PATH_MAX], struct stat& status) {
  name[0] = '\0';
  if (::fstat(fd, &status) != 0 || status.st_nlink == 0) return;
  (void)name_of_descriptor(fd, name, sizeof name);
}

// --- the command --------------------------------------------------------------------------------

/// 64 on every architecture that is supported; the C library keeps two of them for itself.
constexpr int signal_max = 64;

void restore_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number <= signal_max; ++number)
    if (number != SIGKILL && number != SIGSTOP) ::sigaction(number, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// In a mount namespace of its own the descriptor would lead past what is mounted there.
void enter_directory(const command_setup& setup, const new_namespaces& made) {
  const int channel = setup.given.channel;
  if ((made.flags & CLONE_NEWNS) == 0) {
    if (::fchdir(setup.given.directory) != 0) fail(channel, exec_stage::working_directory, errno);
    return;
  }
  struct stat here{};
  if (::chdir(setup.where.directory) != 0) fail(channel, exec_stage::working_directory, errno);
  if (::stat(".", &here) != 0 || !same(here, setup.where.directory_status))
    fail(channel, exec_stage::working_directory, ENOENT);
}

/// Now that nothing needs to be written there.
void seal_own_proc(const command_setup& setup, const new_namespaces& made) {
  if ((made.flags & CLONE_NEWNS) == 0) return;
  const bool in_own_root = setup.shared.taken.has(step::private_root);
  if (!in_own_root && !setup.shared.taken.has(step::pid_namespace)) return;
  const int failed = setup.shared.has_foreign_proc ? leave_only_tables() : seal_proc();
  if (failed != 0 && in_own_root)
    fail(setup.given.channel, exec_stage::confinement, failed);
}

/// `link` ends when the program runs; -1: nobody waits for that.
[[noreturn]] void run_command(const command_setup& setup, const new_namespaces& made, pid_t parent,
                              int link) {
  const options& given = setup.given;
  const pid_t self = ::setsid();
  setup.shared.command = self;
  const bool in_pid_namespace = (made.flags & CLONE_NEWPID) != 0;
  send_event(given.channel, exec_event::started, in_pid_namespace ? 0 : self, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  if (setup.wanted.fixed->terminal != 0)
    if (const int failed = take_terminal(given.in); failed != 0)
      fail(given.channel, exec_stage::terminal, failed);

  enter_directory(setup, made);
  point_to_scratch(setup.shared);
  const bool streams = ::dup2(given.in, STDIN_FILENO) >= 0 &&
                       ::dup2(given.out, STDOUT_FILENO) >= 0 &&
                       ::dup2(given.err, STDERR_FILENO) >= 0;
  if (!streams) fail(given.channel, exec_stage::helper, errno);
  const int itself = open_if_itself(given.argv[0]); // the name is gone when /proc is
  seal_own_proc(setup, made);
  give_up_rights(setup);
  check_required(setup);
  restore_signals();
  run_program({given.channel, link, itself}, given.argv);
}

// --- its parent ---------------------------------------------------------------------------------

void note_namespaces(const command_setup& setup, const new_namespaces& made) {
  const auto note = [&](confine::layer layer, step step, int flag) {
    if (setup.wanted.wants(layer))
      setup.shared.taken.set(step, (made.flags & flag) != 0 ? 0 : made.os_errno);
  };
  if (made.tried != 0)
    setup.shared.taken.set(step::namespaces, made.flags != 0 ? 0 : made.os_errno);
  note(confine::kill, step::pid_namespace, CLONE_NEWPID);
  if ((made.tried & CLONE_NEWNET) != 0)
    note(confine::network, step::network_namespace, CLONE_NEWNET);
  note(confine::ipc, step::ipc_namespace, CLONE_NEWIPC);
  note(confine::file_system, step::private_root, CLONE_NEWNS);
  note(confine::protected_entries, step::masks, CLONE_NEWNS);
}

/// Copies of everything first; then there is no way back. What covers protected names, or -1.
int set_up_root(const command_setup& setup) {
  confine::enforcement& taken = setup.shared.taken;
  const bool hides_processes =
      taken.has(step::pid_namespace) && setup.wanted.wants(confine::privileges);
  private_root root(setup.visible, setup.wanted.git_configuration, setup.shared.session,
                    setup.wanted.fixed->settings != 0,
                    hides_processes ? old_proc::allowed : old_proc::refused);
  const bool named = setup.where.workspace[0] != '\0' && setup.where.workspace[1] != '\0';
  const int failed = named ? root.prepare() : ENOTSUP;
  taken.set(step::private_root, failed);
  if (failed != 0) return -1;
  if (const int lost = root.enter(); lost != 0) {
    taken.set(step::private_root, lost);
    fail(setup.given.channel, exec_stage::confinement, lost);
  }
  setup.shared.has_foreign_proc = root.has_foreign_proc();
  struct stat found{};
  if (::stat(setup.where.workspace, &found) != 0 || !same(found, setup.where.workspace_status))
    fail(setup.given.channel, exec_stage::working_directory, ESTALE);
  return root.cover();
}

void set_up_mounts(const command_setup& setup) {
  confine::enforcement& taken = setup.shared.taken;
  if (const int failed = isolate_mounts(); failed != 0) {
    if (setup.wanted.wants(confine::file_system)) taken.set(step::private_root, failed);
    if (setup.wanted.wants(confine::protected_entries)) taken.set(step::masks, failed);
    return;
  }
  const int cover = setup.wanted.wants(confine::file_system) ? set_up_root(setup) : -1;
  if (!taken.has(step::private_root) && taken.has(step::pid_namespace)) (void)mount_proc();
  if (setup.wanted.wants(confine::protected_entries))
    taken.set(step::masks, setup.entries.hold(setup.where.workspace, setup.visible, cover));
  // Somebody has moved what was to be protected: the library looks again and tries once more.
  if (!taken.has(step::masks) && taken.results[static_cast<unsigned>(step::masks)] == ESTALE)
    fail(setup.given.channel, exec_stage::confinement, ESTALE);
}

/// While the control groups of this machine can still be reached.
void bound_tree(const command_setup& setup) {
  const sys::exec_policy& asked = *setup.wanted.fixed;
  if (!setup.wanted.wants(confine::limits) || (asked.memory_bytes == 0 && asked.processes == 0))
    return;
  const group_bounds bounds{asked.memory_bytes, asked.processes};
  setup.shared.taken.set(step::tree_bounds, enter_bounded_group(setup.shared.group, bounds));
}

/// Only the supervisor is outside the namespace, where processes have no number in here.
bool is_from_outside(const siginfo_t& signal) {
  return signal.si_code == SI_USER && signal.si_pid == 0;
}

void collect(shared_state& shared, pid_t command) {
  int status = 0;
  for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (child != command) continue;
    shared.status = status;
    shared.ended = true;
  }
}

/// The init of a PID namespace: whatever loses its parent in there becomes its child. When it ends
/// the kernel kills everything that is left.
[[noreturn]] void be_init(const command_setup& setup, pid_t command, const stray_writes& strays) {
  shared_state& shared = setup.shared;
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (const int number : {SIGCHLD, SIGTERM, SIGUSR1, SIGIO})
    ::sigaddset(&awaited, number);
  while (!shared.ended) {
    siginfo_t signal{};
    const int number = ::sigtimedwait(&awaited, &signal, nullptr);
    if (number == SIGIO) setup.entries.hold_again();
    if (number == SIGTERM && is_from_outside(signal)) {
      ::kill(-command, SIGTERM);
      ::kill(-command, SIGCONT); // a stopped process takes the other one only when it goes on
    }
    if (number == SIGUSR1 && is_from_outside(signal)) {
      shared.killed = true;
      ::kill(command, SIGKILL);
    }
    collect(shared, command);
  }
  setup.entries.hand_over(setup.given.channel);
  if (const auto bytes = strays.found(); bytes != 0)
    send_event(setup.given.channel, exec_event::strayed, static_cast<int>(bytes), 0);
  // What was signalled together with the command is not left over: let it end.
  const timespec pause{0, 2'000'000};
  for (int attempt = 0; attempt < 10 && ::kill(-1, 0) == 0; ++attempt) {
    if (::sigtimedwait(&awaited, nullptr, &pause) == SIGIO) setup.entries.hold_again();
    collect(shared, command);
  }
  shared.leftovers = ::kill(-1, 0) == 0;
  ::_exit(0);
}

[[noreturn]] void be_parent(const command_setup& setup, pid_t command) {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (const int number : {SIGCHLD, SIGIO})
    ::sigaddset(&awaited, number);
  while (!setup.shared.ended) {
    if (::sigtimedwait(&awaited, nullptr, nullptr) == SIGIO) setup.entries.hold_again();
    collect(setup.shared, command);
  }
  setup.entries.hand_over(setup.given.channel);
  ::_exit(0);
}

/// What the command holds until its program runs, and what its parent waits at.
struct program_link {
  int command_side = -1;
  int parent_side = -1;
};

program_link open_link(const command_setup& setup) {
  int ends[2];
  if (setup.wanted.fixed->attended == 0) return {};
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(setup.given.channel, exec_stage::helper, errno);
  return {.command_side = ends[1], .parent_side = ends[0]};
}

/// Returns when the program runs, or the command is dead.
void wait_for_program(const program_link& link) {
  char none = 0;
  ::close(link.command_side);
  while (::read(link.parent_side, &none, 1) < 0 && errno == EINTR) {
  }
  ::close(link.parent_side);
}

/// Locks the mounts where something is covered by them.
pid_t fork_command(const command_setup& setup) {
  if (!setup.shared.taken.has(step::masks)) return ::fork();
  int failed = 0;
  const pid_t command = fork_with_locked_mounts(failed);
  setup.shared.taken.set(step::locked_masks, failed);
  return command;
}

/// The same with a terminal for its streams, where one is asked for.
options with_terminal(const command_setup& setup) {
  options given = setup.given;
  if (setup.wanted.fixed->terminal == 0) return given;
  const terminal made = open_terminal(given.channel);
  if (made.os_errno != 0) fail(given.channel, exec_stage::terminal, made.os_errno);
  for (const int fd : {given.in, given.out, given.err})
    ::close(fd);
  given.in = given.out = given.err = made.command_side;
  return given;
}

bool has_ended(int pidfd) {
  pollfd event{pidfd, POLLIN, 0};
  return ::poll(&event, 1, 0) > 0;
}

} // namespace

void find_places(const options& given, places& found) {
  name_of(given.workspace, found.workspace, found.workspace_status);
  name_of(given.directory, found.directory, found.directory_status);
}

void run_parent(const command_setup& asked, const new_namespaces& made) {
  command_setup setup = asked;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (has_ended(setup.supervisor)) ::_exit(1);
  setup.entries.release();
  note_namespaces(setup, made);
  bound_tree(setup);
  const bool own_mounts = (made.flags & CLONE_NEWNS) != 0;
  if (own_mounts) set_up_mounts(setup);
  setup.given = with_terminal(setup);
  const options& given = setup.given;
  make_scratch(setup.wanted, setup.shared);
  const bool in_pid_namespace = (made.flags & CLONE_NEWPID) != 0;
  if (!in_pid_namespace && setup.wanted.wants(confine::kill)) {
    const bool has_group = setup.shared.taken.has(step::tree_bounds);
    setup.shared.taken.set(step::control_group,
                           has_group ? 0 : enter_new_group(setup.shared.group));
  }

  const bool has_own_root = setup.shared.taken.has(step::private_root);
  const stray_writes strays(setup.visible, has_own_root ? setup.where.workspace : "/");
  const pid_t self = ::getpid();
  const program_link link = open_link(setup);
  ::prctl(PR_SET_DUMPABLE, 0); // again: a change of rights may have undone it
  const pid_t command = fork_command(setup);
  if (command < 0) fail(given.channel, exec_stage::helper, errno);
  if (command == 0) run_command(setup, made, self, link.command_side);
  if (link.parent_side >= 0) {
    wait_for_program(link);
    send_event(given.channel, exec_event::runs, 0, 0);
  }
  for (const int fd : {given.in, given.out, given.err, given.directory, given.workspace})
    ::close(fd);
  if (in_pid_namespace) be_init(setup, command, strays);
  be_parent(setup, command);
}

} // namespace paddock::exec
