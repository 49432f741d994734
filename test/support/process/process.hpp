// SPDX-License-Identifier: MIT
#pragma once

// Test bodies in a process of their own: with another user, another mount table or other limits.
// Expectations that fail in there fail the test that started it.

#include "precompiled/tests.hpp"
#include "support/process/line_counts.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace paddock::test {

inline constexpr uid_t nobody = 65534;

enum class child_end { finished, refused };

/// Forks; the child calls `prepare`, which says whether this machine allows it, and then `body`.
/// `refused` means that `prepare` said no: the caller skips its test by name.
template <class Prepare, class Body>
[[nodiscard]] child_end in_child(Prepare&& prepare, Body&& body) {
  constexpr int refused = 77;
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    // _exit: no leak check and no second run of the parent's destructors.
    if (!prepare()) ::_exit(refused);
    body();
    std::fflush(nullptr);
    keep_line_counts();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  EXPECT_GT(pid, 0) << std::strerror(errno);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == refused) return child_end::refused;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "child ended with " << status;
  return child_end::finished;
}

/// For good: this process becomes the ordinary user that owns nothing.
inline bool become_nobody() {
  if (::geteuid() != 0) return false;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(nobody, nobody, nobody) == 0 &&
         ::setresuid(nobody, nobody, nobody) == 0;
}

/// For good: this process and what it starts are held by the modes of files, root or not.
inline bool become_bound_by_modes() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  if (::syscall(SYS_capget, &header, sets) != 0) return false;
  for (const unsigned each : {unsigned{CAP_DAC_OVERRIDE}, unsigned{CAP_DAC_READ_SEARCH}}) {
    if (::prctl(PR_CAPBSET_DROP, each, 0, 0, 0) != 0) return false;
    sets[0].effective &= ~(1U << each);
    sets[0].permitted &= ~(1U << each);
    sets[0].inheritable &= ~(1U << each);
  }
  return ::syscall(SYS_capset, &header, sets) == 0;
}

/// Mounts that only this process sees and that vanish with it.
inline bool private_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

inline bool mount_tmpfs(const std::string& at, const std::string& options) {
  return ::mount("tmpfs", at.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

inline bool bind_mount(const std::string& what, const std::string& at) {
  return ::mount(what.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
}

/// Gives a whole tree to the ordinary user; nothing happens without privilege.
inline void give_to_nobody(const std::string& path) {
  if (::geteuid() != 0) return;
  EXPECT_EQ(0, ::lchown(path.c_str(), nobody, nobody));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    EXPECT_EQ(0, ::lchown(entry.path().c_str(), nobody, nobody)) << entry.path();
}

} // namespace paddock::test
