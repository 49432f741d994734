// SPDX-License-Identifier: MIT

// The adapter as a child process over a pair of pipes: start to the first tools/list answer, round
// trips, memory. The floor is `cat` over the same pipes. Real time, because the work is done in the
// other process.

#include "scratch.hpp"

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

extern char** environ; // NOLINT

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

/// A program that answers each line with a line.
class line_process {
public:
  explicit line_process(std::vector<std::string> argv) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::vector<char*> args;
    for (auto& a : argv)
      args.push_back(a.data());
    args.push_back(nullptr);
    if (::posix_spawnp(&pid_, args[0], &actions, nullptr, args.data(), environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  line_process(const line_process&) = delete;
  line_process& operator=(const line_process&) = delete;
  ~line_process() {
    ::close(to_);
    ::close(from_);
    ::waitpid(pid_, nullptr, 0);
  }

  /// The number of bytes of the answer.
  std::size_t round_trip(const std::string& line) {
    if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
    answer_.clear();
    std::array<char, 65536> buffer;
    while (answer_.empty() || answer_.back() != '\n') {
      const ssize_t n = ::read(from_, buffer.data(), buffer.size());
      if (n <= 0) std::abort();
      answer_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return answer_.size();
  }
  [[nodiscard]] bool answered(const char* part) const {
    return answer_.find(part) != std::string::npos;
  }
  [[nodiscard]] double resident_kib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; status >> word;)
      if (word == "VmRSS:") {
        double kib = 0;
        status >> kib;
        return kib;
      }
    return 0;
  }

private:
  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string answer_;
};

std::vector<std::string> adapter(const scratch& s) {
  return {PADDOCK_MCP_PROGRAM, "--workspace", s.path()};
}

void cold_start(benchmark::State& state) {
  const scratch s;
  const auto list = request("tools/list");
  double resident = 0;
  for (auto _ : state) {
    line_process server(adapter(s));
    server.round_trip(list);
    state.PauseTiming();
    if (!server.answered("attemptCompletion")) state.SkipWithError("no tools");
    resident = server.resident_kib();
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
  server.round_trip(line);
  if (!server.answered(expected)) state.SkipWithError("unexpected answer");
  std::size_t bytes = 0;
  for (auto _ : state)
    bytes = server.round_trip(line);
  state.counters["answer_bytes"] = static_cast<double>(bytes);
  state.counters["RSS_KiB"] = server.resident_kib();
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
