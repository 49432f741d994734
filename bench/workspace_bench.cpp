// SPDX-License-Identifier: MIT

// Paths, files and directories, each beside the bare system calls that no implementation can beat
// (floor/…). Everything is warm: the kernel's caches hold all files. Each result is checked once
// before it is timed.

#include "scratch.hpp"

#include <paddock/file.hpp>

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace paddock::bench {
namespace {

constexpr const char* deep_path = "a/b/c/d/e/f";

root open_root(const scratch& s) {
  return *root::open(s.path());
}

std::string lines(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes)
    text += "the quick brown fox jumps over the lazy dog\n";
  text.resize(bytes);
  return text;
}

void resolve_depth_6(benchmark::State& state) {
  const scratch s;
  s.file(deep_path, "x");
  const root r = open_root(s);
  if (!r.open_beneath(deep_path, access::inspect)) state.SkipWithError("cannot open");
  for (auto _ : state)
    benchmark::DoNotOptimize(r.open_beneath(deep_path, access::inspect));
}
BENCHMARK(resolve_depth_6)->Name("resolve/depth_6");

void floor_openat_depth_6(benchmark::State& state) {
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
BENCHMARK(floor_openat_depth_6)->Name("floor/openat_fstat_depth_6");

void read_whole(benchmark::State& state) {
  const scratch s;
  const auto text = lines(static_cast<std::size_t>(state.range(0)));
  s.file("f", text);
  const root r = open_root(s);
  const auto once = read_file(r, "f", {.bytes_max = text.size()});
  if (!once || once->bytes != text) state.SkipWithError("wrong content");
  for (auto _ : state)
    benchmark::DoNotOptimize(read_file(r, "f", {.bytes_max = text.size()}));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(read_whole)->Name("read/whole")->Arg(4 << 10)->Arg(1 << 20);

void floor_read(benchmark::State& state) {
  const scratch s;
  s.file("f", lines(static_cast<std::size_t>(state.range(0))));
  const std::string path = s.path() + "/f";
  for (auto _ : state) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    ::fstat(fd, &status);
    const auto size = static_cast<std::size_t>(status.st_size);
    const std::unique_ptr<char[]> buffer(new char[size]);
    benchmark::DoNotOptimize(::read(fd, buffer.get(), size));
    ::close(fd);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(floor_read)->Name("floor/read")->Arg(4 << 10)->Arg(1 << 20);

void edit(benchmark::State& state) {
  const scratch s;
  std::string text = lines(1 << 20);
  text.replace(text.size() / 2, 6, "NEEDLE");
  s.file("f", text);
  const root r = open_root(s);
  std::string from = "NEEDLE";
  std::string to = "needle";
  for (auto _ : state) {
    if (!edit_file(r, "f", {from, to})) state.SkipWithError("no match");
    from.swap(to);
  }
}
BENCHMARK(edit)->Name("edit/1MiB");

} // namespace
} // namespace paddock::bench
