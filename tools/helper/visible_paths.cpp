// SPDX-License-Identifier: MIT
#include "visible_paths.hpp"

#include "text.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

bool is_within(const char* path, const char* directory) {
  const std::size_t size = std::strlen(directory);
  if (size == 1) return true;
  return std::strncmp(path, directory, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

bool visible_paths::collect(const policy& wanted, const char* workspace, const char* program) {
  workspace_ = workspace;
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/' && home[1] != '\0') home_ = home;
  add(workspace, use::workspace);
  const char* path = wanted.write_paths;
  for (std::uint32_t i = 0; i < wanted.fixed->write_paths; ++i, path = next(path))
    add(path, use::write);
  path = wanted.read_paths;
  for (std::uint32_t i = 0; i < wanted.fixed->read_paths; ++i, path = next(path))
    add(path, use::read);
  for (const char* scratch : scratch_paths)
    add(scratch, use::scratch);
  if (home_ != nullptr) add(home_, use::scratch);
  for (const char* system : system_paths)
    add(system, use::read);
  if (!wanted.wants(confine::network))
    for (const char* shared : network_paths)
      add(shared, use::read);
  for (const char* device : devices)
    add(device, use::device);
  const char* search_path = std::getenv("PATH");
  add_search_path(search_path);
  add_program(search_path, program);
  sort();
  return complete_;
}

/// Later entries of the same path, and what a writable entry holds anyway, are left out.
void visible_paths::add(const char* path, use as) {
  for (const visible_path* entry = begin(); entry != end(); ++entry) {
    if (std::strcmp(entry->path, path) == 0) return;
    const bool covers = entry->as == use::read ? as == use::read : entry->as >= use::write;
    if (covers && is_within(path, entry->path)) return;
  }
  if (size_ == capacity)
    complete_ = false;
  else
    entries_[size_++] = {path, as};
}

/// A directory must not be made visible when it holds more than programs: the home directory, the
/// directories above it and above the workspace.
bool visible_paths::is_private(const char* directory) const {
  return is_within(workspace_, directory) || (home_ != nullptr && is_within(home_, directory));
}

void visible_paths::add_if_directory(const char* prefix, const char* name) {
  char path[PATH_MAX];
  const bool fits = text_writer(path).add(prefix).add("/").add(name).complete();
  if (!fits || ::access(path, F_OK) != 0) return;
  const char* kept = ::strdup(path);
  if (kept == nullptr)
    complete_ = false;
  else
    add(kept, use::read);
}

/// A directory that the search for programs goes through, and what lies beside it. `directory` is
/// canonical.
void visible_paths::add_program_directory(const char* directory) {
  if (is_private(directory)) return;
  for (const visible_path* entry = begin(); entry != end(); ++entry)
    if (entry->as != use::scratch && is_within(directory, entry->path)) return;
  char parent[PATH_MAX];
  text_writer(parent).add(directory);
  *std::strrchr(parent, '/') = '\0';
  if (!holds_programs(directory) || parent[0] == '\0' || is_private(parent)) {
    add_if_directory(parent, last_component(directory));
    return;
  }
  for (const char* name : beside_programs)
    add_if_directory(parent, name);
}

void visible_paths::add_search_path(const char* search_path) {
  char entry[PATH_MAX];
  char real[PATH_MAX];
  while (next_entry(search_path, entry)) {
    if (!resolve(entry, real)) continue;
    add_program_directory(real);
    // The command looks through the name, which may be a link.
    if (std::strcmp(entry, real) != 0 && !is_private(entry)) {
      char* slash = std::strrchr(entry, '/');
      if (slash != entry) {
        *slash = '\0';
        add_if_directory(entry, slash + 1);
      }
    }
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
    const bool fits = text_writer(name).add(entry).add("/").add(program).complete();
    if (!fits || ::access(name, X_OK) != 0) continue;
    if (!resolve(entry, real)) continue;
    for (const visible_path* listed = begin(); listed != end(); ++listed)
      if (listed->as >= use::write && is_within(real, listed->path)) return;
    if (!resolve(name, real)) return;
    char* slash = std::strrchr(real, '/');
    *slash = '\0';
    if (holds_programs(real))
      add_program_directory(real);
    else
      add_if_directory(real, slash + 1);
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
