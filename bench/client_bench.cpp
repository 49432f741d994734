// SPDX-License-Identifier: MIT

// A tool call through the client to the adapter, beside a bare round trip of the same bytes through
// `cat`; and one over HTTP, to a server of this process. Real time, because half of the work is
// done by others.

#include "line_process.hpp"
#include "scratch.hpp"

#include <paddock/mcp/client.hpp>
#include <paddock/mcp/http_server.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace paddock::bench {
namespace {

mcp::client connect(const scratch& s) {
  auto client = mcp::client::connect(
      mcp::stdio_endpoint{.argv = {PADDOCK_MCP_PROGRAM, "--workspace", s.path()}});
  if (!client) {
    std::fprintf(stderr, "%s\n", explain(client.error()).c_str());
    std::abort();
  }
  return *std::move(client);
}

struct tool_call {
  const char* tool;
  const char* arguments;
};
constexpr tool_call todo{"todo", "{}"};
constexpr tool_call health{"healthCheck", "{}"};
constexpr tool_call read_file{"readTextFile", R"({"path":"f"})"};

/// Of the request and of the answer together, as they travel.
std::size_t bytes_of(mcp::client& client, const tool_call& c) {
  constexpr std::size_t envelopes = 330; // what the request and the frame of the answer add
  const auto reply = client.call_tool(c.tool, c.arguments);
  if (!reply || reply->failed) std::abort();
  return reply->json.size() + envelopes;
}

void client_call(benchmark::State& state, const tool_call& c) {
  const scratch s;
  s.file("f", std::string(4096, 'x'));
  mcp::client client = connect(s);
  state.counters["bytes"] = static_cast<double>(bytes_of(client, c));
  for (auto _ : state)
    if (!client.call_tool(c.tool, c.arguments)) std::abort();
}

void bare_round_trip(benchmark::State& state, const tool_call& c) {
  const scratch s;
  s.file("f", std::string(4096, 'x'));
  const std::size_t bytes = [&] {
    mcp::client client = connect(s);
    return bytes_of(client, c);
  }();
  line_process cat({"cat"});
  const std::string line = std::string(bytes / 2 - 1, 'x') + '\n';
  for (auto _ : state)
    cat.round_trip(line);
}

void http_call(benchmark::State& state, const tool_call& c) {
  const scratch s;
  const mcp::server server(
      {}, *mcp::workspace_tools(std::make_shared<const root>(*root::open(s.path())), {}));
  auto http = mcp::http_server::make(server);
  if (!http) std::abort();
  std::thread serving([&] { (void)http->run().has_value(); });
  {
    auto client = mcp::client::connect(
        mcp::http_endpoint{.url = http->address(), .addresses = mcp::address_policy::any});
    if (!client) state.SkipWithError(client.error().operation);
    for (auto _ : state)
      if (!client->call_tool(c.tool, c.arguments)) std::abort();
  }
  http->stop();
  serving.join();
}

void connect_and_close(benchmark::State& state) {
  const scratch s;
  for (auto _ : state)
    connect(s).close();
}

BENCHMARK_CAPTURE(client_call, todo, todo)->Name("client/todo")->UseRealTime();
BENCHMARK_CAPTURE(bare_round_trip, todo, todo)->Name("floor/cat_of_todo")->UseRealTime();
BENCHMARK_CAPTURE(client_call, health, health)->Name("client/healthCheck")->UseRealTime();
BENCHMARK_CAPTURE(bare_round_trip, health, health)->Name("floor/cat_of_healthCheck")->UseRealTime();
BENCHMARK_CAPTURE(client_call, read, read_file)->Name("client/readTextFile_4KiB")->UseRealTime();
BENCHMARK_CAPTURE(bare_round_trip, read, read_file)
    ->Name("floor/cat_of_readTextFile_4KiB")
    ->UseRealTime();
BENCHMARK_CAPTURE(http_call, todo, todo)->Name("client/http_todo")->UseRealTime();
BENCHMARK(connect_and_close)
    ->Name("client/connect_and_close")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace paddock::bench
