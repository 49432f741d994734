// SPDX-License-Identifier: MIT
#include "exec/broker/attribute_broker.hpp"

#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace paddock {
namespace {

constexpr std::uint32_t set_id_bits = 06000, permission_bits = 07777;
constexpr std::uint32_t as_it_is = 0xffff'ffff;
constexpr std::uint64_t attribute_bytes_max = 64UL * 1024;
constexpr long fchmodat2_number = 452;

enum class what : std::uint8_t { mode, owner, times, set_attribute, remove_attribute, size };
enum class time_form : std::uint8_t { seconds, microseconds, nanoseconds };
constexpr int none = -1; ///< the call has no such argument

/// Which arguments of a call are what.
struct form {
  long number;
  what does;
  int directory; ///< or the file itself, where there is no path
  int path;
  int flags; ///< AT_*
  int value; ///< the first that says what to set
  bool follow = true;
  time_form times = time_form::nanoseconds;
};

constexpr form forms[] = {
#ifdef SYS_chmod
    {SYS_chmod, what::mode, none, 0, none, 1},
    {SYS_chown, what::owner, none, 0, none, 1},
    {SYS_lchown, what::owner, none, 0, none, 1, false},
    {SYS_utime, what::times, none, 0, none, 1, true, time_form::seconds},
    {SYS_utimes, what::times, none, 0, none, 1, true, time_form::microseconds},
    {SYS_futimesat, what::times, 0, 1, none, 2, true, time_form::microseconds},
#endif
    {SYS_fchmod, what::mode, 0, none, none, 1},
    {SYS_fchmodat, what::mode, 0, 1, none, 2},
    {fchmodat2_number, what::mode, 0, 1, 3, 2},
    {SYS_fchown, what::owner, 0, none, none, 1},
    {SYS_fchownat, what::owner, 0, 1, 4, 2},
    {SYS_utimensat, what::times, 0, 1, 3, 2},
    {SYS_setxattr, what::set_attribute, none, 0, none, 1},
    {SYS_lsetxattr, what::set_attribute, none, 0, none, 1, false},
    {SYS_fsetxattr, what::set_attribute, 0, none, none, 1},
    {SYS_removexattr, what::remove_attribute, none, 0, none, 1},
    {SYS_lremovexattr, what::remove_attribute, none, 0, none, 1, false},
    {SYS_fremovexattr, what::remove_attribute, 0, none, none, 1},
    {SYS_truncate, what::size, none, 0, none, 1},
};

std::uint64_t argument(const sys::filtered_call& call, int index) {
  return call.arguments.at(static_cast<std::size_t>(index));
}
std::uint32_t number_at(const sys::filtered_call& call, int index) {
  return static_cast<std::uint32_t>(argument(call, index));
}

/// That a path says, as the C library does to change a mode without following a link.
std::optional<int> descriptor_of(std::string_view path) {
  constexpr std::string_view own = "/proc/self/fd/";
  int fd = 0;
  if (!path.starts_with(own)) return std::nullopt;
  path.remove_prefix(own.size());
  const auto [end, failed] = std::from_chars(path.data(), path.data() + path.size(), fd);
  if (failed != std::errc() || end != path.data() + path.size() || fd < 0) return std::nullopt;
  return fd;
}

/// What the call is about, as its caller sees it, by a descriptor for its place alone. No path
/// leads through /proc/self here, which would be this process.
result<file_descriptor> find_place(const sys::filtered_call& call, const form& of) {
  const int directory =
      of.directory == none ? AT_FDCWD : static_cast<int>(number_at(call, of.directory));
  const std::uint32_t flags = of.flags == none ? 0 : number_at(call, of.flags);
  const std::uint64_t address = of.path == none ? 0 : argument(call, of.path);
  if (address == 0) {
    if (directory == AT_FDCWD) return error{error_code::invalid_argument, EFAULT, "path"};
    return sys::place_of_caller(call, directory);
  }
  PADDOCK_TRY(const std::string path, sys::text_of_caller(call, address, PATH_MAX));
  if (path.empty() && (flags & AT_EMPTY_PATH) != 0) return sys::place_of_caller(call, directory);
  if (const auto own = descriptor_of(path)) return sys::place_of_caller(call, *own);
  file_descriptor base;
  if (!path.starts_with('/')) {
    PADDOCK_TRY(base, sys::place_of_caller(call, directory));
  }
  const bool follow = of.follow && (flags & AT_SYMLINK_NOFOLLOW) == 0;
  const std::uint64_t how = O_PATH | O_CLOEXEC | (follow ? 0U : O_NOFOLLOW);
  return sys::openat2(base ? base.get() : AT_FDCWD, path.c_str(), how, 0, RESOLVE_NO_MAGICLINKS);
}

result<sys::file_times> times_of(const sys::filtered_call& call, const form& of) {
  const std::uint64_t address = argument(call, of.value);
  if (address == 0) return sys::file_times{.nanoseconds = {UTIME_NOW, UTIME_NOW}};
  std::int64_t given[4] = {};
  const std::size_t bytes = of.times == time_form::seconds ? 2 * sizeof *given : sizeof given;
  PADDOCK_CHECK(sys::read_of_caller(call, address, {reinterpret_cast<char*>(given), bytes}));
  if (of.times == time_form::seconds) return sys::file_times{.seconds = {given[0], given[1]}};
  sys::file_times times{.seconds = {given[0], given[2]}, .nanoseconds = {given[1], given[3]}};
  if (of.times == time_form::nanoseconds) return times;
  constexpr std::int64_t million = 1'000'000;
  for (std::int64_t& each : times.nanoseconds) {
    if (each < 0 || each >= million) return error{error_code::invalid_argument, EINVAL, "times"};
    each *= 1'000;
  }
  return times;
}

/// Only attributes of users: the others belong to the system.
result<std::string> attribute_name(const sys::filtered_call& call, const form& of) {
  PADDOCK_TRY(std::string name,
              sys::text_of_caller(call, argument(call, of.value), XATTR_NAME_MAX + 1));
  if (!name.starts_with("user.")) return error{error_code::unsupported, EOPNOTSUPP, "attribute"};
  return name;
}

result<std::string> attribute_value(const sys::filtered_call& call, const form& of) {
  const std::uint64_t size = argument(call, of.value + 2);
  if (size > attribute_bytes_max) return error{error_code::too_large, E2BIG, "attribute"};
  std::string value(size, '\0');
  if (size != 0) PADDOCK_CHECK(sys::read_of_caller(call, argument(call, of.value + 1), value));
  return value;
}

/// All that is read of the caller before it is known to wait still.
struct change {
  file_descriptor place;
  sys::file_times times{};
  std::string name{}, value{};
  std::uint64_t bytes_max = 0; ///< of a size
};

result<change> read_change(const sys::filtered_call& call, const form& of) {
  change asked;
  PADDOCK_TRY(asked.place, find_place(call, of));
  if (of.does == what::times) {
    PADDOCK_TRY(asked.times, times_of(call, of));
  }
  if (of.does == what::set_attribute || of.does == what::remove_attribute) {
    PADDOCK_TRY(asked.name, attribute_name(call, of));
  }
  if (of.does == what::set_attribute) {
    PADDOCK_TRY(asked.value, attribute_value(call, of));
  }
  if (of.does == what::size) {
    PADDOCK_TRY(asked.bytes_max, sys::file_bytes_max_of_caller(call));
  }
  return asked;
}

result<void> set_mode(int place, const file_status& status, std::uint32_t mode) {
  if ((mode & set_id_bits) != 0) return error{error_code::permission_denied, EPERM, "mode"};
  if (status.kind == entry_kind::symlink) return error{error_code::unsupported, EOPNOTSUPP, "mode"};
  return sys::chmod_opened(place, mode & permission_bits);
}

result<void> set_owner(int place, std::uint32_t user, std::uint32_t group) {
  const sys::own_ids own = sys::effective_ids();
  if ((user != as_it_is && user != own.user) || (group != as_it_is && group != own.group))
    return error{error_code::permission_denied, EPERM, "owner"};
  return sys::chown_place(place, user, group);
}

/// The kernel would apply the bound of this process, not the caller's.
result<void> set_size(int place, const file_status& status, std::int64_t size,
                      std::uint64_t bytes_max) {
  const auto bytes = static_cast<std::uint64_t>(size);
  if (size >= 0 && bytes > status.size && bytes > bytes_max)
    return error{error_code::too_large, EFBIG, "size"};
  return sys::truncate_place(place, size);
}

result<void> apply(const sys::filtered_call& call, const form& of, const change& asked,
                   const file_status& status) {
  const int place = asked.place.get();
  switch (of.does) {
  case what::mode:
    return set_mode(place, status, number_at(call, of.value));
  case what::owner:
    return set_owner(place, number_at(call, of.value), number_at(call, of.value + 1));
  case what::times:
    return sys::set_times(place, asked.times);
  case what::set_attribute:
    return sys::set_attribute_of_place(place, asked.name.c_str(), asked.value,
                                       static_cast<int>(number_at(call, of.value + 3)));
  case what::remove_attribute:
    return sys::remove_attribute_of_place(place, asked.name.c_str());
  case what::size:
    return set_size(place, status, static_cast<std::int64_t>(argument(call, of.value)),
                    asked.bytes_max);
  }
  return {};
}

} // namespace

attribute_broker::attribute_broker(int workspace, const entries_to_protect& entries,
                                   const std::vector<std::string>& write_paths)
    : workspace_(workspace) {
  for (const std::string& each : write_paths)
    if (std::string name = sys::canonical_name(each); !name.empty())
      write_paths_.push_back(std::move(name));
  for (const protected_entry& each : entries.list) {
    const bool is_place =
        each.how == sys::exec_entry::in_place || each.how == sys::exec_entry::repository ||
        each.how == sys::exec_entry::path || each.how == sys::exec_entry::appeared;
    if (!is_place) protected_.insert(each.path);
  }
}

/// By its name of now: a command can move nothing from elsewhere to where it may change things.
bool attribute_broker::may_change(int place, const file_status& status) const {
  if (status.uid != sys::effective_ids().user) return false;
  const std::string name = sys::name_of(place);
  if (scratch_ && strip_root_prefix(name, sys::name_of(scratch_.get()))) return true;
  return is_in_workspace(name, status) ||
         std::ranges::any_of(write_paths_, [&](const std::string& path) {
           const auto top = sys::status_at(AT_FDCWD, path.c_str());
           return strip_root_prefix(name, path) && top && status.mount == top->mount;
         });
}

bool attribute_broker::is_in_workspace(const std::string& name, const file_status& status) const {
  const auto rest = strip_root_prefix(name, sys::name_of(workspace_));
  const auto top = sys::status_at(workspace_, "");
  if (!rest || !top || status.mount != top->mount) return false;
  for (std::string_view at = *rest; !at.empty(); at = parent(at))
    if (protected_.contains(at)) return false;
  return true;
}

int attribute_broker::make(int listener, const sys::filtered_call& call) const {
  const auto errno_of = [](const error& failed) {
    return failed.os_errno != 0 ? failed.os_errno : EPERM;
  };
  for (const form& each : forms) {
    if (each.number != call.number) continue;
    const auto asked = read_change(call, each);
    if (!asked) return errno_of(asked.error());
    const auto status = sys::status_at(asked->place.get(), "");
    if (!status || !sys::is_waiting(listener, call) || !may_change(asked->place.get(), *status))
      return EPERM;
    const auto done = apply(call, each, *asked, *status);
    return done ? 0 : errno_of(done.error());
  }
  return EPERM;
}

} // namespace paddock
