// SPDX-License-Identifier: MIT
#pragma once

/// Operations on files beneath a root: read, ranged read, atomic replace, append, edit, move,
/// remove.
///
/// Replacing writes a temporary file in the same directory and renames it over the old one, so a
/// reader, a full disk or a crash sees the old content or the new content and never a mixture. The
/// mode (without set-user-ID and set-group-ID), the POSIX access control list, the extended
/// attributes of the `user.` namespace and, where permitted, the owner and group are kept; a list
/// that cannot be kept is an error. Writing goes through a symbolic link to its target; moving and
/// removing act on the link itself. Calls of this process that change the same file wait for each
/// other, so none is lost; a change by another process is detected before the rename and the
/// operation starts again from the new content. The temporary file has no name until it is complete
/// where the file system allows that; elsewhere, or between getting a name and the rename, a killed
/// process leaves a file named `.paddock-tmp-` and 32 hexadecimal digits. That is an ordinary file,
/// listed and kept, because anybody can make one with that name. A failed operation also removes
/// the parent directories that it has made.
///
/// Not guaranteed: durability after power loss unless `durability` asks for it; what is removed may
/// come back then.
/// Thread-safety: every function may be called from any thread.

#include <paddock/base/detail/function_view.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>
#include <paddock/text/text_edit.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace paddock {

struct read_options {
  std::uint64_t bytes_max = limits{}.read_bytes_max; ///< more is an error, never a silent cut
  work_bounds bounds{};
};

struct file_content {
  std::string bytes;
  std::string path; ///< resolved, relative to the root
  file_status status;
  memory_share memory; ///< what `bytes` takes of the budget, if there is one
};

/// The whole file. Errors: too_large, timed_out, cancelled, too_many (memory), and those of
/// root::open_beneath.
[[nodiscard]] result<file_content> read_file(const root& root, std::string_view path,
                                             read_options options = {});

/// The first `bytes` bytes, or fewer at the end of the file. Errors: those of root::open_beneath.
[[nodiscard]] result<file_content> read_prefix(const root& root, std::string_view path,
                                               std::size_t bytes);

/// Whether what is behind the last newline is a line where it is empty: '\n' separates lines, or
/// ends them.
enum class line_breaks : std::uint8_t { separate, end };

/// A file that ends in a newline has one more, empty, line where newlines separate lines. Where they
/// end them, the last newline is of the text only without `to`.
/// 0-based, `to` exclusive; a negative number counts from the end; out of range gives an empty
/// text.
struct line_range {
  std::optional<std::int64_t> from{};
  std::optional<std::int64_t> to{};
  line_breaks breaks = line_breaks::separate;
};

struct line_slice {
  std::string text;
  std::int64_t from = 0;                   ///< effective
  std::int64_t to = 0;                     ///< effective, exclusive
  std::optional<std::int64_t> total_lines; ///< known when the read met the end of the file
  std::uint64_t offset = 0;                ///< of the text in the file, in bytes
  std::uint64_t file_size = 0;             ///< bytes, when the file was opened
  std::string path;                        ///< resolved, relative to the root
  memory_share memory;                     ///< what `text` takes of the budget, if there is one
};

/// A range of lines in constant memory: the file is streamed, and not read beyond the range unless
/// a negative bound or the range itself needs its end. Holes of a sparse file are passed, not read.
/// Bytes are returned as they are. Errors: too_large when the selected text exceeds bytes_max,
/// timed_out, cancelled, too_many (memory), and those of root::open_beneath.
[[nodiscard]] result<line_slice> read_lines(const root& root, std::string_view path,
                                            line_range range, read_options options = {});

/// What a power cut leaves, of a disk that keeps what it has confirmed. Appending happens in place:
/// with each of them, a power cut before success is reported may leave some of the new bytes, or
/// zeros in their place, behind the old content.
enum class durability : std::uint8_t {
  none, ///< the kernel writes back in its own time: a new file may be empty or hold anything
  data, ///< the content is whole, old or new, and may still be the old one after success; the mode
        ///< may be lost. What was appended is there.
  full, ///< after success what was done is there, with its mode and the parents that were made
};

/// Whoever changes a content waits for others that do. The operation of a `conflict` after another
/// process has kept it waiting for five seconds (root_options::lock_file).
inline constexpr const char* content_lock_operation = "content lock";

struct write_options {
  paddock::durability durability = paddock::durability::none;
  parents missing = parents::create;
  work_bounds bounds{};
};

/// Creates the file or replaces its content atomically. Returns the resolved path.
/// Errors: is_a_directory, not_regular, read_only, no_space, permission_denied, timed_out,
/// cancelled, those of root::locate.
[[nodiscard]] result<std::string> write_file(const root& root, std::string_view path,
                                             std::string_view bytes, write_options options = {});

/// Appends to an existing regular file, which loses set-user-ID and set-group-ID; on failure it is
/// cut back to its old length. Errors: not_found, hard_linked, read_only, no_space,
/// permission_denied (those bits cannot be taken away), timed_out, cancelled.
[[nodiscard]] result<std::string> append_file(const root& root, std::string_view path,
                                              std::string_view bytes, write_options options = {});

/// Whether a content is the one that the caller means to change. The function has to outlive the
/// operation, so one without a name is not taken.
class content_check : public detail::function_view<bool(std::string_view content)> {
public:
  constexpr content_check() noexcept = default; ///< none: any content
  template <class F>
    requires(!std::same_as<std::remove_cv_t<F>, content_check> &&
             std::is_invocable_r_v<bool, F&, std::string_view>)
  constexpr content_check(F& f) noexcept : function_view(f) {}
};

struct edit_options {
  paddock::durability durability = paddock::durability::none;
  std::uint64_t file_bytes_max = limits{}.edit_file_bytes_max;
  work_bounds bounds{};
  content_check only_if{}; ///< of the content before; none: any
};

struct edit_outcome {
  std::string path;
  std::uint64_t occurrences = 0; ///< of the old text before the edit; the first was replaced
  std::uint64_t line_index = 0;  ///< 0-based line where the replaced text began
};

/// Replaces the first occurrence, see text_edit.hpp for what matches. Bytes outside the match do
/// not change. The file is held in memory once. Errors: no_match, invalid_argument (empty old
/// text), stale (`only_if` says no), too_large, conflict, read_only, timed_out, cancelled, too_many
/// (memory).
[[nodiscard]] result<edit_outcome> edit_file(const root& root, std::string_view path,
                                             const text_edit& edit, edit_options options = {});

/// The new content; nothing: the old one stays. The function has to outlive the operation.
using content_maker =
    detail::function_view<result<std::optional<std::string>>(std::string_view content)>;

/// Replaces the content of an existing file by what `make` says, which is asked again where another
/// process has changed the file meanwhile. Returns the resolved path. The budget for memory counts
/// the content three times. Errors: those of `make` and of edit_file.
[[nodiscard]] result<std::string> rewrite_file(const root& root, std::string_view path,
                                               const content_maker& make,
                                               edit_options options = {});

struct moved {
  std::string source;
  std::string destination;
};

struct move_options {
  /// With `data` the moved entry has its old name or its new one; with `full`, the new one.
  paddock::durability durability = paddock::durability::none;
  work_bounds bounds{};
  content_check only_if{}; ///< of the file's content; none: any, and directories and links
  std::uint64_t file_bytes_max = limits{}.edit_file_bytes_max; ///< of a file that is looked at
};

/// Renames a file, link or directory atomically, with its mode as it is; never overwrites. Missing
/// parents of the destination are made. Errors: already_exists, not_found, workspace_root,
/// protected_entry, write_protected, crosses_mount, invalid_argument (into itself), conflict (a
/// command of this process that runs keeps the directory in place), read_only, timed_out,
/// cancelled; with `only_if` also stale, is_a_directory, not_regular, too_large. Not guaranteed
/// then: that no other process changes the file between the look and the move.
[[nodiscard]] result<moved> move_entry(const root& root, std::string_view source,
                                       std::string_view destination, move_options options = {});

struct remove_file_options {
  work_bounds bounds{};
  content_check only_if{}; ///< as in move_options
  std::uint64_t file_bytes_max = limits{}.edit_file_bytes_max;
};

/// Removes a file or a link. Returns the resolved path. Errors: not_found, is_a_directory,
/// read_only, timed_out, cancelled; with `only_if` those that moving has, and conflict (somebody
/// has saved it meanwhile).
[[nodiscard]] result<std::string> remove_file(const root& root, std::string_view path,
                                              const remove_file_options& options = {});

struct file_information {
  std::string path; ///< resolved, relative to the root
  file_status status;
  bool readable = false;
  bool writable = false;
  bool executable = false;
};

/// Metadata of what `path` names, links followed beneath the root. Errors: those of
/// root::open_beneath.
[[nodiscard]] result<file_information> inspect(const root& root, std::string_view path);

} // namespace paddock
