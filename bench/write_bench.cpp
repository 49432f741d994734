// SPDX-License-Identifier: MIT

// Changing files: atomic replacement, appending, editing. Beside it the bare system calls that give
// the same guarantee (read, write of a new file, rename), and std::ofstream, which gives none. The
// time of a replacement is mostly the file system's journal.
//
// Dead ends: preallocating the new file (fallocate) before writing costs more than it saves up to
// some MiB. The C library's memmem needs ten times as long for a MiB as memchr for a byte that is
// rare in it, so an edit searches by memchr first (detail/text_matches.hpp); a search by blocks of
// 64 places alone, without memchr, is in between.

#include "scratch.hpp"

#include <paddock/file/file.hpp>

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::bench {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(kib)->Arg(64 * kib)->Arg(mib);
}
void edit_sizes(benchmark::internal::Benchmark* b) {
  b->Arg(kib)->Arg(64 * kib)->Arg(mib)->Arg(64 * mib);
}

void replace(benchmark::State& state, durability kind) {
  const scratch s;
  const auto text = lines_of(static_cast<std::size_t>(state.range(0)));
  const root r = *root::open(s.path());
  for (auto _ : state)
    if (!write_file(r, "f", text, {.durability = kind})) state.SkipWithError("cannot write");
  if (s.content("f") != text) state.SkipWithError("wrong content");
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(replace, none, durability::none)->Name("write/replace")->Apply(sizes);
BENCHMARK_CAPTURE(replace, full, durability::full)
    ->Name("write/replace_durable")
    ->Arg(64 * kib)
    ->UseRealTime();

void write_and_rename(const std::string& directory, const char* bytes, std::size_t size) {
  const std::string fresh = directory + "/fresh";
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (::write(fd, bytes, size) != static_cast<ssize_t>(size)) std::abort();
  ::close(fd);
  if (std::rename(fresh.c_str(), (directory + "/f").c_str()) != 0) std::abort();
}

void floor_replace(benchmark::State& state) {
  const scratch s;
  const auto text = lines_of(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state)
    write_and_rename(s.path(), text.data(), text.size());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(floor_replace)->Name("floor/write_rename")->Apply(sizes);

void usual_ofstream(benchmark::State& state) {
  const scratch s;
  const auto text = lines_of(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state)
    std::ofstream(s.path() + "/f", std::ios::binary | std::ios::trunc) << text;
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(usual_ofstream)->Name("usual/ofstream_not_atomic")->Apply(sizes);

void append(benchmark::State& state) {
  const scratch s;
  s.file("f", "");
  const root r = *root::open(s.path());
  const std::string line(100, 'x');
  for (auto _ : state)
    if (!append_file(r, "f", line)) state.SkipWithError("cannot append");
}
BENCHMARK(append)->Name("append/100_bytes");

void floor_append(benchmark::State& state) {
  const scratch s;
  const std::string path = s.path() + "/f";
  const std::string line(100, 'x');
  for (auto _ : state) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (::write(fd, line.data(), line.size()) != 100) state.SkipWithError("cannot append");
    ::close(fd);
  }
}
BENCHMARK(floor_append)->Name("floor/append_100_bytes");

enum class where : std::uint8_t { early, late, absent };

void edit(benchmark::State& state, where match, std::string_view line_break) {
  const scratch s;
  std::string text = lines_of(static_cast<std::size_t>(state.range(0)), line_break);
  if (match != where::absent)
    text.replace(match == where::early ? text.size() / 50 : text.size() - text.size() / 50, 6,
                 "NEEDLE");
  s.file("f", text);
  const root r = *root::open(s.path());
  std::string from = "NEEDLE";
  std::string to = "needle";
  for (auto _ : state) {
    if (edit_file(r, "f", {from, to}).has_value() == (match == where::absent))
      state.SkipWithError("wrong outcome");
    from.swap(to);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(edit, early, where::early, "\n")->Name("edit/early")->Apply(edit_sizes);
BENCHMARK_CAPTURE(edit, late, where::late, "\n")->Name("edit/late")->Apply(edit_sizes);
BENCHMARK_CAPTURE(edit, absent, where::absent, "\n")->Name("edit/absent")->Apply(edit_sizes);
BENCHMARK_CAPTURE(edit, early_crlf, where::early, "\r\n")
    ->Name("edit/early_crlf")
    ->Apply(edit_sizes);
BENCHMARK_CAPTURE(edit, late_crlf, where::late, "\r\n")->Name("edit/late_crlf")->Apply(edit_sizes);
BENCHMARK_CAPTURE(edit, absent_crlf, where::absent, "\r\n")
    ->Name("edit/absent_crlf")
    ->Apply(edit_sizes);

/// A match of several lines: the line endings of the content have to be known first.
void edit_lines(benchmark::State& state, std::string_view line_break) {
  const scratch s;
  std::string text = lines_of(static_cast<std::size_t>(state.range(0)), line_break);
  text.replace(text.size() / 2, 6, "NEEDLE");
  s.file("f", text);
  const root r = *root::open(s.path());
  const auto after = text.find('\n', text.size() / 2);
  const auto before = text.rfind('\n', text.size() / 2);
  std::string from = text.substr(before, after + 1 - before);
  std::string to = from;
  to.replace(to.find("NEEDLE"), 6, "needle");
  for (auto _ : state) {
    if (!edit_file(r, "f", {from, to})) state.SkipWithError("no match");
    from.swap(to);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(edit_lines, lf, "\n")->Name("edit/lines")->Arg(mib);
BENCHMARK_CAPTURE(edit_lines, crlf, "\r\n")->Name("edit/lines_crlf")->Arg(mib);

/// Reads the file, writes it again under another name, renames.
void floor_edit(benchmark::State& state) {
  const scratch s;
  s.file("f", lines_of(static_cast<std::size_t>(state.range(0))));
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const int fd = ::open((s.path() + "/f").c_str(), O_RDONLY | O_CLOEXEC);
    const std::unique_ptr<char[]> buffer(new char[size]);
    if (::read(fd, buffer.get(), size) != state.range(0)) state.SkipWithError("short read");
    ::close(fd);
    write_and_rename(s.path(), buffer.get(), size);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(floor_edit)->Name("floor/read_write_rename")->Apply(edit_sizes);

} // namespace
} // namespace paddock::bench
