// SPDX-License-Identifier: MIT

// Searches of a large tree by one and by two threads, beside ripgrep, git grep and a bare walk that
// opens, looks at, reads and closes each file. All count the matching lines of each file, ignore
// files respected, so what they do is the same and nothing is printed. PADDOCK_BENCH_TREE names the
// tree.
//
// The time is that of all threads on processors, which other work on the machine changes least; the
// counter `wall_ms` is what passed. Look at the lowest of several repetitions.

#include "line_process.hpp"
#include "scratch.hpp"
#include "search_tree.hpp"

#include <paddock/search/find_files.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/search/tree_map.hpp>

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::bench {
namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

/// Time on processors, of this process or of the children it has waited for.
double processor_seconds(int whose) {
  rusage used{};
  ::getrusage(whose, &used);
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Runs `work` in a loop; when it says no, `why` is the name by which the benchmark is skipped.
void timed(benchmark::State& state, int whose, const char* why, const std::function<bool()>& work) {
  using clock = std::chrono::steady_clock;
  std::chrono::duration<double, std::milli> wall{};
  for (auto _ : state) {
    const double before = processor_seconds(whose);
    const auto begin = clock::now();
    if (!work()) {
      state.SkipWithError(why);
      return;
    }
    wall += clock::now() - begin;
    state.SetIterationTime(processor_seconds(whose) - before);
  }
  state.counters["wall_ms"] = benchmark::Counter(wall.count(), benchmark::Counter::kAvgIterations);
}

double lowest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

void add(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->MeasureProcessCPUTime()
      ->ComputeStatistics("lowest", lowest)
      ->Unit(benchmark::kMillisecond);
}

/// A program in the tree, its output thrown away.
bool spawn_in_tree(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept = {"env", "-C", searched_tree(), "LC_ALL=C.UTF-8"};
  kept.insert(kept.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& each : kept)
    argv.push_back(each.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = 1;
  const bool done = ::posix_spawnp(&child, "env", &actions, nullptr, argv.data(), environ) == 0 &&
                    ::waitpid(child, &status, 0) == child && status == 0;
  posix_spawn_file_actions_destroy(&actions);
  return done;
}

void peer(benchmark::State& state, const char* why, const std::vector<std::string>& arguments) {
  timed(state, RUSAGE_CHILDREN, why, [&] { return spawn_in_tree(arguments); });
}

// --- classes of patterns -------------------------------------------------------------------------

struct pattern_class {
  const char* name;
  const char* text;
  pattern_options options;
  const char* rg; ///< what makes ripgrep and git grep look for the same
  const char* git;
};

constexpr pattern_options literal{.syntax = pattern_syntax::literal};
constexpr pattern_options folded{.syntax = pattern_syntax::literal, .letters = letter_case::folded};
const pattern_class classes[] = {
    {"rare_literal", "PM_RESUME", literal, "-F", "-F"},
    {"common_word", "return", literal, "-F", "-F"},
    {"folded_literal", "PM_RESUME", folded, "-Fi", "-Fi"},
    {"four_literals", "ERR_SYS|PME_TURN_OFF|LINK_REQ_RST|CFG_BME_EVT", {}, "-s", "-E"},
    {"literal_suffix", "[A-Z]+_RESUME", {}, "-s", "-E"},
    {"no_literal",
     "[A-Za-z0-9_]{5}[ \\t]+[A-Za-z0-9_]{5}[ \\t]+[A-Za-z0-9_]{5}[ \\t]+[A-Za-z0-9_]{5}[ "
     "\\t]+[A-Za-z0-9_]{5}",
     {},
     "-s",
     "-P"},
    {"greek", "\\p{Greek}", {}, "-s", "-P"},
};

void search(benchmark::State& state, const pattern_class& c, unsigned threads) {
  const auto pattern = text_pattern::compile(c.text, c.options);
  const auto r = root::open(searched_tree());
  timed(state, RUSAGE_SELF, "no regular expressions, or nothing found", [&] {
    if (!pattern || !r) return false;
    const auto found = search_text(*r, ".", *pattern, {.threads_max = threads});
    return found && found->exact && found->total_matches > 0;
  });
}

/// What was tried for the list, by processor time of `paddock find '**' -t file` on one processor
/// beside `rg --files -j1`, medians of 31 runs in turn; the floor, getdents64 and openat alone, is
/// 0.27 to 0.30 of rg. A page of memory that is used for the first time costs 2 to 8 µs in a
/// virtual machine, so most of it is about memory. 48,000 generated files in 1,500 directories (rg
/// 111 ms), the names of /usr/include (22,500 in 2,000; rg 97 ms), and /usr/share with 4,000 links
/// (rg 195 ms, which does not look where they lead):
/// - kept: paths are told while the walk goes on, and what was told of is freed: 1,720 page faults
///   to 456; by no strings of all paths 0.78 to 0.63, by the freeing to 0.52; include 0.68 to 0.53,
///   share 0.89 to 0.72;
/// - kept: eight bytes at once where output is looked at, which is built for size: 0.52 to 0.505;
/// - kept: names compared by their first eight bytes as a number: to 0.49, include 0.52, share
/// 0.68;
/// - kept: links to files beside them are not followed, others are asked of the kernel;
/// - little: fewer and larger steps of malloc (M_TOP_PAD, one arena): 0.01; one thread: 0.01 to
///   0.04, but twice the time of the clock where a disk is slow;
/// - not done: memory in huge pages took 0.1 off what was then 0.61, and nothing where the system
///   gives none;
/// - kept: keys are sorted in place of entries, behind what all names share, and no byte is asked
///   for its mask: 120 million instructions to 84; in one run 0.55 to 0.48, include 0.58 to 0.54,
///   share 0.70 to 0.66, where getdents64 and openat alone are 0.28, 0.31 and 0.32;
/// - without effect: exact sizes of names and entries of a directory, or room reserved for 16;
/// - not done: leaving out the last getdents64, a tenth of the kernel's part: that a buffer is not
///   full is no end on FUSE and overlay file systems.
void list(benchmark::State& state, unsigned threads) {
  const auto all = glob::compile("**");
  const auto r = root::open(searched_tree());
  timed(state, RUSAGE_SELF, "no tree", [&] {
    if (!r) return false;
    std::uint64_t told = 0;
    const auto found = find_files(
        *r, ".", *all,
        {.kind = wanted_kind::file, .limit = std::uint64_t{1} << 32, .threads_max = threads},
        [&told](std::string_view) { ++told; });
    return found && told == found->total && told > 1000;
  });
}

void walk(benchmark::State& state, visit what, unsigned threads) {
  timed(state, RUSAGE_SELF, "no tree",
        [&] { return bare_walk(searched_tree(), what).run(threads) > 1000; });
}

const char* const no_rg = "rg is not installed, or found nothing";

void add_searches(unsigned threads) {
  const std::string behind = "/threads:" + std::to_string(threads), j = std::to_string(threads);
  const std::vector<std::string> rg{"rg", "--no-config", "--hidden", "--no-require-git",
                                    "-g", "!.git",       "-j",       j};
  for (const pattern_class& c : classes) {
    const std::string name = c.name + behind;
    add("search/" + name, [&c, threads](benchmark::State& state) { search(state, c, threads); });
    std::vector<std::string> same = rg;
    same.insert(same.end(), {"-c", c.rg, "-e", c.text, "."});
    add("peer/rg/" + name, [same](benchmark::State& state) { peer(state, no_rg, same); });
    add("peer/git_grep/" + name, [&c, j](benchmark::State& state) {
      peer(state, "git is not installed, or found nothing",
           {"git", "grep", "--no-index", "--exclude-standard", "--threads", j, "-Ic", c.git, "-e",
            c.text});
    });
  }
  add("search/list" + behind, [threads](benchmark::State& state) { list(state, threads); });
  std::vector<std::string> files = rg;
  files.emplace_back("--files");
  add("peer/rg/list" + behind, [files](benchmark::State& state) { peer(state, no_rg, files); });
  add("floor/walk_open_fstat_read_close" + behind,
      [threads](benchmark::State& state) { walk(state, visit::content, threads); });
  add("floor/walk_getdents" + behind,
      [threads](benchmark::State& state) { walk(state, visit::name, threads); });
}

// --- a map ---------------------------------------------------------------------------------------

/// 100,000 files in 1,000 directories.
const std::string& wide_tree() {
  static const scratch s;
  static const bool made = [] {
    for (int i = 0; i < 100'000; ++i)
      s.file("d" + std::to_string(i % 100) + "/e" + std::to_string(i % 1000) + "/f" +
                 std::to_string(i),
             "x");
    return true;
  }();
  static_cast<void>(made);
  return s.path();
}

void map_100000(benchmark::State& state) {
  const root r = *root::open(wide_tree());
  timed(state, RUSAGE_SELF, "wrong map", [&] {
    const auto map = map_tree(r, ".");
    return map && map->amount.files == 100'000;
  });
}
void list_100000(benchmark::State& state) {
  const root r = *root::open(wide_tree());
  const auto all = glob::compile("**");
  timed(state, RUSAGE_SELF, "wrong list", [&] {
    const auto found = find_files(r, ".", *all, {.kind = wanted_kind::file, .limit = 100'000});
    return found && found->paths.size() == 100'000;
  });
}
void walk_100000(benchmark::State& state) {
  const std::string& path = wide_tree();
  timed(state, RUSAGE_SELF, "wrong count",
        [&] { return bare_walk(path, visit::status).run(2) == 100'000; });
}

// --- through the adapter -------------------------------------------------------------------------

std::string search_call(const char* pattern) {
  return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"searchText","arguments":{"pattern":")" +
         std::string(pattern) +
         R"("},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})"
         "\n";
}

/// 1,000 files, so that what the adapter adds is not lost in the search: 200 lines of 8,000.
const std::string& small_tree() {
  static const scratch s;
  static const bool made = [] {
    for (int i = 0; i < 1000; ++i)
      s.file("d" + std::to_string(i % 50) + "/f" + std::to_string(i) + ".c",
             lines_of(4096) + "return value;\nreturn value;\nreturn value;\nreturn value;\n"
                              "return value;\nreturn value;\nreturn value;\nreturn value;\n");
    return true;
  }();
  static_cast<void>(made);
  return s.path();
}

void small_search(benchmark::State& state) {
  const root r = *root::open(small_tree());
  const auto pattern = text_pattern::compile("return", {});
  for (auto _ : state) {
    const auto found = search_text(r, ".", *pattern, {});
    if (!found || found->total_matches != 8000) state.SkipWithError("wrong count");
  }
}
BENCHMARK(small_search)
    ->Name("search/1000_files")
    ->UseRealTime()
    ->ComputeStatistics("lowest", lowest)
    ->Unit(benchmark::kMillisecond);

void small_search_by_adapter(benchmark::State& state) {
  line_process server({PADDOCK_MCP_PROGRAM, "--tools", "coding", "--workspace", small_tree()});
  const std::string call = search_call("return");
  if (server.round_trip(call).find(R"("totalMatches":8000)") == std::string_view::npos)
    state.SkipWithError("wrong count");
  for (auto _ : state)
    server.round_trip(call);
}
BENCHMARK(small_search_by_adapter)
    ->Name("adapter/searchText_1000_files")
    ->UseRealTime()
    ->ComputeStatistics("lowest", lowest)
    ->Unit(benchmark::kMillisecond);

/// The most memory a server ever had that was asked for a word on a million lines.
void million_matches(benchmark::State& state) {
  double peak = 0;
  for (auto _ : state) {
    line_process server({PADDOCK_MCP_PROGRAM, "--tools", "coding", "--workspace", searched_tree()});
    const std::string answer(server.round_trip(search_call("return")));
    const auto at = answer.find(R"("totalMatches":)");
    if (at == std::string::npos || std::atoll(answer.c_str() + at + 15) < 1'000'000)
      state.SkipWithError("the tree has fewer than a million such lines");
    peak = server.memory_kib("VmHWM");
  }
  state.counters["peak_KiB"] = peak;
}
BENCHMARK(million_matches)
    ->Name("adapter/million_matches")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

const bool registered = [] {
  const std::string tree = tree_of_people();
  benchmark::AddCustomContext(
      "tree", tree.empty() ? "generated" : std::filesystem::path(tree).filename().string());
  for (const unsigned threads : {1u, 2u})
    add_searches(threads);
  add("map/100000_files", map_100000);
  add("map/list_100000_files", list_100000);
  add("floor/walk_statx_100000_files", walk_100000);
  return true;
}();

} // namespace
} // namespace paddock::bench
