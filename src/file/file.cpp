// SPDX-License-Identifier: MIT
#include "file/attributes.hpp"
#include "file/change_observer.hpp"
#include "file/durable.hpp"
#include "file/replace.hpp"
#include "path/directory_moves.hpp"
#include "path/made_parents.hpp"
#include "sys/syscall.hpp"

#include <paddock/file/file.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr unsigned edit_attempts_max = 8;
/// Read between two looks at the bounds.
constexpr std::size_t read_step_bytes = std::size_t{1024} * 1024;

error file_refusal(error_code code, const char* operation) {
  return {code, 0, operation};
}

/// Memory that will be read into is not cleared first.
template <class T> struct uncleared : std::allocator<T> {
  template <class U> struct rebind { using other = uncleared<U>; };
  template <class U> void construct(U* place) noexcept { ::new (static_cast<void*>(place)) U; }
};
using raw_bytes = std::vector<char, uncleared<char>>;

/// Reads to the end of the file; st_size is only a hint, the file may grow or shrink meanwhile.
template <class Bytes>
result<Bytes> read_to_end(int fd, std::uint64_t size_hint, std::uint64_t bytes_max,
                          const work_bounds& bounds, memory_share& memory) {
  if (size_hint > bytes_max) return file_refusal(error_code::too_large, "read");
  PADDOCK_CHECK(memory.grow(size_hint, bounds));
  constexpr std::size_t step = 64 * 1024;
  Bytes bytes;
  std::size_t used = 0;
  bytes.resize(static_cast<std::size_t>(size_hint) + 1); // one more, to meet the end in one go
  for (;;) {
    if (used == bytes.size()) {
      const std::size_t more = std::max(step, used / 2);
      PADDOCK_CHECK(memory.grow(more, bounds));
      bytes.resize(used + more);
    }
    const std::size_t room = std::min(bytes.size() - used, read_step_bytes);
    PADDOCK_TRY(const auto n, sys::read(fd, std::span(bytes).subspan(used, room)));
    if (n == 0) break;
    used += n;
    if (used > bytes_max) return file_refusal(error_code::too_large, "read");
    if (used >= read_step_bytes) PADDOCK_CHECK(bounds.check());
  }
  bytes.resize(used);
  return bytes;
}

/// The entry at a place, opened for reading; it must be a regular file and not have become
/// something else.
result<opened> open_entry(const place& where, int flags) {
  opened found;
  PADDOCK_TRY(found.fd, sys::openat(where.parent.get(), where.name.c_str(),
                                    flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  PADDOCK_TRY(found.status, sys::status_at(found.fd.get(), ""));
  if (found.status.kind != entry_kind::file) return file_refusal(error_code::conflict, "open");
  return found;
}

/// What writing, appending and editing have in common: the target is a regular file, or nothing
/// yet.
result<void> check_target(const place& where) {
  if (where.existing && where.existing->kind == entry_kind::directory)
    return file_refusal(error_code::is_a_directory, "write");
  if (where.directory)
    return file_refusal(where.existing ? error_code::not_a_directory : error_code::is_a_directory,
                        "write");
  if (where.existing && where.existing->kind != entry_kind::file)
    return file_refusal(error_code::not_regular, "write");
  return check_writable(where);
}

/// Writes at the end of a file, which loses set-user-ID and set-group-ID first: they were given to
/// another content. The kernel takes them away from writers without privileges only; whoever may
/// write a file of somebody else and not change its mode depends on that.
result<void> write_without_set_id_bits(const opened& file, std::string_view bytes,
                                       const work_bounds& bounds) {
  const int fd = file.fd.get();
  if ((file.status.mode & set_id_bits) == 0) return write_all(fd, bytes, bounds);
  if (sys::fchmod(fd, file.status.mode & ~set_id_bits)) return write_all(fd, bytes, bounds);
  PADDOCK_CHECK(write_all(fd, bytes, bounds));
  PADDOCK_TRY(const auto now, sys::fstat(fd));
  if ((now.mode & set_id_bits) != 0) return file_refusal(error_code::permission_denied, "fchmod");
  return {};
}

/// The file at a place, if it has the content that is meant; links and directories have none.
/// Nothing where any content will do.
result<std::optional<file_status>> check_content(const place& where, const content_check& only_if,
                                                 std::uint64_t bytes_max,
                                                 const work_bounds& bounds) {
  if (!only_if) return std::optional<file_status>();
  if (where.existing->kind == entry_kind::directory)
    return file_refusal(error_code::is_a_directory, "look at the content");
  if (where.existing->kind != entry_kind::file)
    return file_refusal(error_code::not_regular, "look at the content");
  PADDOCK_TRY(const opened file, open_entry(where, O_RDONLY));
  memory_share memory;
  PADDOCK_TRY(const auto bytes,
              read_to_end<raw_bytes>(file.fd.get(), file.status.size, bytes_max, bounds, memory));
  if (only_if({bytes.data(), bytes.size()})) return std::optional(file.status);
  return file_refusal(error_code::stale, "look at the content");
}

/// As check_target, for operations on a file that must exist.
result<void> check_existing_target(const place& where) {
  if (!where.existing) return error{error_code::not_found, ENOENT, "open"};
  return check_target(where);
}

/// Truncates the file to its old length on failure.
result<void> write_observed(const place& where, const opened& file, std::string_view bytes,
                            const work_bounds& bounds) {
  const displaced_entry there{where.parent.get(), where.name.c_str(), &file.status};
  report_change(where.path, there, file.status); // the content is still there
  auto written = write_without_set_id_bits(file, bytes, bounds);
  if (!written) (void)sys::ftruncate(file.fd.get(), file.status.size).has_value();
  if (!is_observed()) return written;
  const auto now = sys::fstat(file.fd.get());
  report_change(where.path, there, now ? *now : file.status);
  return written;
}

} // namespace

result<file_content> read_file(const root& root, std::string_view path, read_options options) {
  PADDOCK_TRY(auto file, root.open_beneath(path, access::read));
  memory_share memory;
  PADDOCK_TRY(auto bytes, read_to_end<std::string>(file.fd.get(), file.status.size,
                                                   options.bytes_max, options.bounds, memory));
  return file_content{std::move(bytes), std::move(file.path), file.status, std::move(memory)};
}

result<file_content> read_prefix(const root& root, std::string_view path, std::size_t bytes) {
  PADDOCK_TRY(auto file, root.open_beneath(path, access::read));
  std::string prefix(bytes, '\0');
  std::size_t used = 0;
  while (used < bytes) {
    PADDOCK_TRY(const auto n, sys::read(file.fd.get(), std::span(prefix).subspan(used)));
    if (n == 0) break;
    used += n;
  }
  prefix.resize(used);
  return file_content{std::move(prefix), std::move(file.path), file.status, {}};
}

namespace {

result<place> locate_new(const root& root, std::string_view path, const write_options& options) {
  PADDOCK_TRY(const auto lock, lock_part_of_repository(root, path, options.bounds));
  return root.locate(path, final_link::follow, options.missing);
}

} // namespace

result<std::string> write_file(const root& root, std::string_view path, std::string_view bytes,
                               write_options options) {
  PADDOCK_TRY(place where, locate_new(root, path, options));
  made_parents fresh(root, where);
  PADDOCK_TRY(const auto lock, lock_content(root, where.path, options.bounds));
  PADDOCK_CHECK(check_still_changeable(root, where, purpose::change));
  PADDOCK_CHECK(check_target(where));
  if (options.durability == durability::full) PADDOCK_CHECK(sync_made_parents(root, where));
  PADDOCK_CHECK(replace_content(where, std::array{bytes}, options.durability, options.bounds));
  fresh.keep();
  return std::move(where.path);
}

result<std::string> append_file(const root& root, std::string_view path, std::string_view bytes,
                                write_options options) {
  // Kept for the next attempt: nobody who takes it, too, can replace the file before that.
  std::optional<content_lock> lock;
  std::string locked;
  for (unsigned attempt = 0; attempt < edit_attempts_max; ++attempt) {
    PADDOCK_TRY(const place where, root.locate(path, final_link::follow));
    if (!lock || locked != where.path) {
      lock.reset();
      PADDOCK_TRY(lock, lock_content(root, where.path, options.bounds));
      locked = where.path;
    }
    PADDOCK_CHECK(check_existing_target(where));
    PADDOCK_TRY(auto file, root.open_beneath(where.path, access::append));
    if (!file.status.same_object(*where.existing) || file.status.links == 0)
      continue; // replaced between the look and the open
    PADDOCK_TRY(const auto directory, open_for_sync(where.parent.get(), options.durability));
    const auto written = write_observed(where, file, bytes, options.bounds);
    if (!written) return written.error();
    PADDOCK_CHECK(sync_file(file.fd.get(), options.durability));
    PADDOCK_CHECK(sync_directory(directory));
    return std::move(file.path);
  }
  return file_refusal(error_code::conflict, "append");
}

namespace {

/// What becomes of a content: the new one in parts, or nothing.
using content_parts = std::vector<std::string_view>;

/// Reads a file and replaces its content by the parts that `plan` makes of it, again from the start
/// where another process was faster. Returns the resolved path.
template <class Plan>
result<std::string> change_content(const root& root, std::string_view path,
                                   const edit_options& options, std::uint64_t copies,
                                   const Plan& plan) {
  for (unsigned attempt = 0; attempt < edit_attempts_max; ++attempt) {
    PADDOCK_TRY(place where, root.locate(path, final_link::follow));
    PADDOCK_TRY(const auto lock, lock_content(root, where.path, options.bounds));
    PADDOCK_CHECK(check_existing_target(where));
    auto file = open_entry(where, O_RDONLY);
    if (!file && (file.error().code == error_code::conflict ||
                  file.error().code == error_code::symlink_loop ||
                  file.error().code == error_code::not_found))
      continue;
    if (!file) return file.error();
    memory_share memory;
    PADDOCK_TRY(const auto bytes,
                read_to_end<raw_bytes>(file->fd.get(), file->status.size, options.file_bytes_max,
                                       options.bounds, memory));
    PADDOCK_CHECK(memory.grow(copies * bytes.size(), options.bounds));
    const std::string_view content(bytes.data(), bytes.size());
    if (options.only_if && !options.only_if(content))
      return file_refusal(error_code::stale, "edit");
    PADDOCK_TRY(const content_parts parts, plan(content));
    if (parts.empty()) return std::move(where.path);
    where.existing = file->status;
    auto replaced =
        replace_content(where, parts, options.durability, options.bounds, &file->status);
    if (!replaced && replaced.error().code == error_code::conflict) continue;
    if (!replaced) return replaced.error();
    return std::move(where.path);
  }
  return file_refusal(error_code::conflict, "edit");
}

} // namespace

result<edit_outcome> edit_file(const root& root, std::string_view path, const text_edit& edit,
                               edit_options options) {
  edit_plan plan;
  const auto make_plan = [&](std::string_view content) -> result<content_parts> {
    auto made = plan_edit(content, edit, [&] { return options.bounds.check().has_value(); });
    if (!made && made.error().code == error_code::cancelled) PADDOCK_CHECK(options.bounds.check());
    PADDOCK_TRY(plan, std::move(made));
    return content_parts{content.substr(0, plan.offset), plan.replacement,
                         content.substr(plan.offset + plan.size)};
  };
  PADDOCK_TRY(std::string changed, change_content(root, path, options, 0, make_plan));
  return edit_outcome{std::move(changed), plan.occurrences, plan.line_index};
}

result<std::string> rewrite_file(const root& root, std::string_view path, const content_maker& make,
                                 edit_options options) {
  std::optional<std::string> made;
  const auto plan = [&](std::string_view content) -> result<content_parts> {
    PADDOCK_TRY(made, make(content));
    return made ? content_parts{*made} : content_parts{};
  };
  return change_content(root, path, options, 2, plan);
}

namespace {

/// File systems without RENAME_NOREPLACE: a hard link never overwrites, so files can be moved in
/// two steps.
result<void> move_by_link(const place& from, const place& to) {
  if (from.existing->kind == entry_kind::directory)
    return error{error_code::unsupported, EINVAL, "renameat2"};
  PADDOCK_CHECK(
      sys::linkat(from.parent.get(), from.name.c_str(), to.parent.get(), to.name.c_str(), 0));
  return sys::unlinkat(from.parent.get(), from.name.c_str(), 0);
}

/// `meant`: the entry under the old name before the rename. If another entry has the new name now,
/// it was put under either name meanwhile, and nothing certain can be reported.
void report_moved(const std::string& from, const place& to, const file_status& there,
                  const result<file_status>& meant) {
  if (!meant || !meant->same_object(there)) return report_unknown_change(from);
  report_change(from, {to.parent.get(), to.name.c_str(), &there}, std::nullopt);
  report_change(to.path, {}, there);
}

} // namespace

result<moved> move_entry(const root& root, std::string_view source, std::string_view destination,
                         move_options options) {
  PADDOCK_TRY(place from, root.locate(source, final_link::keep));
  if (!from.existing) return error{error_code::not_found, ENOENT, "move"};
  const bool directory = from.existing->kind == entry_kind::directory;
  if (from.directory && !directory) return file_refusal(error_code::not_a_directory, "move");
  PADDOCK_CHECK(check_writable(from));
  PADDOCK_TRY(place to, root.locate(destination, final_link::keep, parents::create));
  made_parents fresh(root, to);
  if (to.existing) return error{error_code::already_exists, EEXIST, "move"};
  if (to.directory && !directory) return file_refusal(error_code::not_a_directory, "move");
  PADDOCK_CHECK(root.check_movable(from, to));

  // What is moved must not be found in a directory that is not there.
  if (options.durability != durability::none) PADDOCK_CHECK(sync_made_parents(root, to));
  PADDOCK_TRY(const auto old_home, open_for_sync(from.parent.get(), options.durability));
  PADDOCK_TRY(const auto new_home, open_for_sync(to.parent.get(), options.durability));

  // An edit of it must not bring the old name back.
  PADDOCK_TRY(const auto locks,
              lock_contents(root, std::array{from.path, to.path}, options.bounds));
  PADDOCK_CHECK(check_still_changeable(root, to, purpose::change));
  PADDOCK_CHECK(check_content(from, options.only_if, options.file_bytes_max, options.bounds));
  std::optional<directory_move> alone;
  if (directory) {
    PADDOCK_TRY(alone, directory_move::begin("move"));
    PADDOCK_CHECK(alone->check(root.status(), from.path));
    PADDOCK_CHECK(root.check_movable(from, to));
  }
  const auto meant = is_observed()
                         ? sys::status_at(from.parent.get(), from.name.c_str(), AT_SYMLINK_NOFOLLOW)
                         : *from.existing;
  auto done = sys::renameat2(from.parent.get(), from.name.c_str(), to.parent.get(), to.name.c_str(),
                             RENAME_NOREPLACE);
  if (!done && done.error().os_errno == EINVAL) {
    if (directory && to.path.starts_with(from.path + '/'))
      return error{error_code::invalid_argument, EINVAL, "move into itself"};
    done = move_by_link(from, to);
  }
  if (!done) return done.error();
  const auto there = sys::status_at(to.parent.get(), to.name.c_str(), AT_SYMLINK_NOFOLLOW);
  // An edit may have replaced a file; anything else was looked at with its contents.
  const bool is_file = there && there->kind == entry_kind::file;
  const bool is_this = there && there->kind == from.existing->kind &&
                       (is_file || there->same_object(*from.existing));
  if (there && !is_this) { // exchanged just now
    (void)sys::renameat2(to.parent.get(), to.name.c_str(), from.parent.get(), from.name.c_str(),
                         RENAME_NOREPLACE)
        .has_value();
    return file_refusal(error_code::conflict, "move");
  }
  if (directory)
    report_moved_directory(from.path, to.path);
  else if (there)
    report_moved(from.path, to, *there, meant);
  fresh.keep();
  PADDOCK_CHECK(sync_directory(new_home));
  PADDOCK_CHECK(sync_directory(old_home));
  return moved{std::move(from.path), std::move(to.path)};
}

result<std::string> remove_file(const root& root, std::string_view path,
                                const remove_file_options& options) {
  PADDOCK_TRY(place where, root.locate(path, final_link::keep));
  if (!where.existing) return error{error_code::not_found, ENOENT, "remove"};
  if (where.existing->kind == entry_kind::directory)
    return file_refusal(error_code::is_a_directory, "remove");
  if (where.directory) return file_refusal(error_code::not_a_directory, "remove");
  PADDOCK_CHECK(check_writable(where));
  PADDOCK_TRY(const auto lock, lock_content(root, where.path, options.bounds));
  PADDOCK_TRY(const auto seen,
              check_content(where, options.only_if, options.file_bytes_max, options.bounds));
  PADDOCK_CHECK(
      unlink_reported(where.parent.get(), where.name.c_str(), where.path, seen ? &*seen : nullptr));
  return std::move(where.path);
}

result<file_information> inspect(const root& root, std::string_view path) {
  PADDOCK_TRY(auto found, root.open_beneath(path, access::inspect));
  const int fd = found.fd.get();
  file_information info;
  info.path = std::move(found.path);
  info.status = found.status;
  info.readable = sys::faccessat(fd, "", R_OK).has_value();
  info.writable = (found.status.mode & 0222U) != 0 && sys::faccessat(fd, "", W_OK).has_value();
  info.executable = (found.status.mode & 0111U) != 0 && sys::faccessat(fd, "", X_OK).has_value();
  return info;
}

} // namespace paddock
