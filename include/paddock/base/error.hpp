// SPDX-License-Identifier: MIT
#pragma once

/// The one table of everything that can go wrong, and the small value that carries it.
///
/// A code says what the caller should do, not which system call failed: two causes with the same
/// remedy share a code. The table below is the only place where codes, their wire names, their
/// texts and their advice are written; documentation and tests are derived from it. Codes are never
/// renumbered within a release, but only wire names are stable across releases.
///
/// Thread-safety: everything here is immutable.

#include <paddock/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace paddock {

// X(enumerator, wire name, what happened, what to do next)
// clang-format off
#define PADDOCK_ERROR_CODES(X)                                                                                                       \
  X(invalid_argument,   "invalid_argument",   "an argument is not acceptable",                 "correct the argument and call again")        \
  X(invalid_name,       "invalid_name",       "a path component is not a valid file name",     "use a name without NUL bytes")                \
  X(name_too_long,      "name_too_long",      "a path component is longer than 255 bytes",     "use a shorter file name")                    \
  X(path_too_long,      "path_too_long",      "the path is too long or too deep",              "use a shorter path")                         \
  X(not_found,          "not_found",          "no such file or directory",                     "list the parent directory to see which names exist") \
  X(already_exists,     "already_exists",     "something has this name already",               "choose another name, or move or delete what has it") \
  X(not_a_directory,    "not_a_directory",    "a directory was expected",                      "name a directory, or read it as a file") \
  X(is_a_directory,     "is_a_directory",     "a file was expected, but this is a directory",  "list the directory, and name a file in it") \
  X(not_regular,        "not_regular",        "not a regular file (FIFO, socket or device)",   "only regular files can be used here")        \
  X(not_empty,          "not_empty",          "the directory is not empty",                    "delete its contents first, or set recursive to true") \
  X(escapes_root,       "escapes_root",       "the path leaves the workspace",                 "use a path inside the workspace")            \
  X(absolute_symlink,   "absolute_symlink",   "a symbolic link on the path points to an absolute location outside the workspace", "use a path inside the workspace that does not go through this link") \
  X(absolute_symlink_inside, "absolute_symlink_inside", "a symbolic link on the path has an absolute target (inside the workspace)", "use the path the link points to, relative to the workspace") \
  X(dangling_symlink,   "dangling_symlink",   "a symbolic link on the path points to something that does not exist", "create the link's target first, or use another path") \
  X(symlink_loop,       "symlink_loop",       "too many symbolic links on the path",           "use a path that does not go through this link") \
  X(magic_link,         "magic_link",         "the path goes through a process-dependent link of the kernel", "use a path inside the workspace")  \
  X(crosses_mount,      "crosses_mount",      "the operation would cross into another file system", "work on each file system separately")     \
  X(protected_entry,    "protected",          "this entry is reserved and may not be used",    "use another path; reserved entries cannot be read, listed or changed") \
  X(write_protected,    "write_protected",    "this entry may be read but not changed, because programs outside the workspace run or obey it", "leave it as it is, or ask a person to allow it with --unprotect NAME") \
  X(workspace_root,     "workspace_root",     "the workspace root itself cannot be moved, replaced or deleted", "name an entry inside the workspace") \
  X(hard_linked,        "hard_linked",        "the file has more than one hard link, so changing it in place would change another file too", "write the whole file instead: that replaces this name only") \
  X(root_gone,          "root_gone",          "the workspace directory was deleted",           "restart with an existing workspace directory") \
  X(permission_denied,  "permission_denied",  "permission denied by the operating system",     "check the entry's permissions")              \
  X(read_only,          "read_only",          "the entry is read-only",                        "choose another path, or ask for write permission") \
  X(no_space,           "no_space",           "no space left on the device, or the quota is exhausted", "free some space; the old content is unchanged") \
  X(too_large,          "too_large",          "the input or the result exceeds a limit",       "work on a smaller part")                     \
  X(too_many,           "too_many",           "too many files, processes or entries",          "retry later or work on a smaller part")      \
  X(not_text,           "not_text",           "the content is not valid UTF-8 text",           "this is a binary file or uses another encoding; do not read it as text") \
  X(unsupported_type,   "unsupported_type",   "the content is of a type that is not supported here", "use a tool that fits this type of file") \
  X(no_match,           "no_match",           "the text to replace does not occur in the file", "read the file again and copy the exact text, including indentation") \
  X(ambiguous,          "ambiguous",          "the text to replace fits several places, or not as many as was said", "add lines around it so that it fits one place, or say which line or that all are meant") \
  X(stale,              "stale",              "the file is not as it was when it was read",   "read it again and make the change to what is there now") \
  X(conflict,           "conflict",           "the entry kept changing during the operation",  "read it again and retry")                    \
  X(timed_out,          "timed_out",          "the deadline passed",                           "give more time or do less in one call")      \
  X(cancelled,          "cancelled",          "the call was cancelled",                        "call again if it is still needed")           \
  X(command_failed,     "command_failed",     "the command ended with an error",               "read its output, correct the command and run it again") \
  X(denied_by_policy,   "denied_by_policy",   "not allowed by the server's configuration",     "do without it, or ask a person to change the configuration") \
  X(confinement_unavailable, "confinement_unavailable", "this system cannot confine the command as the configuration requires", "do without the command, or ask a person to look at the missing layers") \
  X(unsupported,        "unsupported",        "not supported by this system",                  "use another way")                            \
  X(io,                 "io",                 "input/output error",                            "retry; if it persists the storage may be damaged")
// clang-format on

enum class error_code : std::uint8_t {
#define PADDOCK_ENTRY(name, wire, text, advice) name,
  PADDOCK_ERROR_CODES(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

/// The stable name of a code, as it appears in JSON.
[[nodiscard]] constexpr std::string_view wire_name(error_code code) noexcept {
  switch (code) {
#define PADDOCK_ENTRY(name, wire, text, advice)                                                    \
  case error_code::name:                                                                           \
    return wire;
    PADDOCK_ERROR_CODES(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
  }
  return "unknown";
}

/// What happened, as the middle of a sentence: no capital, no full stop.
[[nodiscard]] constexpr std::string_view text(error_code code) noexcept {
  switch (code) {
#define PADDOCK_ENTRY(name, wire, text, advice)                                                    \
  case error_code::name:                                                                           \
    return text;
    PADDOCK_ERROR_CODES(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
  }
  return "unknown error";
}

/// What a person or a model can do next, in the imperative: no capital, no full stop.
[[nodiscard]] constexpr std::string_view advice(error_code code) noexcept {
  switch (code) {
#define PADDOCK_ENTRY(name, wire, text, advice)                                                    \
  case error_code::name:                                                                           \
    return advice;
    PADDOCK_ERROR_CODES(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
  }
  return "";
}

/// An operating error: 16 bytes, trivially copyable, never allocates. Paths are not stored; the
/// caller knows them.
struct error {
  error_code code{};
  int os_errno = 0; ///< errno of the system call that failed; 0 when none was involved
  /// The system call or the component ("openat2", "text_edit"); of write_protected the name that
  /// protects the entry (".git/hooks"), or "" where a path does. Valid for as long as the process.
  const char* operation = "";

  friend constexpr bool operator==(const error& a, const error& b) noexcept {
    return a.code == b.code && a.os_errno == b.os_errno;
  }
};

} // namespace paddock
