// SPDX-License-Identifier: MIT
#pragma once

/// Run a program: argument vector (never a shell), working directory by descriptor, environment
/// given whole, both output streams captured with head and tail, a deadline on the monotonic clock,
/// and the whole process tree ended when the call ends.
///
/// A small helper program supervises each command. It adopts daemons that leave the command's
/// process group and ends them too: when the command exits, at the deadline, on cancellation, and
/// also when this process is killed with SIGKILL. The command's standard input is /dev/null or what
/// is read for it, it leads a session of its own, it cannot gain privileges from set-user-ID files,
/// and it never sees a descriptor of this process.
///
/// What the command may read, write and connect to is the business of confinement.hpp; by default
/// it is confined to its workspace.
///
/// Not guaranteed where the `kill` layer is off or missing: a command that runs with the same user
/// ID and sets out to find and kill both processes of the helper leaves daemons behind; the outcome
/// then says that the supervisor was killed.
///
/// Thread-safety: `run` may be called from any number of threads at once. The calling process is
/// never forked (its memory is not copied), so its size does not matter.

#include <paddock/base/cancellation.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/exec/network_event.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

enum class output_stream : std::uint8_t { out, err };

/// What becomes of the bytes of one output stream. They are counted and handed to `on_output`
/// either way.
enum class capture : std::uint8_t { keep, discard };

enum class output_streams : std::uint8_t {
  apart,    ///< each is a pipe of its own
  together, ///< one pipe, so that all is in the order written; it counts as `out`
};

struct command {
  /// Not empty. argv[0] without a slash is looked up in the PATH of `environment`, whose empty and
  /// relative entries are skipped; with a slash it is relative to the working directory.
  std::vector<std::string> argv{};
  /// "NAME=value", complete: nothing is inherited. environment.hpp builds it.
  std::vector<std::string> environment{};
  /// A directory descriptor (O_PATH will do), borrowed for the call.
  int working_directory = -1;

  /// What the command may touch, and what happens where that cannot be enforced.
  confinement_policy confinement{};
  /// The directory that the command may change (O_PATH will do), borrowed for the call; -1: the
  /// working directory. The working directory has to be in it or in another path that the policy
  /// names.
  int workspace = -1;
  /// Read once the program runs, and passed to it through a pipe; borrowed.
  /// What the command does not take is lost. A terminal is read only while this process is in its
  /// foreground. -1: the input is /dev/null. For `run` alone.
  int input = -1;

  /// From the call to SIGTERM; positive.
  std::int64_t timeout_ms = static_cast<std::int64_t>(limits{}.exec_timeout_ms);
  /// From SIGTERM (deadline or cancellation) to SIGKILL; not negative.
  std::int64_t kill_grace_ms = static_cast<std::int64_t>(limits{}.exec_kill_grace_ms);
  /// Kept of each stream: the first and the last half. More is counted and dropped, so the command
  /// never waits.
  std::uint64_t output_bytes_max = limits{}.exec_output_bytes_max;
  capture out = capture::keep;
  capture err = capture::keep;
  output_streams streams = output_streams::apart;

  /// An absolute directory that the command cannot reach and only this user's programs use. A note
  /// there says what to look for in the workspace when the command has ended: if this process is
  /// killed before, the next command looks, or end_killed_commands; and it shows what commands of
  /// other processes make meanwhile. Empty, or if it cannot be used: neither happens.
  std::string state_directory{};

  /// A file with a lock of flock(2) that is to last until everything of the command has ended, also
  /// if this process is killed before; borrowed, above 2. The command does not get it. -1: none.
  int lock = -1;

  /// Fill in command_outcome::made_no_links. Each call of link(2) then waits some microseconds for
  /// the thread that runs the command.
  bool watches_links = false;

  /// The helper program; empty: what find_command_helper returns. See load_command_helper.
  std::string helper{};
  /// Called with each piece of output as it arrives, on the thread that runs the command, before
  /// anything is dropped. It must not throw; while it works the command may have to wait for room
  /// in the pipe.
  std::function<void(output_stream, std::string_view)> on_output{};
  /// Called at least a few times a second while the command runs, on the same thread. It must not
  /// throw.
  std::function<void()> on_tick{};
};

/// One stream of a command that has ended.
struct captured_output {
  std::string head;        ///< everything, unless truncated
  std::string tail;        ///< the end of the stream; empty unless truncated
  std::uint64_t total = 0; ///< bytes written by the command, kept or not
  bool truncated = false;  ///< bytes between head and tail were dropped

  /// head, a line saying how many bytes were left out, tail. UTF-8 sequences cut in two by the
  /// omission are left out as well. Not truncated: head as it is.
  [[nodiscard]] std::string text() const { return text(static_cast<std::size_t>(-1)); }
  /// The same with at most `bytes_max` bytes of output kept, half of it from each end.
  [[nodiscard]] std::string text(std::size_t bytes_max) const;
};

/// Why the command is over.
enum class ending : std::uint8_t {
  exited,    ///< by itself, with `exit_code`
  signalled, ///< by `signal`, which the call did not send
  timed_out, ///< the deadline passed first
  cancelled, ///< cancellation was requested first
};

/// How the rest of the process tree was ended, strongest first.
enum class tree_kill : std::uint8_t {
  not_needed,    ///< nothing was left when the command had ended
  pid_namespace, ///< the kernel killed everything at once; none is left
  control_group, ///< the kernel killed everything at once, outside of a PID namespace; none is left
  subreaper,     ///< every descendant was found, frozen and killed; none is left
  /// The command's process group was killed, but it is not known that nothing is left: the
  /// supervisor was killed, /proc is missing, or the kernel had not ended a process after ten
  /// seconds.
  process_group,
};

/// A protected entry that was not there when the command started and was when it had ended: made by
/// the command, or by somebody else meanwhile.
struct appeared_entry {
  std::string path;     ///< relative to the workspace
  std::string moved_to; ///< where it is now; empty: it could not be moved
  int os_errno = 0;     ///< why not
  protected_name rule;  ///< that it appeared under; one of the policy, or named git_own_name
};

/// What happened to it and what a person can do, as a sentence without a full stop.
[[nodiscard]] std::string describe(const appeared_entry& entry);

/// Moves aside what commands have left under protected names, in repositories that they made, whose
/// process was killed: for the start of a program. Of what was born since, nothing.
[[nodiscard]] std::vector<appeared_entry> end_killed_commands(int workspace,
                                                              const confinement_policy& policy,
                                                              const std::string& state_directory);

/// To be called after moves that no command made. If one of `places` (resolved; "" is the whole
/// workspace) is anything but a regular file, moves aside the files of git that now lead a person's
/// git out of the workspace, as the end of a command does. Appends a clause on each to `said`.
void end_moves(int workspace, const std::vector<std::string>& places, std::string& said,
               const confinement_policy& policy = {});

struct command_outcome {
  ending ended = ending::exited;
  std::optional<int> exit_code; ///< 0-255; also set when a command ended this way after SIGTERM
  std::optional<int> signal;    ///< also set after the deadline or a cancellation
  captured_output out;
  captured_output err;
  std::int64_t duration_ms = 0; ///< from the call until the tree was gone
  tree_kill kill = tree_kill::not_needed;
  /// Processes other than the command itself were still running and were killed.
  bool leftovers_killed = false;
  /// The command, or somebody else, killed the helper or a part of it. What was found was killed;
  /// `kill` says whether that was everything.
  bool supervisor_killed = false;
  /// Nothing is lost: what appeared under a protected name has another name now.
  std::vector<appeared_entry> moved_aside;
  /// The workspace has more directories than are looked at: in those left out, a repository that
  /// the command made may have settings and hooks by which git runs a program.
  bool repositories_unseen = false;
  /// Another process did not end its look at repositories, perhaps because it is stopped: in those
  /// that both have to do with, settings and hooks of the command may be left.
  bool repositories_contested = false;
  /// Protected entries that somebody replaced while the command ran: until the new ones were
  /// protected, nothing kept the command from them.
  std::vector<std::string> uncovered;
  /// Protected links that lead to another thing in the workspace than before the command.
  std::vector<std::string> led_elsewhere;
  /// A directory above the workspace in which the command has made or removed something, and which
  /// is a real one to nobody but commands: it is gone with their scratch. Empty: none.
  std::string strayed;
  /// What the command has written to a `.git/config` and was not carried over, and why: sentences
  /// without a full stop.
  std::vector<std::string> unsaved_settings;
  /// Repositories in the workspace that somebody removed meanwhile, but for what is protected in
  /// them.
  std::vector<std::string> emptied;
  /// With network_reach::hosts: its connections and refusals, the last 2,000, and those of
  /// concurrent commands in this workspace.
  std::vector<network_event> network;
  confinement_report confinement; ///< what was enforced, and what was not
  /// Nothing of the command has called link(2). False also where nobody knows: without
  /// command::watches_links, without a filter of system calls, before Linux 5.7, and where another
  /// program listens at a filter of this process.
  bool made_no_links = false;
  /// Paths in the workspace that were read-only for the command, if they existed when it began.
  /// Empty if that was not enforced.
  std::vector<std::string> read_only;
};

/// What the fence had to do about protected names, or could not, in sentences without a full stop,
/// with names as encode_name writes them; nearly always none.
[[nodiscard]] std::vector<std::string> notices_of(const command_outcome& outcome);

/// Why a command was not started, and what became of each layer of its confinement until then.
struct command_error : error {
  confinement_report confinement;

  command_error(const error& reason) noexcept : error(reason) {}
  command_error(const error& reason, confinement_report met) noexcept
      : error(reason), confinement(std::move(met)) {}
};
/// For people: where the helper was looked for, which layers are missing and what helps, or what
/// the code says and the step that failed.
[[nodiscard]] std::string explain(const command_error& e);

/// Runs a command and waits until it and everything it started is gone. A command that ran is an
/// outcome, whatever it did; an error means that it was never started.
///
/// Errors, by what `error.operation` says was at fault:
/// - "argv": invalid_argument (empty, or a NUL byte inside)
/// - "environment": invalid_argument (no '=' after a name, or a NUL byte inside)
/// - "timeout": invalid_argument (not positive, or a negative grace)
/// - "working_directory": invalid_argument (no descriptor), not_a_directory, permission_denied,
///   not_found (deleted)
/// - "execve": not_found (no such program), permission_denied (not executable, or a directory),
///   not_a_directory, unsupported_type (neither a binary for this machine nor a script with "#!";
///   no shell is asked), too_large (arguments and environment), conflict (open for writing)
/// - "interpreter": not_found (what the script's "#!" line names, or the binary's loader)
/// - "helper": unsupported (the helper program is missing or does not work), too_many
/// - "confinement": confinement_unavailable (a required layer cannot be had); the error's
///   `confinement` says which and why
/// - "policy": invalid_argument (a path that is not absolute, a protected name that is none)
/// - "workspace": conflict (protected entries kept changing their places)
/// - "cancellation": cancelled (requested before the start), too_many
/// - otherwise the system call that failed: too_many, io.
[[nodiscard]] result<command_outcome, command_error> run(const command& command,
                                                         const cancellation* cancel = nullptr);

/// The helper program that commands use unless they name another: beside the running executable, in
/// ../libexec/paddock next to its directory, or where it was installed. Errors: unsupported, with
/// the operation "helper".
[[nodiscard]] result<std::string> find_command_helper();

/// What a person should read when find_command_helper fails: where it looked, and how to place the
/// helper. Empty when it is found.
[[nodiscard]] std::string missing_helper_text();

/// How a process holds a helper program that it has loaded.
enum class helper_form : std::uint8_t {
  sealed, ///< a copy in memory, which nobody can change
  opened, ///< the file, open: another one in its place changes nothing, but a write into it does.
          ///< Where memory may not be run (vm.memfd_noexec) or the file not be read
};

struct loaded_helper {
  std::string path;
  helper_form form = helper_form::sealed;
};

/// Loads a helper program, as the first command that names it would; empty: what
/// find_command_helper returns. From then on until the end of this process what lies at its path
/// makes no difference. A server calls it before it serves anybody. Errors: unsupported (not there,
/// not a program), with the operation "helper"; too_many.
[[nodiscard]] result<loaded_helper> load_command_helper(const std::string& helper = {});

/// The first of this process's own programs (its executable, the helper) that lies in a directory
/// or is the file of that path; empty: none. What commands may change there is run again at the
/// next start.
[[nodiscard]] std::string own_program_in(const std::string& directory,
                                         const std::string& helper = {});

} // namespace paddock
