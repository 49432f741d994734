// SPDX-License-Identifier: MIT
#include "history/store_directory.hpp"

#include "file/directory_stream.hpp"
#include "file/replace.hpp"
#include "history/content_sum.hpp"
#include "path/private_directory.hpp"
#include "sys/lock_wait.hpp"
#include "sys/shared_lock.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

namespace paddock::history {
namespace {

constexpr std::string_view head_magic = "paddock history 1\n";
constexpr std::string_view head_magic_any = "paddock history ";
constexpr std::uint64_t lock_wait_ms = 10'000;

detailed_error refused(error_code code, std::string detail) {
  return {{code, 0, "history store"}, std::move(detail)};
}

constexpr std::string_view head_workspace = "\nworkspace ";

} // namespace

std::string name_of_store(const std::string& workspace, const file_status& status) {
  const std::string key =
      workspace + '\0' + std::to_string(status.device) + '\0' + std::to_string(status.inode);
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(sum_of(key)));
  return digits.data();
}

result<store_directory, detailed_error>
store_directory::open(const root& workspace, std::string_view directory, bool serves) {
  PADDOCK_TRY(const private_directory to, open_private_directory(workspace.status(), directory,
                                                                 "the directory of the history"));
  const file_descriptor& all = to.fd;
  const std::string name = name_of_store(workspace.path(), workspace.status()),
                    path = to.path + '/' + name;
  // Who ages stores out may be faster; then there is another one.
  constexpr int tries_max = 100;
  for (int tries = 0; tries < tries_max; ++tries) {
    const auto made = sys::mkdirat(all.get(), name.c_str(), 0700);
    if (!made && made.error().code != error_code::already_exists)
      return detailed_error(made.error(), "no store can be made in " + to.path);
    if (made) sync_names(all.get());
    auto opened = sys::openat(all.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!opened && opened.error().code == error_code::not_found) continue;
    store_directory store;
    PADDOCK_TRY(store.fd_, std::move(opened));
    const auto ready = store.take_up(workspace, path, serves);
    const auto named = sys::status_at(all.get(), name.c_str(), AT_SYMLINK_NOFOLLOW);
    const auto taken = sys::status_at(store.fd_.get(), "");
    if (named && taken && !named->same_object(*taken)) continue;
    if (!named && named.error().code == error_code::not_found) continue;
    if (!ready) return ready.error();
    return store;
  }
  return refused(error_code::conflict, path + " is removed again and again");
}

/// Under the lock, so that of two servers that start at once the second one finds the first.
result<void> store_directory::take_head(bool serves) {
  PADDOCK_TRY(head_, sys::openat(fd_.get(), head_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (sys::try_flock(head_.get()) && serves)
    (void)sys::renameat2(fd_.get(), rules_name, fd_.get(), ended_rules_name, 0); // or it counts
  return sys::try_shared_flock(head_.get());
}

result<void, detailed_error> store_directory::take_up(const root& workspace,
                                                      const std::string& path, bool serves) {
  PADDOCK_TRY(const auto status, sys::status_at(fd_.get(), ""));
  if (status.uid != sys::effective_uid() || (status.mode & 077U) != 0)
    return refused(error_code::denied_by_policy,
                   path + " is not private: it must belong to this user, mode 0700");
  PADDOCK_TRY(lock_,
              sys::openat(fd_.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600));
  PADDOCK_CHECK(lock());
  used_before_ns_ = last_used_ns(fd_.get());
  auto read = read_head(workspace, path);
  if (read) {
    if (const auto use = take_head(serves); !use)
      read = detailed_error(use.error(), "the history cannot be locked");
    (void)sys::set_modified(fd_.get(), head_name, sys::file_clock_ns());
  }
  unlock();
  return read;
}

bool is_whole_head(std::string_view text) noexcept {
  return text.starts_with(head_magic) &&
         text.size() >= head_magic.size() + std::tuple_size_v<content_key>;
}

std::optional<std::string> workspace_in_head(std::string_view text) {
  if (!is_whole_head(text)) return std::nullopt;
  text.remove_prefix(head_magic.size() + std::tuple_size_v<content_key>);
  if (!text.starts_with(head_workspace) || !text.ends_with('\n')) return std::nullopt;
  text.remove_prefix(head_workspace.size());
  if (text.size() < 2 || text.front() != '/') return std::nullopt;
  return std::string(text.substr(0, text.size() - 1));
}

std::int64_t last_used_ns(int directory) {
  const auto head = sys::entry_status_at(directory, head_name);
  if (!head) return 0;
  std::int64_t last = head->modified_ns;
  if (const auto own = sys::status_at(directory, "")) last = std::max(last, own->modified_ns);
  if (const auto journal = sys::entry_status_at(directory, "journal"))
    last = std::max(last, journal->modified_ns);
  return last;
}

result<void, detailed_error> store_directory::read_head(const root& workspace,
                                                        const std::string& path) {
  const auto text = read_store_file(fd_.get(), head_name, head_bytes_max);
  if (!text && text.error().code == error_code::not_found) {
    if (const auto written = write_head(workspace); !written)
      return detailed_error(written.error(), "the history cannot be written");
    return {};
  }
  if (!text) return detailed_error(text.error(), "the history cannot be read");
  if (text->starts_with(head_magic_any) && !text->starts_with(head_magic))
    return refused(error_code::unsupported,
                   "the history was written by a later version of the program: use that one, or "
                   "another directory");
  if (!is_whole_head(*text))
    return refused(error_code::io,
                   "the history is damaged: its file `head` is none; remove " + path);
  std::memcpy(key_.data(), text->data() + head_magic.size(), key_.size());
  return {};
}

result<void> store_directory::write_head(const root& workspace) {
  PADDOCK_CHECK(sys::getrandom(key_));
  std::string text(head_magic);
  text.append(key_.data(), key_.size());
  text.append(head_workspace).append(workspace.path()) += '\n';
  return write_store_file(fd_.get(), head_name, text, true);
}

result<void> store_directory::lock(const work_bounds& bounds) {
  // Who has waited in vain does not wait again: perhaps the other one is stopped for long.
  const auto locked = sys::wait_for_lock(waited_in_vain_ ? 0 : lock_wait_ms, lock_operation, bounds,
                                         [&] { return sys::try_flock(lock_.get()); });
  if (locked || locked.error().os_errno == EAGAIN) waited_in_vain_ = !locked;
  return locked;
}

void store_directory::unlock() const noexcept {
  (void)sys::unlock(lock_.get());
}

result<std::vector<store_file>> store_directory::files() const {
  std::vector<store_file> all;
  PADDOCK_TRY(const auto fd, sys::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY));
  PADDOCK_CHECK(for_each_entry(fd.get(), [&](std::string_view name, unsigned char) {
    const auto status = sys::entry_status_at(fd.get(), name.data());
    all.push_back({std::string(name), status ? status->size : 0});
    return true;
  }));
  return all;
}

std::uint64_t store_directory::bytes() const {
  const auto all = files();
  return all ? bytes_of(*all) : 0;
}

std::uint64_t bytes_of(std::span<const store_file> files) noexcept {
  std::uint64_t all = 0;
  for (const store_file& each : files)
    all += each.bytes;
  return all;
}

result<std::string> read_store_file(int directory, const char* name, std::uint64_t bytes_max) {
  PADDOCK_TRY(const auto fd, sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  PADDOCK_TRY(const auto status, sys::fstat(fd.get()));
  if (status.kind != entry_kind::file) return error{error_code::io, 0, "history store"};
  if (status.size > bytes_max) return error{error_code::too_large, 0, "history store"};
  std::string bytes(status.size, '\0');
  PADDOCK_TRY(const std::size_t size, read_all(fd.get(), bytes, 0));
  bytes.resize(size);
  return bytes;
}

result<void> write_store_file(int directory, const char* name, std::string_view bytes,
                              bool synced) {
  const std::string fresh = std::string(name) + ".new";
  PADDOCK_TRY(const auto fd, sys::openat(directory, fresh.c_str(),
                                         O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  result<void> done = write_all(fd.get(), bytes);
  if (done && synced) done = sys::fdatasync(fd.get());
  if (done) done = sys::renameat2(directory, fresh.c_str(), directory, name, 0);
  if (!done) { // on a full disk it would take room
    (void)sys::unlinkat(directory, fresh.c_str(), 0);
    return done;
  }
  return synced ? sys::fsync(directory) : result<void>();
}

} // namespace paddock::history
