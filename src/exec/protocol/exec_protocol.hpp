// SPDX-License-Identifier: MIT
#pragma once

// What the library and paddock-exec-helper say to each other, over one SOCK_SEQPACKET pair. Both
// are built from this header; the two are installed together and no other version is ever spoken
// to.
//
// The library starts the helper with
//   paddock-exec-helper CHANNEL IN OUT ERR DIRECTORY WORKSPACE POLICY USER NETWORK SCRATCH_USER
//   SCRATCH_MOUNTS GRACE_MS PROGRAM [ARGUMENT]...
// where the first eleven are descriptor numbers above 2, and with the command's environment as its
// own. POLICY is a sealed piece of memory that holds an exec_policy. USER and NETWORK are the
// namespaces that make_loopback_option made, SCRATCH_USER and SCRATCH_MOUNTS those of
// make_scratch_option; 0: there is none. To the helper it sends
// `terminate_request` or an `exec_stop`, which may be repeated with less grace; closing its end
// means "kill everything now". This header is included by a program without the C++ library: no
// std:: beyond <cstdint>.

#include "exec/protocol/enforcement.hpp"

#include <cstdint>

namespace paddock::sys {

enum class exec_event : std::uint32_t {
  started,  ///< first: process ID and process group of the command, before its program runs; 0: it
            ///< is in a PID namespace, and ends with it
  failed,   ///< first: exec_stage, second: errno; the program was never run
  ended,    ///< first: wait status, second: 1 when the command's parent had been killed before
  confined, ///< an exec_confined; before `done`
  appeared, ///< an exec_appeared; before `done`
  done,     ///< first: tree_remains, second: whether other processes were killed
  runs,     ///< the program runs, or has ended already; only where the policy asks for it
  terminal, ///< comes with a descriptor: the library's side of the command's terminal
  strayed,  ///< first: bytes of the workspace's path that lead to where the command has written in
            ///< vain
  settings, ///< comes with one: the command's copy of the entry `first`, which it has changed
  listener, ///< comes with one: where calls of the command wait for an answer; first: whether
            ///< link(2) is among them, second: the command's parent
  scratch,  ///< comes with one, before `listener`: the directory that is the command's scratch
};

enum class exec_stage : std::int32_t {
  helper,
  working_directory,
  confinement, ///< a required layer is missing
  execve,
  interpreter,
  terminal, ///< there is none to be had
};

/// What is left of the process tree when the helper goes.
enum class tree_remains : std::int32_t {
  nothing,          ///< and nothing had to be killed
  nothing_killed,   ///< because it was killed
  namespace_killed, ///< because its PID namespace was
  group_killed,     ///< because its control group was
  unknown,          ///< processes that could not be found, or that the kernel had not ended yet
};

struct exec_message {
  exec_event event;
  std::int32_t first;
  std::int32_t second;
};

struct exec_confined {
  exec_event event;
  confine::enforcement taken;
  std::uint32_t unheld; ///< directories that were found again by their path only
};

enum class appearance : std::uint32_t {
  moved,         ///< or should have been
  uncovered,     ///< not moved: a protected entry was replaced while the command ran
  led_elsewhere, ///< nothing of this: a protected link leads to another thing in the workspace
};

/// What became of one of the policy's protected entries.
struct exec_appeared {
  exec_event event;
  std::uint32_t index;     ///< of the entry
  std::uint32_t bytes;     ///< of its path, to the end of what appeared
  std::int32_t os_errno;   ///< why it could not be moved aside; 0: it was
  std::uint32_t suffix[2]; ///< of its new name, see moved_aside_mark
  appearance how;
};
/// The same where its directory was moved meanwhile; told by its size.
struct exec_appeared_elsewhere {
  exec_appeared what;
  char path[4096]; ///< relative to the workspace, as far as it fits
};
/// Stands between the name of what was moved aside and 16 hexadecimal digits.
inline constexpr char moved_aside_mark[] = ".made-by-command-";
inline constexpr std::uint32_t appeared_events_max = 256;

/// The fixed part of a policy. NUL-terminated strings follow back to back, as many as the counts
/// say, in their order; then the search path, the home directory, a configuration of git and the
/// directory that is the scratch where the command has no root of its own, and nothing else.
struct exec_policy {
  std::uint32_t bytes; ///< of all of it
  std::uint32_t read_paths;
  std::uint32_t write_paths;
  std::uint32_t protected_entries; ///< each begins with an exec_entry
  std::uint8_t wanted[8]; ///< per layer a paddock::demand: 0 off, 1 best effort, 2 required
  std::uint64_t memory_bytes;
  std::uint64_t processes;
  std::uint64_t file_size_bytes;
  std::uint64_t cpu_seconds;
  std::int32_t loopback_errno; ///< why the command gets no loopback, though it is to have one
  std::int32_t scratch_errno;  ///< why it does not share the scratch of a session; 0: or need not
  std::uint32_t cache_paths;   ///< their strings follow those of the write paths
  std::uint8_t attended;       ///< 1: the library wants `runs`
  std::uint8_t settings;       ///< 1: some of the entries are settings
  std::uint8_t traces;         ///< 1: the command may trace its own processes
  std::uint8_t terminal;       ///< 1: the three streams are a terminal, whatever was given
  std::uint8_t answers;        ///< 1: the library answers what waits at the listener
  std::uint8_t links;          ///< 1: it wants to know of link(2)
};

/// What is to be done about a protected entry. Paths are relative to the workspace, but for `path`
/// and for what is to stay `in_place` and begins with a slash. What holds others comes before them.
enum class exec_entry : char {
  hidden_name = 'h',    ///< is to be covered, and must not appear
  hidden_entry = 'c',   ///< is to be covered; it was there
  read_only_name = 'r', ///< is to be read-only, and must not appear
  settings = 's',       ///< a file of which the command has a copy that it can change; it was there
  read_only_link = 'l', ///< the same, and where it leads is noted; it was a link
  appeared = 'a',       ///< a command that still runs has made it: must not be there at the end
  in_place = 'f',       ///< a directory that cannot be moved, if it is there
  repository = 'g',     ///< a directory that cannot be moved; it was there
  path = 'p',           ///< an absolute path, to be read-only where the command could change it
};
/// Where a command finds its copies of settings, by the number of the entry, each as `config`.
inline constexpr char settings_directory[] = "/run/git-settings";
inline constexpr unsigned long settings_bytes_max = 256UL * 1024;
inline constexpr std::uint32_t exec_policy_bytes_max = 4U * 1024 * 1024;

/// Run as a confined command with this and `verify_arguments` more, the helper tries to escape
/// (src/exec/helper/verify.hpp).
inline constexpr char verify_option[] = "--verify";
inline constexpr int verify_arguments = 10;
/// Device and inode numbers are told by their remainder: a number has eighteen digits at most.
inline constexpr unsigned long verify_modulus = 1'000'000'000'000'000'000;

/// Run with this and the number of a channel, the helper makes a network namespace that has a
/// loopback interface and nothing else, in a user namespace of its own where that is the only way.
/// It answers with a loopback_answer for each, which carries the descriptor, and ends. After the
/// number come ports between commas, or an empty argument: with ports the namespace answers for
/// every address, and sockets listen there and for questions for names.
inline constexpr char make_loopback_option[] = "--make-loopback";
enum class loopback_part : std::int32_t {
  none,
  user,     ///< the namespace that the next one belongs to; not everybody needs one
  listener, ///< a socket
  network,  ///< comes last
};
struct loopback_answer {
  std::int32_t os_errno; ///< why there is none
  loopback_part part;
};

/// Run with this, the number of a channel and those of a workspace and a policy, the helper makes
/// scratch directories for the commands with that policy: in a mount namespace that has nothing
/// else or, where it cannot be had, as a directory that it keeps and removes when the channel ends.
/// It answers with a scratch_answer for each part; those of a namespace carry a descriptor.
inline constexpr char make_scratch_option[] = "--make-scratch";
inline constexpr int make_scratch_arguments = 3;
enum class scratch_part : std::int32_t {
  none,
  user,      ///< the namespace that the next one belongs to; not everybody needs one
  mounts,    ///< comes last
  directory, ///< or this, and the helper goes on running
};
struct scratch_answer {
  std::int32_t os_errno; ///< why there is none
  scratch_part part;
  char directory[64];
};

/// SIGTERM now, SIGKILL after the grace that the helper was started with.
inline constexpr char terminate_request = 't';
/// The same after another grace; told by its size.
struct exec_stop {
  std::int64_t grace_ms; ///< not negative
};

/// What a program in a terminal is told of its size.
inline constexpr unsigned short terminal_rows = 40;
inline constexpr unsigned short terminal_columns = 120;

/// A longer grace is as long as this: some days, which can be added to the time and waited for.
inline constexpr std::int64_t grace_ms_max = 1'000'000'000;
/// How long the helper tries to end the tree before it reports `unknown`.
inline constexpr std::int64_t tree_end_ms_max = 10'000;

} // namespace paddock::sys
