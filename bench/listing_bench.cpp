// SPDX-License-Identifier: MIT

// Directory listings with size and time, to finished JSON (the whole answer to a tools/call) and as
// a value, beside the bare getdents + statx loop and what std::filesystem makes of it. Warm caches.

#include "scratch.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>

#include <benchmark/benchmark.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paddock::bench {
namespace {

/// A directory "d" with `count` small files, made once for all benchmarks of that size.
const scratch& files(std::int64_t count) {
  static std::map<std::int64_t, std::unique_ptr<scratch>> made;
  auto& s = made[count];
  if (!s) {
    s = std::make_unique<scratch>();
    std::filesystem::create_directories(s->path() + "/d");
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string name = s->path() + "/d/file-" + std::to_string(i * 7919 % count) + ".txt";
      const int fd = ::open(name.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
      if (fd < 0 || ::write(fd, "x", 1) != 1) std::abort();
      ::close(fd);
    }
  }
  return *s;
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(10)->Arg(1'000)->Arg(10'000)->Arg(100'000)->UseRealTime()->MeasureProcessCPUTime();
}

std::vector<mcp::tool> tools_for(std::int64_t count) {
  mcp::workspace_options options{.pick = {"listDirectory"}};
  options.limits = limits{.list_entries_max = static_cast<std::uint64_t>(count)};
  return *mcp::workspace_tools(std::make_shared<const root>(*root::open(files(count).path())),
                               options);
}

/// A call without a connection.
class direct_call final : public mcp::call {
public:
  explicit direct_call(mcp::json_view arguments) { arguments_ = arguments; }
  void on_cancel(std::function<void()>) override {}
  void may_block() override {}
  [[nodiscard]] bool wants_progress() const noexcept override { return false; }
  void progress(double, std::string_view) override {}
  void log(mcp::log_level, std::string_view) override {}
  [[nodiscard]] std::size_t message_bytes_max() const noexcept override {
    return std::size_t{256} << 20;
  }
};

bool whole(const std::string& json, std::int64_t count) {
  return json.find("truncated") == std::string::npos &&
         json.find("file-" + std::to_string(count - 1)) != std::string::npos;
}

/// What the tool makes: one JSON object.
void list_json(benchmark::State& state) {
  const auto tools = tools_for(state.range(0));
  mcp::json_document arguments;
  direct_call call(*arguments.parse(R"({"path":"d"})"));
  if (!whole(tools[0].handler(call).json, state.range(0))) state.SkipWithError("wrong listing");
  for (auto _ : state)
    benchmark::DoNotOptimize(tools[0].handler(call));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(list_json)->Name("listing/json")->Apply(sizes);

/// The line that answers tools/call, in which that object is twice, once escaped.
void list_answer(benchmark::State& state) {
  mcp::server_options options;
  options.limits.message_out_bytes_max = std::uint64_t{256} << 20;
  mcp::server s(std::move(options), tools_for(state.range(0)));
  const std::string line =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listDirectory","arguments":{"path":"d"}}})";
  const auto once = s.handle_line(line);
  if (once.size() != 1 || !whole(once[0], state.range(0))) state.SkipWithError("wrong listing");
  for (auto _ : state)
    benchmark::DoNotOptimize(s.handle_line(line));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(list_answer)->Name("listing/answer")->Apply(sizes);

void list_value(benchmark::State& state) {
  const root r = *root::open(files(state.range(0)).path());
  const list_options all{.entries_max = static_cast<std::uint64_t>(state.range(0))};
  const auto once = list_directory(r, "d", all);
  if (!once || once->entries.size() != all.entries_max) state.SkipWithError("wrong listing");
  for (auto _ : state)
    benchmark::DoNotOptimize(list_directory(r, "d", all));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(list_value)->Name("listing/value")->Apply(sizes);

void floor_list(benchmark::State& state) {
  const std::string path = files(state.range(0)).path() + "/d";
  for (auto _ : state) {
    DIR* directory = ::opendir(path.c_str());
    struct statx status {};
    std::int64_t seen = 0;
    while (const dirent* entry = ::readdir(directory)) {
      if (entry->d_name[0] == '.') continue;
      benchmark::DoNotOptimize(::statx(::dirfd(directory), entry->d_name, AT_SYMLINK_NOFOLLOW,
                                       STATX_TYPE | STATX_SIZE | STATX_MTIME, &status));
      ++seen;
    }
    ::closedir(directory);
    if (seen != state.range(0)) state.SkipWithError("wrong count");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(floor_list)->Name("floor/getdents_statx")->Apply(sizes);

void usual_list(benchmark::State& state) {
  const std::string path = files(state.range(0)).path() + "/d";
  for (auto _ : state) {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      bytes += entry.file_size();
      benchmark::DoNotOptimize(entry.last_write_time());
    }
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(usual_list)->Name("usual/std_filesystem_list")->Apply(sizes);

} // namespace
} // namespace paddock::bench
