// SPDX-License-Identifier: MIT
#include "file/replace.hpp"

#include "file/attributes.hpp"
#include "file/change_observer.hpp"
#include "file/durable.hpp"
#include "file/leftover.hpp"
#include "path/entry_lookup.hpp"
#include "path/git_names.hpp"
#include "path/name_folding.hpp"
#include "sys/lock_wait.hpp"
#include "sys/shared_lock.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock {
namespace {

/// A few of these are written between two looks at the bounds.
constexpr std::size_t written_piece_bytes = std::size_t{512} * 1024;

/// The parts in pieces of at most written_piece_bytes.
std::vector<iovec> pieces_of(std::span<const std::string_view> parts) {
  std::vector<iovec> pieces;
  for (const auto part : parts)
    for (std::size_t at = 0; at < part.size(); at += written_piece_bytes)
      // writev does not write to the parts; iovec has no const.
      pieces.push_back({const_cast<char*>(part.data() + at), // NOLINT
                        std::min(written_piece_bytes, part.size() - at)});
  return pieces;
}

result<void> write_parts(int fd, std::span<const std::string_view> parts,
                         const work_bounds& bounds) {
  std::vector<iovec> rest = pieces_of(parts);
  constexpr std::ptrdiff_t at_once_max = 3; // what a small edit consists of
  auto next = rest.begin();
  while (next != rest.end()) {
    if (next != rest.begin()) PADDOCK_CHECK(bounds.check());
    const auto end = next + std::min(at_once_max, rest.end() - next);
    PADDOCK_TRY(std::size_t n, sys::writev(fd, {next, end}));
    if (n == 0) return sys::failure(ENOSPC, "writev");
    while (next != rest.end() && n >= next->iov_len)
      n -= (next++)->iov_len;
    if (n > 0) {
      next->iov_base = static_cast<char*>(next->iov_base) + n;
      next->iov_len -= n;
    }
  }
  return {};
}

/// The file that will take the place. Where the file system allows it, it has no name until it is
/// complete, so that a killed process leaves nothing of it.
class replacement {
public:
  explicit replacement(const place& where) : where_(where) {}
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;
  ~replacement() { drop(); }

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool is_nameless() const noexcept { return !name_ && !placed_; }

  result<void> make() {
    auto fd = sys::openat(parent(), ".", O_WRONLY | O_TMPFILE | O_NOCTTY, mode());
    if (!fd) return make_named();
    fd_ = *std::move(fd);
    return {};
  }

  result<void> make_named() {
    PADDOCK_CHECK(choose_name());
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY;
    auto fd = sys::openat(parent(), name_->c_str(), flags, mode());
    if (!fd) forget_name();
    PADDOCK_TRY(fd_, std::move(fd));
    return {};
  }

  /// With `expected`: a conflict if another entry is there, where the file system can exchange.
  result<void> put_in_place(const file_status* expected) {
    if (is_nameless() && !where_.existing) {
      const auto linked = sys::link_nameless(fd_.get(), parent(), where_.name.c_str());
      if (linked) {
        placed_ = true;
        report({});
      }
      if (linked || linked.error().code != error_code::already_exists) return linked;
      // Somebody has made the entry meanwhile: it is replaced like any other.
    }
    if (!name_) {
      PADDOCK_CHECK(choose_name());
      auto linked = sys::link_nameless(fd_.get(), parent(), name_->c_str());
      if (!linked) forget_name();
      PADDOCK_CHECK(std::move(linked));
    }
    if (is_observed() || expected != nullptr) return exchange(expected);
    PADDOCK_CHECK(rename(0));
    placed_ = true;
    return {};
  }

private:
  [[nodiscard]] int parent() const noexcept { return where_.parent.get(); }
  [[nodiscard]] result<void> rename(unsigned how) const {
    return sys::renameat2(parent(), name_->c_str(), parent(), where_.name.c_str(), how);
  }
  void report(const displaced_entry& before) const {
    if (!is_observed()) return;
    if (const auto status = sys::fstat(fd_.get()))
      report_change(where_.path, before, *status);
    else
      report_unknown_change(where_.path);
  }

  /// Exchanges the two names: then the observers see exactly the replaced entry.
  result<void> exchange(const file_status* expected) {
    constexpr unsigned attempts_max = 3; // the entry may come and go
    for (unsigned attempt = 0; attempt < attempts_max; ++attempt) {
      const auto swapped = rename(RENAME_EXCHANGE);
      if (swapped) return take_displaced(expected);
      const int why = swapped.error().os_errno;
      if (why == EINVAL || why == ENOSYS) {
        report({parent(), where_.name.c_str()});
        PADDOCK_CHECK(rename(0));
        placed_ = true;
        return {};
      }
      if (why != ENOENT) return swapped;
      if (expected != nullptr) break;
      const auto placed = rename(RENAME_NOREPLACE);
      if (placed) {
        placed_ = true;
        report({});
      }
      if (placed || placed.error().code != error_code::already_exists) return placed;
    }
    return error{error_code::conflict, 0, "replace"};
  }
  /// Where that fails twice, the next change of this directory tries again.
  void remove_displaced() {
    const auto remove = [&] { return sys::unlinkat(parent(), name_->c_str(), 0).has_value(); };
    if (remove() || remove()) return;
    if (auto old = sys::openat(parent(), name_->c_str(), O_PATH | O_NOFOLLOW))
      remember(parent(), {.name = *name_, .made = *std::move(old)});
  }
  /// What has the temporary name by now may be somebody's: it stays there, as a loss is worse.
  error leave_aside(const error& why) {
    placed_ = true;
    report_unknown_change(where_.path);
    return why;
  }
  result<void> take_displaced(const file_status* expected) {
    const auto status = sys::status_at(parent(), name_->c_str(), AT_SYMLINK_NOFOLLOW);
    const bool is_directory = status && status->kind == entry_kind::directory;
    const bool is_other =
        expected != nullptr && (!status || !same_but_for_name(*status, *expected));
    if (!is_directory && !is_other) {
      placed_ = true;
      report({parent(), name_->c_str()});
      remove_displaced();
      return {};
    }
    const auto back = rename(RENAME_EXCHANGE);
    if (!back && !status) { // nothing works: the new content is there, and the old one aside
      placed_ = true;
      report_unknown_change(where_.path);
      return {};
    }
    if (!back) return leave_aside(back.error());
    const auto own = sys::fstat(fd_.get());
    const auto theirs = sys::status_at(parent(), name_->c_str(), AT_SYMLINK_NOFOLLOW);
    // Somebody has saved over the new content meanwhile: keep their file.
    if (!own || !theirs) return leave_aside((own ? theirs : own).error());
    if (!own->same_object(*theirs))
      if (const auto again = rename(RENAME_EXCHANGE); !again) return leave_aside(again.error());
    return error{is_directory ? error_code::is_a_directory : error_code::conflict, 0, "replace"};
  }

  /// What replaces another file stays private until it has the other's mode.
  [[nodiscard]] unsigned mode() const noexcept { return where_.existing ? 0600 : 0666; }

  result<void> choose_name() {
    PADDOCK_TRY(const component name, unused_name(temporary_prefix));
    name_ = name;
    in_use_.emplace(name);
    return {};
  }
  void forget_name() {
    in_use_.reset();
    name_.reset();
  }
  void drop() {
    if (placed_ || !name_) return;
    if (!sys::unlinkat(parent(), name_->c_str(), 0))
      remember(parent(), {.name = *name_, .made = std::move(fd_)});
  }

  const place& where_;
  file_descriptor fd_;
  std::optional<component> name_;
  std::optional<name_in_use> in_use_; // ends after the name has gone
  bool placed_ = false;
};

/// Content and attributes.
result<void> fill(int fd, const place& where, std::span<const std::string_view> parts,
                  paddock::durability durability, const work_bounds& bounds) {
  PADDOCK_CHECK(write_parts(fd, parts, bounds));
  if (where.existing) PADDOCK_CHECK(take_over_attributes(fd, where));
  return sync_file(fd, durability);
}

} // namespace

bool same_content(const file_status& a, const file_status& b) {
  return same_but_for_name(a, b) && a.changed_ns == b.changed_ns;
}

/// A mutex that can be waited for with an eye on other things.
struct content_lock::stripe {
  std::mutex guard;
  std::condition_variable freed;
  bool held = false;
};

content_lock::~content_lock() {
  if (held_ == nullptr) return;
  for (const std::uint64_t at : bytes_)
    (void)sys::unlock_byte(shared_fd_, at);
  {
    const std::lock_guard lock(held_->guard);
    held_->held = false;
  }
  held_->freed.notify_one();
}

namespace {

// One lock for many files is fine within a process: it is held for one operation.
constexpr std::size_t stripes = 64;

/// What to lock for a content: the same in every process. A byte of its own in the lock file, for
/// servers of other workspaces share that file, and one of them may edit a large file for seconds.
struct lock_number {
  std::size_t stripe;
  std::uint64_t byte;
  auto operator<=>(const lock_number&) const = default;
};

bool has_part_of_repository(std::string_view path) {
  for (auto part = next_component(path); !part.empty(); part = next_component(path)) {
    const auto is_this = [&](std::string_view name) { return same_folded(part, name); };
    if (std::ranges::any_of(git_marks, is_this) || std::ranges::any_of(git_obeyed, is_this))
      return true;
  }
  return false;
}

lock_number lock_number_of(const root& root, std::string_view resolved) {
  if (has_part_of_repository(resolved)) resolved = {}; // all of them have one
  std::uint64_t sum = 0xcbf2'9ce4'8422'2325;           // FNV-1a
  for (const char each : root.absolute(resolved))
    sum = (sum ^ static_cast<unsigned char>(each)) * 0x100'0000'01b3;
  return {.stripe = (sum ^ (sum >> 32U)) % stripes, .byte = sum >> 2U}; // off_t is signed
}

result<content_lock> lock_stripe(const root& root, std::size_t number, const work_bounds& bounds) {
  constexpr std::chrono::milliseconds look{50};
  static std::array<content_lock::stripe, stripes> all;
  auto& wanted = all[number]; // NOLINT: the index is in range
  std::unique_lock lock(wanted.guard);
  const auto free = [&] { return !wanted.held; };
  if (!bounds.is_bounded()) wanted.freed.wait(lock, free);
  while (!wanted.freed.wait_for(lock, look, free))
    PADDOCK_CHECK(bounds.check());
  wanted.held = true;
  lock.unlock(); // it is this thread's by now
  return content_lock(wanted, root.lock_descriptor());
}

} // namespace

/// Others hold it for as long as one change takes; who holds it longer is stopped, or means harm.
result<void> content_lock::lock_byte(std::uint64_t at, const work_bounds& bounds) {
  constexpr std::uint64_t wait_ms_max = 5'000;
  if (shared_fd_ < 0) return {};
  return sys::wait_for_lock(wait_ms_max, content_lock_operation, bounds, [&]() -> result<void> {
    const auto locked = sys::try_lock_byte(shared_fd_, at);
    if (locked) bytes_.push_back(at);
    // A file system without such locks keeps nobody from work.
    return locked || locked.error().os_errno != EAGAIN ? result<void>() : locked;
  });
}

result<std::optional<content_lock>> lock_part_of_repository(const root& root, std::string_view path,
                                                            const work_bounds& bounds) {
  if (!has_part_of_repository(path)) return std::optional<content_lock>();
  PADDOCK_TRY(auto lock, lock_content(root, path, bounds));
  return std::optional(std::move(lock));
}

result<void> check_still_changeable(const root& root, const place& where, purpose wanted) {
  return root.check_changeable(where.path, wanted,
                               lookup_from(where.parent.get(), parent(where.path)));
}

result<content_lock> lock_content(const root& root, std::string_view resolved,
                                  const work_bounds& bounds) {
  const lock_number number = lock_number_of(root, resolved);
  PADDOCK_TRY(auto lock, lock_stripe(root, number.stripe, bounds));
  PADDOCK_CHECK(lock.lock_byte(number.byte, bounds));
  return lock;
}

result<std::vector<content_lock>>
lock_contents(const root& root, std::span<const std::string> resolved, const work_bounds& bounds) {
  std::set<lock_number> numbers; // in one order for everybody, or two would wait for each other
  for (const std::string& path : resolved)
    numbers.insert(lock_number_of(root, path));
  std::vector<content_lock> held;
  std::size_t last = stripes;
  for (const lock_number& number : numbers) {
    if (number.stripe != last) {
      PADDOCK_TRY(auto lock, lock_stripe(root, number.stripe, bounds));
      held.push_back(std::move(lock));
      last = number.stripe;
    }
    PADDOCK_CHECK(held.back().lock_byte(number.byte, bounds));
  }
  return held;
}

result<void> check_writable(const place& where) {
  if (!where.existing || where.existing->kind == entry_kind::symlink) return {};
  constexpr unsigned any_write_bit = 0222;
  if ((where.existing->mode & any_write_bit) == 0) return error{error_code::read_only, 0, "mode"};
  auto allowed = sys::faccessat(where.parent.get(), where.name.c_str(), W_OK);
  const int failed = allowed ? 0 : allowed.error().os_errno;
  if (failed == ENOENT) return allowed; // somebody has taken it away meanwhile
  if (failed != 0 && failed != ENOSYS) return error{error_code::read_only, failed, "faccessat2"};
  return {};
}

result<std::size_t> read_all(int fd, std::span<char> into, std::uint64_t offset) {
  std::size_t used = 0;
  while (used < into.size()) {
    PADDOCK_TRY(const auto n, sys::pread(fd, into.subspan(used), offset + used));
    if (n == 0) break;
    used += n;
  }
  return used;
}

result<void> write_all(int fd, std::string_view bytes, const work_bounds& bounds) {
  return write_parts(fd, std::array{bytes}, bounds);
}

result<void> replace_content(const place& where, std::span<const std::string_view> parts,
                             paddock::durability durability, const work_bounds& bounds,
                             const file_status* expected) {
  const int parent = where.parent.get();
  for (auto& own : take_remembered(parent))
    if (!sys::unlinkat(parent, own.name.c_str(), 0)) remember(parent, std::move(own));
  replacement fresh(where);
  PADDOCK_CHECK(fresh.make());
  PADDOCK_CHECK(fill(fresh.fd(), where, parts, durability, bounds));
  PADDOCK_TRY(const file_descriptor directory, open_for_sync(parent, durability));
  const auto put_in_place = [&]() -> result<void> {
    if (expected != nullptr) {
      const auto now = sys::status_at(parent, where.name.c_str(), AT_SYMLINK_NOFOLLOW);
      if (!now || !same_content(*now, *expected)) return error{error_code::conflict, 0, "replace"};
    }
    return fresh.put_in_place(expected);
  };
  auto placed = put_in_place();
  if (!placed && placed.error().code != error_code::conflict && fresh.is_nameless()) {
    // Without /proc, and on some file systems, it cannot be given a name.
    PADDOCK_CHECK(fresh.make_named());
    PADDOCK_CHECK(fill(fresh.fd(), where, parts, durability, bounds));
    placed = put_in_place();
  }
  PADDOCK_CHECK(std::move(placed));
  return sync_directory(directory);
}

} // namespace paddock
