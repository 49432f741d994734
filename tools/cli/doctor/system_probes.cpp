// SPDX-License-Identifier: MIT
#include "system_probes.hpp"

#include "common/history_cli.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/mcp/workspace_tools.hpp>

#include <gsl/util>

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace paddock::cli {
namespace {

std::string words_of(int os_errno) {
  return std::generic_category().message(os_errno);
}

/// What a system call that should succeed returned.
finding from_call(long returned) {
  if (returned >= 0) return {.found = true, .detail = {}};
  return {.found = false, .detail = words_of(errno)};
}

finding from_descriptor(long fd) {
  const finding found = from_call(fd);
  if (fd >= 0) ::close(static_cast<int>(fd));
  return found;
}

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream in(path);
  std::getline(in, line);
  return line;
}

/// Runs `f`, which enters a namespace, in a child process; what it returns is an errno, 0 for
/// success.
finding in_child(int (*f)()) {
  const pid_t child = ::fork();
  if (child < 0) return from_call(child);
  if (child == 0) ::_exit(f());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status)) return {.found = false, .detail = "the trial ended abnormally"};
  if (WEXITSTATUS(status) == 0) return {.found = true, .detail = {}};
  if (WEXITSTATUS(status) == ENOSPC) // nothing to do with a disk
    return {.found = false, .detail = "no more of them are allowed (sysctl user.max_*_namespaces)"};
  return {.found = false, .detail = words_of(WEXITSTATUS(status))};
}

// --- paths and files -----------------------------------------------------------------------------

finding look_openat2(const std::string&) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  const long root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const auto close_root = gsl::finally([&] { ::close(static_cast<int>(root)); });
  return from_descriptor(::syscall(SYS_openat2, root, ".", &how, sizeof how));
}

finding look_statx(const std::string&) {
  constexpr unsigned mount_id = 0x1000; // STATX_MNT_ID
  struct statx status{};
  finding found = from_call(::statx(AT_FDCWD, "/", 0, mount_id, &status));
  found.found = found.found && (status.stx_mask & mount_id) != 0;
  return found;
}

finding look_rename(const std::string& workspace) {
  std::string directory = workspace + "/.paddock-doctor-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr)
    return {.found = false, .detail = "not tried in " + workspace + ": " + words_of(errno)};
  const std::string from = directory + "/from";
  const std::string to = directory + "/to";
  const auto clean = gsl::finally([&] {
    ::rmdir(from.c_str());
    ::rmdir(to.c_str());
    ::rmdir(directory.c_str());
  });
  if (::mkdir(from.c_str(), 0700) != 0 || ::mkdir(to.c_str(), 0700) != 0) return from_call(-1);
  constexpr unsigned no_replace = 1; // RENAME_NOREPLACE
  const auto rename = [&] {
    return ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), no_replace);
  };
  if (rename() == 0) return {.found = false, .detail = "an existing entry was replaced"};
  if (errno != EEXIST) return from_call(-1);
  ::rmdir(to.c_str());
  return from_call(rename());
}

finding look_proc(const std::string&) {
  struct statfs system{};
  finding found = from_call(::statfs("/proc", &system));
  found.found = found.found && system.f_type == PROC_SUPER_MAGIC;
  return found;
}

finding protection(const char* name) {
  const std::string value = first_line(std::string("/proc/sys/fs/") + name);
  return {.found = !value.empty() && value != "0",
          .detail = value.empty() ? "unknown" : "fs." + std::string(name) + " = " + value};
}

finding look_hardlinks(const std::string&) {
  return protection("protected_hardlinks");
}
finding look_symlinks(const std::string&) {
  return protection("protected_symlinks");
}

// --- commands ------------------------------------------------------------------------------------

finding look_helper(const std::string&) {
  const auto path = find_command_helper();
  if (!path) return {.found = false, .detail = missing_helper_text()};
  const int directory = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const auto close_directory = gsl::finally([&] { ::close(directory); });
  // Whether it runs at all: confined, it would protect every repository and hidden entry that is
  // found on this system, and fail where others move them at that moment.
  const auto outcome = run({.argv = {"true"},
                            .environment = {"PATH=/usr/bin:/bin"},
                            .working_directory = directory,
                            .confinement = confinement_policy::host()});
  if (!outcome)
    return {.found = false, .detail = *path + ": " + std::string(text(outcome.error().code))};
  return {.found = true, .detail = *path};
}

finding look_close_range(const std::string&) {
  return from_call(::syscall(SYS_close_range, ~0U, ~0U, 0U));
}

finding look_pidfd(const std::string&) {
  return from_descriptor(::syscall(SYS_pidfd_open, ::getpid(), 0U));
}

finding look_subreaper(const std::string&) {
  int value = 0;
  return from_call(::prctl(PR_GET_CHILD_SUBREAPER, &value));
}

/// Below the group of this process in the unified hierarchy, which may be mounted beside others.
finding look_cgroup(const std::string&) {
  std::ifstream in("/proc/self/cgroup");
  finding found{.found = false, .detail = "no unified hierarchy"};
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("0::")) continue;
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      const std::string parent = mount + line.substr(3);
      std::string group = parent + (parent.back() == '/' ? "" : "/") + "paddock-doctor-XXXXXX";
      struct statfs system{};
      if (::statfs(parent.c_str(), &system) != 0 || system.f_type != CGROUP2_SUPER_MAGIC) continue;
      if (::mkdtemp(group.data()) == nullptr) return from_call(-1);
      found = from_call(::access((group + "/cgroup.kill").c_str(), W_OK));
      found.detail = found.found ? parent : "cgroup.kill: " + found.detail;
      ::rmdir(group.c_str());
      return found;
    }
  }
  return found;
}

// --- confinement ---------------------------------------------------------------------------------

finding look_landlock(const std::string&) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  finding found = from_call(version);
  if (found.found) found.detail = "ABI " + std::to_string(version);
  return found;
}

finding look_seccomp(const std::string&) {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return from_call(::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0U, &action));
}

int enter_user_namespace() {
  const std::string user = std::to_string(::geteuid());
  const std::string map = user + " " + user + " 1"; // as the helper does
  if (::unshare(CLONE_NEWUSER) != 0) return errno;
  const int fd = ::open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  return ::write(fd, map.data(), map.size()) < 0 ? errno : 0;
}

finding look_user_namespace(const std::string&) {
  return in_child(enter_user_namespace);
}

/// With a user namespace, of use, where that is needed; the first process inside has to be
/// number 1.
int enter_pid_namespace() {
  if (::unshare(CLONE_NEWPID) != 0) {
    if (const int failed = enter_user_namespace(); failed != 0) return failed;
    if (::unshare(CLONE_NEWPID) != 0) return errno;
  }
  const pid_t first = ::fork();
  if (first < 0) return errno;
  if (first == 0) ::_exit(::getpid() == 1 ? 0 : ESRCH);
  int status = 0;
  if (::waitpid(first, &status, 0) < 0) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : ESRCH;
}

finding look_pid_namespace(const std::string&) {
  return in_child(enter_pid_namespace);
}

/// With arguments that it refuses where it is there.
finding look_mount_setattr(const std::string&) {
  const bool known = ::syscall(SYS_mount_setattr, -1, "", 0U, nullptr, 0UL) == 0 || errno != ENOSYS;
  return {.found = known, .detail = known ? "" : words_of(ENOSYS)};
}

// --- history -------------------------------------------------------------------------------------

/// Whether what an agent changes can be kept where it is kept by default.
finding look_history(const std::string& workspace) {
  const std::filesystem::path place = default_history_directory();
  if (place.empty()) return {.found = false, .detail = "HOME is not set"};
  std::error_code failed;
  const auto real = std::filesystem::weakly_canonical(place, failed);
  const auto within = std::filesystem::weakly_canonical(workspace, failed);
  if (failed) return {.found = false, .detail = failed.message()};
  if (std::ranges::mismatch(real, within).in2 == within.end())
    return {.found = false, .detail = place.string() + " lies in the workspace"};
  auto there = real;
  while (!std::filesystem::exists(there, failed) && there.has_relative_path())
    there = there.parent_path();
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    return {.found = false, .detail = there.string() + ": " + words_of(errno)};
  return {.found = true, .detail = place.string()};
}

constexpr std::array table{
    probe{"openat2", "the kernel resolves a whole path beneath the workspace in one call",
          "paths are walked one component at a time: as safe, but slower", need::optional,
          look_openat2},
    probe{"statx mount ids", "mounts inside the workspace are told apart",
          "bind mounts of the same file system are not recognised as mounts", need::optional,
          look_statx},
    probe{"renameat2 NOREPLACE", "moveFile never overwrites, whatever happens at the same time",
          "files are moved by a hard link and directories cannot be moved safely", need::optional,
          look_rename},
    probe{"/proc", "an open file is opened again for reading or writing",
          "files cannot be read or written safely", need::required, look_proc},
    probe{"protected hard links", "users cannot link to files of others that they cannot write",
          "other users may place hard links to foreign files in a workspace they can write; sysctl "
          "fs.protected_hardlinks=1 forbids it",
          need::optional, look_hardlinks},
    probe{"protected symlinks", "links of others in sticky directories are not followed",
          "programs outside Paddock may be misled by links in /tmp; sysctl fs.protected_symlinks=1 "
          "protects them",
          need::optional, look_symlinks},
    probe{"helper program", "exec runs each command under it, and it ends the whole process tree",
          "no command can run; everything else works", need::required, look_helper},
    probe{"close_range", "a command inherits no descriptor", "descriptors are closed one by one",
          need::optional, look_close_range},
    probe{"pidfd_open", "a process is watched and killed without mistaking it for another",
          "exec fails", need::required, look_pidfd},
    probe{"child subreaper", "daemons that a command leaves behind are found and killed",
          "without a PID namespace only the command's process group is killed", need::optional,
          look_subreaper},
    probe{"cgroup v2, writable",
          "where there is no PID namespace, what a command left behind is killed at once",
          "there it is found through /proc, stopped and killed; a PID namespace needs neither",
          need::optional, look_cgroup},
    probe{"Landlock", "a command reaches its workspace and installed programs only",
          "the mount namespace alone holds that; where that is missing too, commands are refused",
          need::optional, look_landlock},
    probe{"seccomp filters", "a command has no sockets and no calls that attack the kernel",
          "a network namespace alone holds the network; other calls stay allowed", need::optional,
          look_seccomp},
    probe{"user namespaces", "ordinary users get the layers that need a namespace",
          "for them Landlock and the filter alone hold, which the layers below tell; allowed by "
          "sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
          "kernel.apparmor_restrict_unprivileged_userns, or the container's seccomp profile",
          need::optional, look_user_namespace},
    probe{"PID namespaces", "a command cannot see or signal others, and its tree ends with it",
          "Landlock and the server have to keep it from signalling others, or it is refused",
          need::optional, look_pid_namespace},
    probe{"mount_setattr", "a command has a root directory with what it may reach, and nothing else",
          "Landlock alone holds that; where that is missing too, commands are refused",
          need::optional, look_mount_setattr},
    probe{"history directory", "changes made with --tools coding can be undone",
          "nothing can be undone; name another directory with paddock-mcp --history DIR",
          need::optional, look_history},
};

} // namespace

std::span<const probe> system_probes() {
  return table;
}

std::string system_name() {
  utsname name{};
  if (::uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

} // namespace paddock::cli
