// SPDX-License-Identifier: MIT

// What it costs to start a process that goes on, beside a command that is run to its end
// (command_bench.cpp), and to read of one that never stops to write.

#include "scratch.hpp"

#include <paddock/exec/process.hpp>
#include <paddock/path/root.hpp>

#include <benchmark/benchmark.h>

#include <utility>

namespace paddock::bench {
namespace {

command make(const root& workspace, std::vector<std::string> argv) {
  command run;
  run.argv = std::move(argv);
  run.environment = {"PATH=/usr/bin:/bin"};
  run.working_directory = workspace.descriptor();
  run.workspace = workspace.descriptor();
  run.helper = PADDOCK_HELPER_PROGRAM;
  run.timeout_ms = no_deadline_ms;
  return run;
}

void start(benchmark::State& state) {
  const scratch s;
  const root workspace = *root::open(s.path());
  const command run = make(workspace, {"/usr/bin/sleep", "1000"});
  process_table table;
  for (auto _ : state) {
    const auto started = table.start(run);
    if (!started) {
      state.SkipWithError("sleep was not started");
      break;
    }
    state.PauseTiming();
    (void)started->stop(0);
    state.ResumeTiming();
  }
}
BENCHMARK(start)->Name("process/start")->UseRealTime()->Unit(benchmark::kMillisecond);

void flood(benchmark::State& state) {
  const scratch s;
  const root workspace = *root::open(s.path());
  process_table table;
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    const auto started = table.start(make(workspace, {"/usr/bin/head", "-c", "64M", "/dev/zero"}));
    if (!started) {
      state.SkipWithError("head was not started");
      break;
    }
    (void)started->read({.wait_ms = 60'000, .until = [](std::string_view) { return false; }});
    bytes += started->status().output_bytes;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(flood)->Name("process/flood_of_64_mib")->UseRealTime()->Unit(benchmark::kMillisecond);

} // namespace
} // namespace paddock::bench
