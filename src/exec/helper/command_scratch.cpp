// SPDX-License-Identifier: MIT
#include "exec/helper/command_scratch.hpp"

#include "exec/helper/policy/text.hpp"
#include "exec/helper/root/private_root.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

namespace paddock::exec {
namespace {

using confine::step;

/// The directory that the library keeps for all commands. 0 or an errno.
int take_kept_directory(const char* path) {
  struct stat found{};
  if (::lstat(path, &found) != 0) return errno;
  return S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() ? 0 : EPERM;
}

/// One of this command only, to be removed when it has ended.
void make_own_scratch(shared_state& shared) {
  unsigned long random = 0;
  if (::syscall(SYS_getrandom, &random, sizeof random, 0) != sizeof random) return;
  char name[64];
  text_writer(name).add("/tmp/paddock-scratch-").add(random);
  if (::mkdir(name, 0700) != 0) return;
  text_writer(shared.scratch).add(name);
}

} // namespace

void make_scratch(const policy& wanted, shared_state& shared) {
  if (!wanted.wants(confine::file_system)) return;
  confine::enforcement& taken = shared.taken;
  const bool is_kept = *wanted.scratch != '\0';
  if (taken.has(step::private_root)) {
    if (is_kept) taken.set(step::session_scratch, EOPNOTSUPP); // there were no mounts then
    return;
  }
  if (taken.has(step::session_scratch)) // that has no use for the mounts
    taken.set(step::session_scratch, taken.results[static_cast<unsigned>(step::private_root)]);
  if (is_kept) {
    const int failed = take_kept_directory(wanted.scratch);
    taken.set(step::session_scratch, failed);
    shared.scratch_lasts = failed == 0;
    if (failed == 0) text_writer(shared.scratch).add(wanted.scratch);
  }
  if (shared.scratch[0] == '\0') make_own_scratch(shared);
  char configuration[PATH_MAX];
  if (shared.scratch[0] == '\0' || *wanted.git_configuration == '\0') return;
  if (text_writer(configuration).add(shared.scratch).add("/.gitconfig").complete())
    (void)write_new_file(configuration, wanted.git_configuration);
}

void point_to_scratch(const shared_state& shared) {
  const char* temporary = std::getenv("TMPDIR");
  if (shared.scratch[0] != '\0') {
    ::setenv("TMPDIR", shared.scratch, 1);
    ::setenv("HOME", shared.scratch, 1);
    // Landlock denies /etc/gitconfig, and git then gives up.
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 0);
  } else if (temporary != nullptr && ::access(temporary, W_OK) != 0) {
    ::setenv("TMPDIR", "/tmp", 1);
  }
}

} // namespace paddock::exec
