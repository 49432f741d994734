// SPDX-License-Identifier: MIT
#pragma once

// Atomic replace: a temporary file beside the target, renamed over it. Shared by everything that
// changes content.

#include <paddock/base/work_bounds.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

/// Whoever changes the content at one place, or takes the entry away, holds this lock, so that no
/// change is lost: within this process, and among those that share the root's lock file. Whoever
/// needs several takes them at once.
class content_lock {
public:
  struct stripe;
  /// `shared_fd`: the root's lock file, which outlives the lock; -1: only this process is kept out.
  content_lock(stripe& held, int shared_fd) noexcept : held_(&held), shared_fd_(shared_fd) {}
  content_lock(content_lock&& other) noexcept
      : held_(std::exchange(other.held_, nullptr)), shared_fd_(other.shared_fd_),
        bytes_(std::move(other.bytes_)) {}
  content_lock& operator=(content_lock&& other) noexcept {
    std::swap(held_, other.held_);
    std::swap(shared_fd_, other.shared_fd_);
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~content_lock();
  /// Keeps other processes out, too, by a byte of the lock file. Errors: as lock_content.
  [[nodiscard]] result<void> lock_byte(std::uint64_t at, const work_bounds& bounds);

private:
  stripe* held_;
  int shared_fd_;
  std::vector<std::uint64_t> bytes_{}; ///< that are locked
};
/// Waits for others as long as the bounds allow, and for another process at most five seconds.
/// Errors: timed_out, cancelled; conflict of `content_lock_operation`: another process has the lock
/// all that time.
[[nodiscard]] result<content_lock> lock_content(const root& root, std::string_view resolved,
                                                const work_bounds& bounds);

/// Of a path with a part by which git would tell a repository, or that git obeys in one: the lock
/// of all such places, to be taken before the rules are asked, because one more of them may make a
/// repository of a directory. Nothing for any other path. Errors: as lock_content.
[[nodiscard]] result<std::optional<content_lock>>
lock_part_of_repository(const root& root, std::string_view path, const work_bounds& bounds);
/// The rules once more, of the directory that was found before the lock was there. Errors:
/// write_protected.
[[nodiscard]] result<void> check_still_changeable(const root& root, const place& where,
                                                  purpose wanted);
/// The locks of several places. Errors: as lock_content.
[[nodiscard]] result<std::vector<content_lock>>
lock_contents(const root& root, std::span<const std::string> resolved, const work_bounds& bounds);

/// Whether the entry may be changed: some write bit is set and the kernel agrees. Errors:
/// read_only.
[[nodiscard]] result<void> check_writable(const place& where);

/// Writes `parts` one after the other as the whole content of the place. With `expected`, the entry
/// must still be that very object with that content when the rename happens. What replaces a file
/// takes over its attributes (attributes.hpp). Errors: conflict, no_space, permission_denied,
/// read_only, timed_out, cancelled, io. After an error the old content is whole and no temporary
/// file is left.
[[nodiscard]] result<void> replace_content(const place& where,
                                           std::span<const std::string_view> parts,
                                           paddock::durability durability,
                                           const work_bounds& bounds,
                                           const file_status* expected = nullptr);

/// Whether two looks saw the same object with the same content.
[[nodiscard]] bool same_content(const file_status& a, const file_status& b);

/// Fills it from the offset on, as far as the file goes, however little the kernel gives at a time:
/// how much that is.
[[nodiscard]] result<std::size_t> read_all(int fd, std::span<char> into, std::uint64_t offset);

/// Writes everything, however little the kernel takes at a time.
[[nodiscard]] result<void> write_all(int fd, std::string_view bytes,
                                     const work_bounds& bounds = {});

} // namespace paddock
