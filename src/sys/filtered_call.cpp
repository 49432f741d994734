// SPDX-License-Identifier: MIT
#include "sys/filtered_call.hpp"

#include "sys/call.hpp"
#include "sys/process_facts.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace paddock::sys {
namespace {

result<void> send(int listener, seccomp_notif_resp said) {
  if (retried([&] { return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &said); }) != 0 &&
      errno != ENOENT)
    return failure(errno, "ioctl");
  return {};
}

} // namespace

result<filtered_call> take_filtered_call(int listener) {
  seccomp_notif met{};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &met) != 0) return failure(errno, "ioctl");
  filtered_call call{
      .id = met.id, .caller = static_cast<int>(met.pid), .number = met.data.nr, .arguments = {}};
  std::copy(std::begin(met.data.args), std::end(met.data.args), call.arguments.begin());
  return call;
}

bool is_waiting(int listener, const filtered_call& call) noexcept {
  std::uint64_t id = call.id;
  return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

result<void> answer(int listener, const filtered_call& call, int os_errno) {
  return send(listener, {.id = call.id, .val = 0, .error = -os_errno, .flags = 0});
}

result<void> let_go_on(int listener, const filtered_call& call) {
  return send(listener,
              {.id = call.id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

result<void> read_of_caller(const filtered_call& call, std::uint64_t address,
                            std::span<char> bytes) {
  const std::string path = "/proc/" + std::to_string(call.caller) + "/mem";
  PADDOCK_TRY(const auto memory, openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto size = ::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
  if (size != static_cast<ssize_t>(bytes.size())) return failure(EFAULT, "pread");
  return {};
}

result<std::string> text_of_caller(const filtered_call& call, std::uint64_t address,
                                   std::size_t bytes_max) {
  constexpr std::uint64_t page = 4096; // what lies beyond may not be there
  std::string text;
  while (text.size() < bytes_max) {
    const std::uint64_t at = address + text.size();
    const std::size_t size = std::min<std::uint64_t>(page - at % page, bytes_max - text.size());
    const std::size_t before = text.size();
    text.resize(before + size);
    PADDOCK_CHECK(read_of_caller(call, at, std::span(text).subspan(before)));
    if (const auto end = text.find('\0', before); end != std::string::npos) {
      text.resize(end);
      return text;
    }
  }
  return failure(ENAMETOOLONG, "pread");
}

result<file_descriptor> place_of_caller(const filtered_call& call, int fd) {
  const std::string of = "/proc/" + std::to_string(call.caller);
  const std::string path = fd == AT_FDCWD ? of + "/cwd" : of + "/fd/" + std::to_string(fd);
  auto made = openat(AT_FDCWD, path.c_str(), O_PATH);
  if (!made && made.error().os_errno == ENOENT && fd != AT_FDCWD) return failure(EBADF, "openat");
  return made;
}

result<std::uint64_t> file_bytes_max_of_caller(const filtered_call& call) {
  rlimit limit{};
  if (::prlimit(call.caller, RLIMIT_FSIZE, nullptr, &limit) != 0) return failure(errno, "prlimit");
  return limit.rlim_cur;
}

result<file_descriptor> descriptor_of_caller(const filtered_call& call, int fd) {
  PADDOCK_TRY(const auto facts, facts_of(call.caller));
  PADDOCK_TRY(const auto caller, open_process(facts.process));
  return descriptor(::syscall(SYS_pidfd_getfd, caller.get(), fd, 0), "pidfd_getfd");
}

result<void> set_times(int fd, const file_times& times) {
  const timespec both[2] = {{times.seconds[0], times.nanoseconds[0]},
                            {times.seconds[1], times.nanoseconds[1]}};
  return none(::utimensat(fd, "", both, AT_EMPTY_PATH), "utimensat");
}

result<void> chown_place(int fd, std::uint32_t uid, std::uint32_t gid) {
  return none(::fchownat(fd, "", uid, gid, AT_EMPTY_PATH), "fchownat");
}

result<void> set_attribute_of_place(int fd, const char* name, std::string_view value, int flags) {
  return none(::setxattr(path_of(fd).data(), name, value.data(), value.size(), flags), "setxattr");
}

result<void> remove_attribute_of_place(int fd, const char* name) {
  return none(::removexattr(path_of(fd).data(), name), "removexattr");
}

result<void> truncate_place(int fd, std::int64_t size) {
  return none(::truncate(path_of(fd).data(), size), "truncate");
}

own_ids effective_ids() noexcept {
  return {.user = ::geteuid(), .group = ::getegid()};
}

} // namespace paddock::sys
