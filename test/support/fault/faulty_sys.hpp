// SPDX-License-Identifier: MIT
#pragma once

// The kernel as it is on a bad day: the N-th file system call of the library fails with an errno of
// the test's choice, or all from the N-th on, or reading and writing take a few bytes at a time.
//
// The calls of src/sys are caught by the linker: a program that uses this is linked with
// --wrap=NAME for every name in test/meson.build's `wrapped_calls`, and faulty_sys.cpp defines the
// wrappers. Outside an `injection` they do nothing. One injection at a time; calls of all threads
// count.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace paddock::test {

enum class lasting : unsigned char { once, ever };

/// Whether the file system knows O_TMPFILE. Asking one that does not is no fault and not counted.
enum class nameless_files : unsigned char { known, unknown };

struct fault {
  std::size_t at = 0; ///< the call that fails, from 1; 0: each that os_errno_of names, or none
  int os_errno = 0;
  test::lasting lasting = lasting::once;
  std::size_t bytes_max = 0; ///< what one call reads or writes at most; 0: as asked
  /// The errno for a call of this name, instead of os_errno; 0: it happens all the same.
  std::function<int(std::string_view)> os_errno_of = nullptr;
  /// Called before each call with its number: what somebody else does at just this moment. System
  /// calls in it do not count. For tests with one thread.
  std::function<void(std::size_t)> before = nullptr;
  nameless_files files = nameless_files::known;
  /// What a status says instead of an inode number.
  std::function<std::uint64_t(std::uint64_t)> inode_told = nullptr;
};

inline bool is_write(std::string_view name) {
  return name == "write" || name == "writev";
}
/// No write has any room.
inline fault full_disk() {
  return {.os_errno_of = [](std::string_view name) { return is_write(name) ? ENOSPC : 0; }};
}

/// For wrappers: whether the call of this name may happen; otherwise errno says why not.
bool may_happen(const char* name);

class injection {
public:
  explicit injection(const fault& f);
  injection(const injection&) = delete;
  injection& operator=(const injection&) = delete;
  ~injection() { end(); }

  void end();
  [[nodiscard]] static std::size_t calls();        ///< since it began
  [[nodiscard]] static std::size_t failed();       ///< of them
  [[nodiscard]] static std::string_view failing(); ///< the name of the first that failed
  /// Those of the renameat2 that `os_errno_of` is asked about.
  [[nodiscard]] static unsigned rename_flags();
  /// How many descriptors were opened that a program started meanwhile would have inherited.
  [[nodiscard]] static std::size_t inheritable();
};

} // namespace paddock::test
