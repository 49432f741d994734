// SPDX-License-Identifier: MIT

// Work on bytes in memory: content types, JSON in and out. Beside it what no implementation can
// avoid (a copy of the bytes, a look at each of them), and libmagic where it is installed.

#include "scratch.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/mime/mime.hpp>

#include <benchmark/benchmark.h>

#if PADDOCK_BENCH_LIBMAGIC
#include <magic.h>
#endif

#include <cstring>
#include <string>
#include <string_view>

namespace paddock::bench {
namespace {

using namespace std::string_literals;

struct content {
  std::string prefix;
  std::string_view type;
};
const content png{"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s + std::string(4000, '\x01'), "image/png"};
const content text_4_kib{lines_of(4096), "text/plain"};

void sniff(benchmark::State& state, const content& c) {
  if (mime::sniff(c.prefix).type != c.type) state.SkipWithError("wrong type");
  for (auto _ : state)
    benchmark::DoNotOptimize(mime::sniff(c.prefix));
}
BENCHMARK_CAPTURE(sniff, png, png)->Name("mime/png");
BENCHMARK_CAPTURE(sniff, text, text_4_kib)->Name("mime/text_4KiB");

#if PADDOCK_BENCH_LIBMAGIC
void usual_libmagic(benchmark::State& state, const content& c) {
  const magic_t magic = ::magic_open(MAGIC_MIME_TYPE);
  const auto look = [&] { return ::magic_buffer(magic, c.prefix.data(), c.prefix.size()); };
  if (::magic_load(magic, nullptr) != 0 || look() != c.type)
    state.SkipWithError("libmagic says something else");
  else
    for (auto _ : state)
      benchmark::DoNotOptimize(look());
  ::magic_close(magic);
}
BENCHMARK_CAPTURE(usual_libmagic, png, png)->Name("usual/libmagic_png");
BENCHMARK_CAPTURE(usual_libmagic, text, text_4_kib)->Name("usual/libmagic_text_4KiB");
#endif

void floor_memchr(benchmark::State& state) {
  const std::string text = lines_of(4096);
  for (auto _ : state)
    benchmark::DoNotOptimize(std::memchr(text.data(), 0, text.size()));
}
BENCHMARK(floor_memchr)->Name("floor/memchr_4KiB");

void json_write(benchmark::State& state) {
  const std::string text = lines_of(static_cast<std::size_t>(state.range(0)));
  mcp::json_writer out;
  for (auto _ : state) {
    out.clear();
    out.begin_object().member("path", "src/main.cpp").member("content", text).end_object();
    benchmark::DoNotOptimize(out.str().data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(json_write)->Name("json/write_text")->Arg(4 << 10)->Arg(1 << 20);

void floor_copy(benchmark::State& state) {
  const std::string text = lines_of(static_cast<std::size_t>(state.range(0)));
  std::string out;
  for (auto _ : state) {
    out.assign(text);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(floor_copy)->Name("floor/copy_text")->Arg(4 << 10)->Arg(1 << 20);

void json_parse(benchmark::State& state) {
  mcp::json_writer out;
  out.begin_object().member("jsonrpc", "2.0").key("id").integer(7).member("method", "tools/call");
  out.key("params").begin_object().member("name", "writeTextFile").key("arguments").begin_object();
  out.member("path", "src/main.cpp");
  out.member("text", lines_of(static_cast<std::size_t>(state.range(0))));
  out.end_object().end_object().end_object();
  const std::string padded = out.str() + std::string(mcp::json_padding, '\0');
  mcp::json_document document;
  for (auto _ : state) {
    const auto parsed = document.parse_padded({padded.data(), out.str().size()});
    if (!parsed || !(*parsed)["params"]["arguments"]["text"].string())
      state.SkipWithError("not parsed");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(json_parse)->Name("json/parse_call")->Arg(100)->Arg(10'000);

} // namespace
} // namespace paddock::bench
