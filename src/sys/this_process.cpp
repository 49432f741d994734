// SPDX-License-Identifier: MIT
#include "sys/call.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <span>

namespace paddock::sys {
namespace {

std::int64_t milliseconds_of(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

} // namespace

result<void> getrandom(std::span<char> buffer) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const auto n =
        retried([&] { return ::getrandom(buffer.data() + done, buffer.size() - done, 0); });
    if (n < 0) return failure(errno, "getrandom");
    done += static_cast<std::size_t>(n);
  }
  return {};
}

unsigned effective_uid() noexcept {
  return ::geteuid();
}

int process_id() noexcept {
  return ::getpid();
}

const char* const* environment() noexcept {
  return ::environ;
}

std::int64_t monotonic_ms() noexcept {
  return milliseconds_of(CLOCK_MONOTONIC);
}

std::int64_t thread_time_ms() noexcept {
  return milliseconds_of(CLOCK_THREAD_CPUTIME_ID);
}

std::int64_t file_clock_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return nanoseconds(now);
}

std::int64_t file_time_now_ns() noexcept {
  // Times are finer than the clock's tick where the one before has been looked at (Linux 6.13),
  // and no later one is given a time before it.
  const file_descriptor file(::memfd_create("paddock-time", MFD_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || ::futimens(file.get(), nullptr) != 0 ||
      ::fstat(file.get(), &status) != 0)
    return file_clock_ns();
  return nanoseconds(status.st_ctim);
}

void pause_ms(int milliseconds) noexcept {
  const timespec time{.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1'000'000L};
  (void)::nanosleep(&time, nullptr);
}

memory memory_usage() noexcept {
  memory m;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    m.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  m.resident_bytes = m.peak_bytes; // without procfs
  const auto statm = openat(AT_FDCWD, "/proc/self/statm", O_RDONLY);
  if (!statm) return m;
  std::array<char, 128> line{};
  const auto n = sys::read(statm->get(), {line.data(), line.size() - 1});
  unsigned long pages = 0;
  if (n && std::sscanf(line.data(), "%*u %lu", &pages) == 1)
    m.resident_bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  m.peak_bytes = std::max(m.peak_bytes, m.resident_bytes);
  return m;
}

} // namespace paddock::sys
