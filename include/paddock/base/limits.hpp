// SPDX-License-Identifier: MIT
#pragma once

/// Every bound of the toolkit, named once, with its unit in the name.
///
/// The table is the single source: the aggregate `limits`, the names that the adapter's `--limit` takes and the
/// table of docs/limits.md follow from it. "Characters" are Unicode code points, as JSON Schema
/// counts them; sizes are bytes, 1 MiB = 1024 x 1024. All bounds are inclusive: a value equal to
/// the limit passes.
///
/// Thread-safety: an aggregate of numbers; copy it freely.

#include <paddock/base/config.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace paddock {

// X(field, default, the least that may be asked for, its name for --limit, what it bounds)
// clang-format off
#define PADDOCK_LIMITS(X)                                                                                                                                            \
  X(write_characters_max,    10'000u,              1u,           "write-characters",         "text of one writeTextFile call, in code points")                       \
  X(append_characters_max,   2'000u,               1u,           "append-characters",        "text of one appendTextFile call, in code points")                      \
  X(edit_characters_max,     2'000u,               1u,           "edit-characters",          "oldText and newText of one edit, in code points each")                 \
  X(image_bytes_max,         15ull * 1024 * 1024,  1u,           "image-bytes",              "file accepted by readImageFile")                                       \
  X(pdf_bytes_max,           30ull * 1024 * 1024,  1u,           "pdf-bytes",                "file accepted by readPdfFile")                                         \
  X(read_bytes_max,          4ull * 1024 * 1024,   1u,           "read-bytes",               "text returned by one readTextFile call")                               \
  X(read_page_bytes_max,     0u,                   0u,           "read-page-bytes",          "text of one readTextFile call without from and to; longer text is cut at the end of a line; 0: no limit") \
  X(edit_file_bytes_max,     256ull * 1024 * 1024, 1u,           "edit-file-bytes",          "size of a file that is edited")                                        \
  X(list_entries_max,        10'000u,              1u,           "list-entries",             "entries returned by one listDirectory call")                           \
  X(exec_output_bytes_max,   1ull * 1024 * 1024,   1024u,        "exec-output-bytes",        "kept of each output stream of one command (head and tail)")            \
  X(tool_timeout_ms,         45'000u,              0u,           "tool-ms",                  "time of one call of a tool other than exec, in milliseconds; 0: no deadline") \
  X(memory_bytes_max,        1024ull * 1024 * 1024, 1024u * 1024, "memory-bytes",             "held by all calls together for files, listings and output")            \
  X(exec_arguments_max,      10'000u,              0u,           "exec-arguments",           "arguments of one command")                                             \
  X(exec_variables_max,      1'000u,               0u,           "exec-variables",           "environment variables that one call of exec gives")                    \
  X(exec_argument_bytes_max, 1ull * 1024 * 1024,   4096u,        "exec-argument-bytes",       "all arguments and given variables of one command together")            \
  X(exec_timeout_ms,         45'000u,              1u,           "exec-default-ms",          "deadline of a command that asks for none, in milliseconds")            \
  X(exec_timeout_ms_max,     3'600'000u,           1u,           "exec-ms",                  "longest deadline a command may ask for, in milliseconds")              \
  X(exec_kill_grace_ms,      500u,                 0u,           "exec-grace-ms",            "time between SIGTERM and SIGKILL at the deadline, in milliseconds")    \
  X(exec_concurrent_max,     16u,                  1u,           "exec-concurrent",          "commands that run at the same time")                                   \
  X(process_ms_max,          0u,                   0u,           "process-ms",               "time of a process that startProcess starts, in milliseconds; 0: until it is stopped, or the server ends") \
  X(processes_max,           16u,                  1u,           "processes",                "processes that run at the same time")                                  \
  X(message_in_bytes_max,    16ull * 1024 * 1024,  4096u,        "message-in-bytes",         "one protocol line from the client")                                    \
  X(message_out_bytes_max,   4ull * 1024 * 1024,   4096u,        "message-out-bytes",        "one protocol line to the client")                                      \
  X(todos_max,               10'000u,              1u,           "todos",                    "items on the todo list")                                               \
  X(todo_characters_max,     2'000u,               1u,           "todo-characters",          "title of one item on the todo list, in code points")
// clang-format on

struct limits {
#define PADDOCK_ENTRY(field, value, least, key, text) std::uint64_t field = value;
  PADDOCK_LIMITS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

/// One row of the table, for option parsers and documentation.
struct limit_description {
  std::string_view name;           ///< the field's name
  std::string_view key;            ///< its name for --limit
  std::string_view text;           ///< what it bounds
  std::uint64_t limits::* field{}; ///< where its value lives
  std::uint64_t least = 0;         ///< smaller ones make a server that can do nothing
};

inline constexpr limit_description limit_table[] = {
#define PADDOCK_ENTRY(field, value, least, key, text) {#field, key, text, &limits::field, least},
    PADDOCK_LIMITS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

// --- fixed bounds, mostly of the kernel interface ------------------------------------------------

inline constexpr std::uint64_t name_bytes_max = 255;  ///< one path component (NAME_MAX)
inline constexpr std::uint64_t path_bytes_max = 4095; ///< one path without its NUL (PATH_MAX - 1)
inline constexpr std::uint64_t argument_bytes_max = 131'071; ///< one argument (MAX_ARG_STRLEN - 1)
inline constexpr std::uint64_t echo_characters_max = 200;    ///< of what was given, in an error
inline constexpr std::uint64_t indexed_directories_max =
    50'000; ///< of a workspace, looked into for what commands must not touch
inline constexpr std::uint64_t indexed_bytes_max =
    16ull * 1024 * 1024; ///< of their paths, and of those names in them that are remembered
inline constexpr unsigned symlinks_max = 40; ///< links followed in one resolution (as the kernel)
inline constexpr unsigned path_components_max = 256; ///< components walked in user space at once
inline constexpr unsigned resolve_retries_max = 128; ///< attempts when the tree changes underneath
inline constexpr unsigned resolve_deadline_ms = 50;  ///< further attempts end after this time

} // namespace paddock
