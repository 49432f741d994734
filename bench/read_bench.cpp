// SPDX-License-Identifier: MIT

// Reading: whole files, and a few lines near the front of a large one. Beside it the bare open,
// fstat, read, close into memory that is not cleared, and std::ifstream. Warm caches.
//
// A dead end: reading a range in chunks of 128 KiB from the start. It made 100 lines of a large
// file 1.3 times as expensive as those of a file of 64 KiB, for bytes that nobody had asked for.

#include "scratch.hpp"

#include <paddock/file/file.hpp>

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace paddock::bench {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(kib)->Arg(4 * kib)->Arg(64 * kib)->Arg(mib)->Arg(64 * mib);
}

void read_whole(benchmark::State& state) {
  const scratch s;
  const auto text = lines_of(static_cast<std::size_t>(state.range(0)));
  s.file("f", text);
  const root r = *root::open(s.path());
  const auto once = read_file(r, "f", {.bytes_max = text.size()});
  if (!once || once->bytes != text) state.SkipWithError("wrong content");
  for (auto _ : state)
    benchmark::DoNotOptimize(read_file(r, "f", {.bytes_max = text.size()}));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(read_whole)->Name("read/whole")->Apply(sizes);

void floor_read(benchmark::State& state) {
  const scratch s;
  s.file("f", lines_of(static_cast<std::size_t>(state.range(0))));
  const std::string path = s.path() + "/f";
  for (auto _ : state) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    ::fstat(fd, &status);
    const auto size = static_cast<std::size_t>(status.st_size);
    const std::unique_ptr<char[]> buffer(new char[size]);
    if (::read(fd, buffer.get(), size) != status.st_size) state.SkipWithError("short read");
    ::close(fd);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(floor_read)->Name("floor/read_whole")->Apply(sizes);

void usual_ifstream(benchmark::State& state) {
  const scratch s;
  s.file("f", lines_of(static_cast<std::size_t>(state.range(0))));
  const std::string path = s.path() + "/f";
  for (auto _ : state) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    benchmark::DoNotOptimize(bytes.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(usual_ifstream)->Name("usual/ifstream_whole")->Arg(4 * kib)->Arg(mib);

void read_100_lines(benchmark::State& state) {
  const scratch s;
  s.file("f", lines_of(static_cast<std::size_t>(state.range(0))));
  const root r = *root::open(s.path());
  const line_range range{.from = 10, .to = 110};
  const auto once = read_lines(r, "f", range);
  if (!once || once->to != 110) state.SkipWithError("wrong lines");
  for (auto _ : state)
    benchmark::DoNotOptimize(read_lines(r, "f", range));
}
BENCHMARK(read_100_lines)->Name("read/100_lines_near_the_front")->Arg(64 * kib)->Arg(64 * mib);

void read_last_lines(benchmark::State& state) {
  const scratch s;
  s.file("f", lines_of(static_cast<std::size_t>(state.range(0))));
  const root r = *root::open(s.path());
  const line_range range{.from = -100, .to = std::nullopt};
  for (auto _ : state)
    if (!read_lines(r, "f", range)) state.SkipWithError("cannot read");
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(read_last_lines)->Name("read/last_100_lines")->Arg(mib)->Arg(64 * mib);

} // namespace
} // namespace paddock::bench
