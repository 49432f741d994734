// SPDX-License-Identifier: MIT
#include "leftover.hpp"

#include "directory_stream.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace paddock {
namespace {

constexpr std::size_t random_bytes = 16;
constexpr std::int64_t young_ns = 10'000'000'000;

} // namespace

result<component> unused_name(std::string_view prefix) {
  std::array<char, random_bytes> random;
  PADDOCK_CHECK(sys::getrandom(random));
  std::string name(prefix);
  for (const char byte : random) {
    const auto value = static_cast<unsigned char>(byte);
    name += "0123456789abcdef"[value >> 4U];
    name += "0123456789abcdef"[value & 15U];
  }
  return component::from(name);
}

bool is_unused_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return name.size() == 2 * random_bytes && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

result<file_descriptor> claim(int directory, const component& name, int flags) {
  PADDOCK_TRY(auto fd, sys::openat(directory, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK));
  // A failed lock says nothing about the process behind it.
  if (const auto locked = sys::try_flock(fd.get()); !locked)
    return error{error_code::conflict, locked.error().os_errno, "flock"};
  PADDOCK_TRY(const auto held, sys::status_at(fd.get(), ""));
  const auto named = sys::status_at(directory, name.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!named || !named->same_object(held)) return error{error_code::conflict, 0, "claim"};
  return fd;
}

void remove_abandoned_file(int directory, const component& name) {
  const auto status = sys::entry_status_at(directory, name.c_str());
  if (!status || status->kind != entry_kind::file) return;
  if (status->modified_ns > sys::file_clock_ns() - young_ns) return;
  if (const auto mine = claim(directory, name, O_RDONLY | O_NOCTTY))
    (void)sys::unlinkat(directory, name.c_str(), 0).has_value();
}

void remove_abandoned_files(int directory) {
  // On a description of its own: reading the entries moves its position.
  const auto own = sys::openat(directory, ".", O_RDONLY | O_DIRECTORY);
  if (!own) return;
  std::vector<component> found;
  const auto read = for_each_entry(own->get(), [&](std::string_view name, unsigned char) {
    if (is_unused_name(name, temporary_prefix)) found.push_back(*component::from(name));
    return true;
  });
  if (!read) return;
  for (const auto& name : found)
    remove_abandoned_file(own->get(), name);
}

} // namespace paddock
