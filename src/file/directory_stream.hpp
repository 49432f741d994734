// SPDX-License-Identifier: MIT
#pragma once

// The entries of an open directory, as the kernel hands them out.

#include "sys/syscall.hpp"

#include <paddock/base/result.hpp>

#include <dirent.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace paddock {

/// Calls visit(name, d_type) for every entry but `.` and `..`; `name` is followed by a NUL.
/// Visiting ends early when `visit` returns false; `stopped_at`, if given, is then where a later
/// call goes on after sys::seek. Errors: those of getdents64.
template <class Visit>
result<void> for_each_entry(int directory, Visit&& visit, std::int64_t* stopped_at = nullptr) {
  // One record of linux_dirent64: inode 8, offset 8, record length 2, type 1, name.
  constexpr std::size_t offset_at = 8;
  constexpr std::size_t length_at = 16;
  constexpr std::size_t type_at = 18;
  constexpr std::size_t name_at = 19;
  alignas(8) std::array<char, 32 * 1024> buffer;
  for (;;) {
    PADDOCK_TRY(const auto bytes, sys::getdents64(directory, buffer));
    if (bytes == 0) return {};
    for (std::size_t at = 0; at < bytes;) {
      const char* record = buffer.data() + at;
      std::uint16_t length = 0;
      std::memcpy(&length, record + length_at, sizeof length);
      at += length;
      const std::string_view name(record + name_at);
      if (name == "." || name == "..") continue;
      if (!visit(name, static_cast<unsigned char>(record[type_at]))) {
        if (stopped_at != nullptr) std::memcpy(stopped_at, record + offset_at, sizeof *stopped_at);
        return {};
      }
    }
  }
}

} // namespace paddock
