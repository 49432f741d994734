// SPDX-License-Identifier: MIT

// The adapter as a child process over a pair of pipes: start to the first tools/list answer, round
// trips, memory. The floor is `cat` over the same pipes. Real time, because the work is done in the
// other process.
//
// Dead ends in a start:
// - libstdc++ and libgcc in the program beside a shared libsimdjson: that loads them all the same,
//   and they are there twice (5.8 MiB). The option `contained` wants an archive of simdjson.
// - glibc's libm as an archive beside a shared libc: they share private symbols, so it does not
//   link. RE2 needs one function of it (log), which costs 300 KiB.
// - A program without position independence, or all symbols bound at the start: no difference.
// - A static program (1.1 ms instead of 1.3 to --version): neither libcurl nor host names.
// - lld: its program ends at its start with -z noseparate-code and packed relocations.
// - Code of the libraries forgotten after the start, too: 0.3 MiB less, 0.1 ms more.

#include "line_process.hpp"
#include "scratch.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace paddock::bench {
namespace {

constexpr const char* meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string request(const std::string& method, const std::string& members = "") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + members +
         (members.empty() ? "" : ",") + meta + "}}\n";
}
std::string call(const std::string& tool, const std::string& arguments) {
  return request("tools/call", R"("name":")" + tool + R"(","arguments":)" + arguments);
}

std::vector<std::string> adapter(const scratch& s) {
  return {PADDOCK_MCP_PROGRAM, "--workspace", s.path()};
}

void cold_start(benchmark::State& state) {
  const scratch s;
  const auto list = request("tools/list");
  double resident = 0;
  for (auto _ : state) {
    line_process server(adapter(s));
    const auto answer = server.round_trip(list);
    state.PauseTiming();
    if (answer.find("attemptCompletion") == std::string_view::npos) state.SkipWithError("no tools");
    resident = server.memory_kib("VmRSS");
    state.ResumeTiming();
  }
  state.counters["idle_RSS_KiB"] = resident;
}
BENCHMARK(cold_start)
    ->Name("adapter/cold_start_to_tools_list")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void floor_spawn(benchmark::State& state) {
  for (auto _ : state)
    line_process({"true"});
}
BENCHMARK(floor_spawn)->Name("floor/spawn_true")->UseRealTime()->Unit(benchmark::kMillisecond);

void round_trip(benchmark::State& state, const std::string& line, const char* expected) {
  const scratch s;
  s.file("f", std::string(4096, 'x'));
  line_process server(adapter(s));
  if (server.round_trip(line).find(expected) == std::string_view::npos)
    state.SkipWithError("unexpected answer");
  std::size_t bytes = 0;
  for (auto _ : state)
    bytes = server.round_trip(line).size();
  state.counters["answer_bytes"] = static_cast<double>(bytes);
  state.counters["RSS_KiB"] = server.memory_kib("VmRSS");
}
BENCHMARK_CAPTURE(round_trip, ping,
                  R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                  "\n",
                  "{}")
    ->Name("adapter/ping")
    ->UseRealTime();
BENCHMARK_CAPTURE(round_trip, health, call("healthCheck", "{}"), "uptime")
    ->Name("adapter/healthCheck")
    ->UseRealTime();
BENCHMARK_CAPTURE(round_trip, read, call("readTextFile", R"({"path":"f"})"), "xxxx")
    ->Name("adapter/readTextFile_4KiB")
    ->UseRealTime();

void floor_echo(benchmark::State& state) {
  line_process cat({"cat"});
  const std::string line(static_cast<std::size_t>(state.range(0)) - 1, 'x');
  for (auto _ : state)
    cat.round_trip(line + '\n');
}
BENCHMARK(floor_echo)->Name("floor/cat_echo")->Arg(64)->Arg(8800)->UseRealTime();

} // namespace
} // namespace paddock::bench
