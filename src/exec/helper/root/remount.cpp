// SPDX-License-Identifier: MIT
#include "exec/helper/root/remount.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

namespace paddock::exec {
namespace {

constexpr std::size_t mount_table_bytes_max = 1UL << 20;

struct attribute_name {
  std::uint64_t attribute;
  unsigned long flag;
  const char* option; ///< as /proc/self/mountinfo has it
};
constexpr attribute_name attribute_names[] = {
    {mount_read_only, MS_RDONLY, "ro"},
    {mount_no_setuid, MS_NOSUID, "nosuid"},
    {mount_no_devices, MS_NODEV, "nodev"},
    {mount_no_programs, MS_NOEXEC, "noexec"},
};

/// One mount of /proc/self/mountinfo.
struct table_entry {
  char* path;
  std::uint64_t attributes;
};

/// The next field of a line, ended by a NUL in place; null: there is none.
char* next_field(char*& at) {
  if (at == nullptr || *at == '\0') return nullptr;
  char* field = at;
  at = const_cast<char*>(std::strchr(field, ' '));
  if (at != nullptr) *at++ = '\0';
  return field;
}

bool is_octal(const char* digits) {
  for (int i = 0; i < 3; ++i)
    if (digits[i] < '0' || digits[i] > '7') return false;
  return true;
}

/// Blanks, newlines and backslashes are written as "\040" and so on.
void unescape(char* text) {
  char* out = text;
  for (const char* in = text; *in != '\0'; ++out) {
    const bool escaped = in[0] == '\\' && is_octal(in + 1);
    *out =
        escaped ? static_cast<char>((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0')) : *in;
    in += escaped ? 4 : 1;
  }
  *out = '\0';
}

std::uint64_t parse_options(const char* text) {
  std::uint64_t attributes = 0;
  while (*text != '\0') {
    const char* comma = std::strchr(text, ',');
    const std::size_t size =
        comma != nullptr ? static_cast<std::size_t>(comma - text) : std::strlen(text);
    for (const attribute_name& each : attribute_names)
      if (std::strlen(each.option) == size && std::strncmp(text, each.option, size) == 0)
        attributes |= each.attribute;
    text += size + (comma != nullptr ? 1 : 0);
  }
  return attributes;
}

/// "ID PARENT DEVICE ROOT PATH OPTIONS …"
bool parse_line(char* line, table_entry& entry) {
  for (int skipped = 0; skipped < 4; ++skipped)
    if (next_field(line) == nullptr) return false;
  entry.path = next_field(line);
  const char* options = next_field(line);
  if (options == nullptr) return false;
  unescape(entry.path);
  entry.attributes = parse_options(options);
  return true;
}

/// All attributes that the mount is to have: those not named are taken away, or may not be.
int set_all(const char* path, std::uint64_t attributes) {
  unsigned long flags = MS_REMOUNT | MS_BIND;
  for (const attribute_name& each : attribute_names)
    if ((attributes & each.attribute) != 0) flags |= each.flag;
  return ::mount(nullptr, path, nullptr, flags, nullptr) == 0 ? 0 : errno;
}

/// Calls `act` for each mount until it returns something else than 0.
template <class Action> int for_each_mount(Action act) {
  void* memory = ::mmap(nullptr, mount_table_bytes_max, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int table = ::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (memory == MAP_FAILED || table < 0) return errno;
  char* text = static_cast<char*>(memory);
  std::size_t size = 0;
  ssize_t read = 0;
  while (size < mount_table_bytes_max - 1 &&
         (read = ::read(table, text + size, mount_table_bytes_max - 1 - size)) > 0)
    size += static_cast<std::size_t>(read);
  ::close(table);
  if (read != 0) return read < 0 ? errno : E2BIG;
  int failed = 0;
  while (*text != '\0' && failed == 0) {
    char* end = const_cast<char*>(std::strchr(text, '\n'));
    if (end == nullptr) return EINVAL;
    *end = '\0';
    table_entry entry{};
    failed = parse_line(text, entry) ? act(entry) : EINVAL;
    text = end + 1;
  }
  return failed;
}

} // namespace

int remount(const char* path, std::uint64_t attributes) {
  std::uint64_t present = 0;
  const int failed = for_each_mount([&](const table_entry& entry) {
    if (std::strcmp(entry.path, path) == 0) present = entry.attributes; // the last is on top
    return 0;
  });
  return failed != 0 ? failed : set_all(path, present | attributes);
}

int remount_all(const visible_paths& visible, std::uint64_t (*attributes_of)(use)) {
  return for_each_mount([&](const table_entry& entry) {
    const visible_path* nearest = nullptr; // parents come first
    for (const visible_path& each : visible)
      if (is_within(entry.path, each.path)) nearest = &each;
    if (nearest == nullptr) return 0; // the root directory and /proc
    return set_all(entry.path, entry.attributes | attributes_of(nearest->as));
  });
}

} // namespace paddock::exec
