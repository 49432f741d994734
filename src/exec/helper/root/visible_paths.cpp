// SPDX-License-Identifier: MIT
#include "exec/helper/root/visible_paths.hpp"

#include "exec/helper/policy/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace paddock::exec {
namespace {

/// Installed programs and what they need of the system's configuration; nothing that holds secrets.
constexpr const char* system_paths[] = {
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/sys/devices/system/cpu",
    "/etc/alternatives",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/host.conf",
    "/etc/java",
    "/etc/java-11-openjdk", // without its settings there Debian's Java does not start
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/java-25-openjdk",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/perl",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/profile",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
};
constexpr const char* network_paths[] = {"/etc/hosts", "/etc/resolv.conf"};
constexpr const char* devices[] = {"/dev/full", "/dev/null", "/dev/random", "/dev/urandom",
                                   "/dev/zero"};
constexpr const char* scratch_paths[] = {"/dev/shm", "/tmp", "/var/tmp"};

/// What lies beside a directory of programs and belongs to the same installation.
constexpr const char* beside_programs[] = {"bin",     "etc",  "include", "lib",      "lib64",
                                           "libexec", "sbin", "shims",   "versions", "version"};

const char* last_component(const char* path) {
  return std::strrchr(path, '/') + 1;
}

bool holds_programs(const char* directory) {
  if (*directory == '\0') return false;
  const char* name = last_component(directory);
  return std::strcmp(name, "bin") == 0 || std::strcmp(name, "sbin") == 0 ||
         std::strcmp(name, "shims") == 0;
}

/// The next absolute entry of a search path, copied; false at the end.
bool next_entry(const char*& at, char (&entry)[PATH_MAX]) {
  while (at != nullptr && *at != '\0') {
    const char* end = std::strchr(at, ':');
    const std::size_t size = end != nullptr ? static_cast<std::size_t>(end - at) : std::strlen(at);
    const char* begin = at;
    at = end != nullptr ? end + 1 : nullptr;
    if (*begin != '/' || size >= sizeof entry) continue;
    std::memcpy(entry, begin, size);
    entry[size] = '\0';
    return true;
  }
  return false;
}

} // namespace

void visible_paths::collect(const policy& wanted, const char* workspace, const char* program) {
  workspace_ = workspace;
  add(workspace, use::workspace, origin::named);
  add_named_paths(wanted);
  add_caches(wanted);
  for (const char* scratch : scratch_paths)
    add(scratch, use::scratch);
  add_home(wanted.home);
  for (const char* system : system_paths)
    add(system, use::read);
  if (!wanted.wants(confine::network))
    for (const char* shared : network_paths)
      add(shared, use::read);
  for (const char* device : devices)
    add(device, use::device);
  // Where the operator exposes the host's /dev/pts, no private one is mounted over it.
  const need without = is_shown("/dev/pts") ? need::none : need::optional;
  terminals_ = wanted.fixed->terminal != 0 ? need::required : without;
  if (terminals_ != need::none) add("/dev/tty", use::device); // the terminal of whoever opens it
  add_search_path(wanted.search_path);
  add_program(wanted.search_path, program);
  sort();
}

/// Later entries of the same path, and what a writable entry holds anyway, are left out.
void visible_paths::add(const char* path, use as, origin from) {
  for (const visible_path* entry = begin(); entry != end(); ++entry) {
    if (std::strcmp(entry->path, path) == 0) return;
    const bool covers = entry->as == use::read ? as == use::read : entry->as >= use::write;
    if (covers && is_within(path, entry->path)) return;
  }
  if (size_ == capacity) {
    note_unreachable(E2BIG, no_path);
    return;
  }
  entries_[size_++] = {path, as, from == origin::named};
}

void visible_paths::add_kept(const char* path, use as, origin from) {
  const char* kept = ::strdup(path);
  if (kept == nullptr)
    note_unreachable(ENOMEM, no_path);
  else
    add(kept, as, from);
}

// --- what the operator named --------------------------------------------------------------------

void visible_paths::note_unreachable(int os_errno, unsigned index) {
  if (unreachable_.os_errno == 0) unreachable_ = {os_errno, index};
}

/// The paths that can be changed come first: they decide which links mean anything.
void visible_paths::add_named_paths(const policy& wanted) {
  const std::uint32_t reads = wanted.fixed->read_paths;
  constexpr link_rule follow_all{[](const char*, const void*) { return false; }, nullptr};
  const char* path = wanted.write_paths;
  for (std::uint32_t i = 0; i < wanted.fixed->write_paths; ++i, path = next(path)) {
    char real[PATH_MAX];
    if (canonical_name(path, kind_wanted::anything, follow_all, real) == 0)
      add_kept(real, use::write, origin::named);
  }
  path = wanted.write_paths;
  for (std::uint32_t i = 0; i < wanted.fixed->write_paths; ++i, path = next(path)) {
    char real[PATH_MAX];
    if (canonical(path, kind_wanted::anything, real) == EPERM &&
        canonical_name(path, kind_wanted::anything, follow_all, real) == 0)
      remove(real);
    add_named(path, use::write, reads + i);
  }
  path = wanted.read_paths;
  for (std::uint32_t i = 0; i < reads; ++i, path = next(path))
    add_named(path, use::read, i);
}

void visible_paths::remove(const char* path) {
  visible_path* kept = std::remove_if(entries_, entries_ + size_, [&](const visible_path& entry) {
    return entry.as == use::write && std::strcmp(entry.path, path) == 0;
  });
  size_ = static_cast<std::size_t>(kept - entries_);
}

/// Under its canonical name and, where that is another, under the one that was given. What lies in
/// a place that the command can change is there already, whatever it is by now.
void visible_paths::add_named(const char* path, use as, unsigned index) {
  if (is_changeable(path)) return;
  char real[PATH_MAX];
  if (const int failed = canonical(path, kind_wanted::anything, real); failed != 0) {
    note_unreachable(failed, index);
    return;
  }
  add_kept(real, as, origin::named);
  // Under a second name what is protected in the workspace would not be.
  const bool holds_workspace = is_within(workspace_, real) || is_within(real, workspace_);
  if (std::strcmp(path, real) != 0 && !is_shown(path) && !holds_workspace)
    add_kept(path, as, origin::named);
}

/// The workspace has one place only: what is protected in it would not be in another one.
void visible_paths::add_caches(const policy& wanted) {
  const char* path = wanted.cache_paths;
  for (std::uint32_t i = 0; i < wanted.fixed->cache_paths; ++i, path = next(path)) {
    char real[PATH_MAX];
    if (is_changeable(path) || canonical(path, kind_wanted::directory, real) != 0) continue;
    if (is_changeable(real) || is_within(workspace_, real) || is_within(workspace_, path)) continue;
    add_kept(real, use::cache);
    if (std::strcmp(path, real) != 0) add_kept(path, use::cache);
  }
}

void visible_paths::add_home(const char* home) {
  char real[PATH_MAX];
  if (home[0] != '/') return;
  const int failed = canonical(home, kind_wanted::directory, real);
  if (failed == ENOTDIR) return;
  if (failed == 0 && real[1] != '\0') {
    real_home_ = ::strdup(real);
    if (real_home_ != nullptr) add(real_home_, use::scratch);
  }
  home_ = is_plain(home) ? home : real_home_;
  if (home_ != nullptr && (real_home_ == nullptr || !is_shown(home_))) add(home_, use::scratch);
}

// --- what the search path leads to --------------------------------------------------------------

bool visible_paths::is_changeable(const char* directory) const {
  for (const visible_path* entry = begin(); entry != end(); ++entry)
    if (entry->as >= use::write && is_within(directory, entry->path)) return true;
  return false;
}

/// Not by way of a link that the command can change.
int visible_paths::canonical(const char* path, kind_wanted kind, char (&into)[PATH_MAX]) const {
  const auto is_foreign = [](const char* directory, const void* self) {
    return static_cast<const visible_paths*>(self)->is_changeable(directory);
  };
  return canonical_name(path, kind, {is_foreign, this}, into);
}

/// A directory must not be made visible when it holds more than programs: the home directory, the
/// directories above it and above the workspace.
bool visible_paths::is_private(const char* directory) const {
  return is_within(workspace_, directory) || (home_ != nullptr && is_within(home_, directory)) ||
         (real_home_ != nullptr && is_within(real_home_, directory));
}

bool visible_paths::is_shown(const char* path) const {
  for (const visible_path* entry = begin(); entry != end(); ++entry)
    if (entry->as != use::scratch && is_within(path, entry->path)) return true;
  return false;
}

void visible_paths::add_if_there(const char* prefix, const char* name) {
  char path[PATH_MAX];
  const bool fits = text_writer(path).add(prefix).add("/").add(name).complete();
  if (fits && ::access(path, F_OK) == 0) add_kept(path, use::read);
}

/// A link beside the programs counts as what it leads to.
void visible_paths::add_beside(const char* installation, const char* name) {
  char path[PATH_MAX];
  char real[PATH_MAX];
  if (!text_writer(path).add(installation).add("/").add(name).complete()) return;
  if (canonical(path, kind_wanted::anything, real) != 0) return;
  if (is_private(real) || is_changeable(real)) return;
  if (std::strcmp(path, real) != 0) add_kept(real, use::read);
  add_kept(path, use::read);
}

/// A directory that the search for programs goes through, and what lies beside it. `directory` is
/// canonical.
void visible_paths::add_program_directory(const char* directory) {
  if (is_private(directory) || is_shown(directory)) return;
  char parent[PATH_MAX];
  text_writer(parent).add(directory);
  *std::strrchr(parent, '/') = '\0';
  if (!holds_programs(directory) || parent[0] == '\0' || is_private(parent)) {
    add_if_there(parent, last_component(directory));
    return;
  }
  for (const char* name : beside_programs)
    add_beside(parent, name);
}

/// The command looks through the name, which may be a link.
void visible_paths::add_search_alias(const char* entry) {
  if (is_plain(entry) && !is_private(entry) && !is_shown(entry)) add_kept(entry, use::read);
}

void visible_paths::add_search_path(const char* search_path) {
  char entry[PATH_MAX];
  char real[PATH_MAX];
  while (next_entry(search_path, entry)) {
    if (canonical(entry, kind_wanted::directory, real) != 0 || is_changeable(real)) continue;
    add_program_directory(real);
    if (std::strcmp(entry, real) != 0 && !is_private(real)) add_search_alias(entry);
  }
}

/// Where the program really lies, when a directory of the search path that the command cannot
/// change has a link to it.
void visible_paths::add_program(const char* search_path, const char* program) {
  if (std::strchr(program, '/') != nullptr) return;
  char entry[PATH_MAX];
  while (next_entry(search_path, entry)) {
    char name[PATH_MAX];
    char real[PATH_MAX];
    struct stat status{};
    const bool fits = text_writer(name).add(entry).add("/").add(program).complete();
    if (!fits || ::access(name, X_OK) != 0) continue;
    if (canonical(name, kind_wanted::anything, real) != 0 || is_changeable(real)) return;
    if (::stat(real, &status) != 0 || !S_ISREG(status.st_mode) || is_shown(real)) return;
    char* slash = std::strrchr(real, '/');
    *slash = '\0';
    if (holds_programs(real))
      add_program_directory(real);
    else
      add_if_there(real, slash + 1);
    return;
  }
}

/// Parents before what lies below them.
void visible_paths::sort() {
  std::sort(entries_, entries_ + size_, [](const visible_path& a, const visible_path& b) {
    return std::strcmp(a.path, b.path) < 0;
  });
}

} // namespace paddock::exec
