// SPDX-License-Identifier: MIT

// Resolving a path beneath the workspace, six directories deep, beside a plain openat of the same
// path. Two floors say what of the difference is the kernel's: openat2 that is told to stay beneath
// the root, and with it the statx that the answer consists of. Warm caches.

#include "scratch.hpp"

#include <paddock/path/root.hpp>

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace paddock::bench {
namespace {

constexpr const char* deep_path = "a/b/c/d/e/f";

void resolve(benchmark::State& state, resolver how) {
  const scratch s;
  s.file(deep_path, "x");
  const root r = *root::open(s.path(), {.resolver = how});
  const auto once = r.open_beneath(deep_path, access::inspect);
  if (!once || once->status.size != 1) state.SkipWithError("cannot open");
  for (auto _ : state)
    benchmark::DoNotOptimize(r.open_beneath(deep_path, access::inspect));
}
BENCHMARK_CAPTURE(resolve, openat2, resolver::openat2)->Name("path/resolve_depth_6");
BENCHMARK_CAPTURE(resolve, walker, resolver::walker)->Name("path/resolve_depth_6_walker");

void floor_openat(benchmark::State& state) {
  const scratch s;
  s.file(deep_path, "x");
  const int root = ::open(s.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (auto _ : state) {
    const int fd = ::openat(root, deep_path, O_PATH | O_CLOEXEC);
    if (fd < 0) state.SkipWithError("cannot open");
    ::close(fd);
  }
  ::close(root);
}
BENCHMARK(floor_openat)->Name("floor/openat_depth_6");

void floor_openat_fstat(benchmark::State& state) {
  const scratch s;
  s.file(deep_path, "x");
  const int root = ::open(s.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat status{};
  for (auto _ : state) {
    const int fd = ::openat(root, deep_path, O_PATH | O_CLOEXEC);
    benchmark::DoNotOptimize(::fstat(fd, &status));
    ::close(fd);
  }
  ::close(root);
}
BENCHMARK(floor_openat_fstat)->Name("floor/openat_fstat_depth_6");

constexpr open_how beneath{.flags = O_PATH | O_CLOEXEC,
                           .mode = 0,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS};

enum class then : std::uint8_t { close, statx };

void floor_openat2(benchmark::State& state, then what) {
  const scratch s;
  s.file(deep_path, "x");
  const int root = ::open(s.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct statx status{};
  for (auto _ : state) {
    const auto fd =
        static_cast<int>(::syscall(SYS_openat2, root, deep_path, &beneath, sizeof beneath));
    if (fd < 0) state.SkipWithError("cannot open");
    if (what == then::statx)
      benchmark::DoNotOptimize(
          ::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status));
    ::close(fd);
  }
  ::close(root);
}
BENCHMARK_CAPTURE(floor_openat2, close, then::close)->Name("floor/openat2_beneath_depth_6");
BENCHMARK_CAPTURE(floor_openat2, statx, then::statx)->Name("floor/openat2_beneath_statx_depth_6");

/// The check that is usual and can be overtaken by a rename.
void usual_canonical(benchmark::State& state) {
  const scratch s;
  s.file(deep_path, "x");
  const std::string prefix = std::filesystem::canonical(s.path()).string() + "/";
  for (auto _ : state) {
    std::error_code failed;
    const auto real = std::filesystem::weakly_canonical(s.path() + "/" + deep_path, failed);
    if (failed || !real.native().starts_with(prefix)) state.SkipWithError("outside");
    const int fd = ::open(real.c_str(), O_PATH | O_CLOEXEC);
    ::close(fd);
  }
}
BENCHMARK(usual_canonical)->Name("usual/weakly_canonical_depth_6");

} // namespace
} // namespace paddock::bench
