// SPDX-License-Identifier: MIT

// Listing 10,000 skills: a fresh store on one thread and on two, and a list that is only checked,
// beside the bare loop of system calls that no implementation can beat (floor/…) and what a Node.js
// host would do (peer/…). Warm; real time, because threads and another process take part. The
// counter is the time per skill.
//
// Reading 1 KiB of each file and not 4 was worth 4 %: the content of so many files is in no cache.
// A dead end: sorting the directories by numbers made of their names and not by the names made no
// difference. What is left above the floor is, in equal parts, the parser, memory for the list
// (page faults among it), and copies of names and descriptions; the kernel's part is that of the
// floor.

#include "scratch.hpp"

#include <paddock/skill/store.hpp>

#include <benchmark/benchmark.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

namespace paddock::bench {
namespace {

constexpr int skills = 10'000;
constexpr const char* directory = ".agents/skills";

std::string skill_text(int number) {
  const std::string name = "skill-number-" + std::to_string(number);
  std::string text = "---\nname: " + name + "\ndescription: Use when the user asks for task " +
                     std::to_string(number) +
                     " of the list, or mentions its name, and wants it done with the scripts that "
                     "come with this skill and not by hand.\nlicense: MIT\nversion: \"1." +
                     std::to_string(number % 10) +
                     "\"\nmetadata:\n  author: someone\n  tags: [one, two, three]\n---\n\n# " +
                     name + "\n";
  const std::size_t size = 4'000 + static_cast<std::size_t>(number) * 7'919 % 7'000;
  while (text.size() < size)
    text += "\nThe quick brown fox jumps over the lazy dog, and then explains in detail how.\n";
  return text;
}

/// Made once for all benchmarks: it takes longer than they do.
const scratch& tree() {
  static const scratch s;
  static const bool made = [] {
    for (int i = 0; i < skills; ++i)
      s.file(std::string(directory) + "/skill-number-" + std::to_string(i) + "/SKILL.md",
             skill_text(i));
    // Lists check what has just been written more closely.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return true;
  }();
  (void)made;
  return s;
}

skill_store open_store(unsigned threads) {
  auto r = std::make_shared<const root>(*root::open(tree().path()));
  return *skill_store::open(std::move(r), {.threads_max = threads});
}

void per_skill(benchmark::State& state) {
  state.counters["per_skill"] = benchmark::Counter(
      skills, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void scan(benchmark::State& state) {
  const auto threads = static_cast<unsigned>(state.range(0));
  const auto once = open_store(threads).list();
  if (!once || (*once)->skills.size() != skills) state.SkipWithError("wrong list");
  for (auto _ : state) {
    const auto store = open_store(threads);
    benchmark::DoNotOptimize(store.list());
  }
  per_skill(state);
}
BENCHMARK(scan)
    ->Name("skills/scan")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void revalidate(benchmark::State& state) {
  const auto store = open_store(static_cast<unsigned>(state.range(0)));
  const auto once = store.list();
  if (!once || (*once)->skills.size() != skills) state.SkipWithError("wrong list");
  for (auto _ : state) {
    const auto again = store.list();
    if (!again || again->get() != once->get()) state.SkipWithError("another list");
  }
  per_skill(state);
}
BENCHMARK(revalidate)
    ->Name("skills/revalidate")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void floor_scan(benchmark::State& state) {
  const std::string top = tree().path() + "/" + directory;
  for (auto _ : state) {
    std::array<char, 4096> buffer; // NOLINT: filled by pread
    int found = 0;
    DIR* dir = ::opendir(top.c_str());
    const int at = ::dirfd(dir);
    std::array<char, 512> path{};
    while (const dirent* entry = ::readdir(dir)) {
      if (entry->d_name[0] == '.') continue;
      std::snprintf(path.data(), path.size(), "%s/SKILL.md", entry->d_name);
      const int fd = ::openat(at, path.data(), O_RDONLY | O_CLOEXEC);
      if (::pread(fd, buffer.data(), buffer.size(), 0) > 0) ++found;
      ::close(fd);
    }
    ::closedir(dir);
    if (found != skills) state.SkipWithError("wrong count");
  }
  per_skill(state);
}
BENCHMARK(floor_scan)
    ->Name("floor/getdents_openat_pread_close")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void peer_node(benchmark::State& state) {
  const std::string command = "'" PADDOCK_RUN_NODE "' '" PADDOCK_SKILL_SCAN_PEER "' '" +
                              tree().path() + "/" + directory + "' '" PADDOCK_NODE_MODULES "' 2>&1";
  for (auto _ : state) {
    double microseconds = 0;
    int found = 0;
    FILE* out = ::popen(command.c_str(), "r");
    const int read = out == nullptr ? 0 : std::fscanf(out, "%lf %d", &microseconds, &found);
    if (out != nullptr) ::pclose(out);
    if (read != 2 || found != skills) {
      state.SkipWithError("Node.js with gray-matter is not installed");
      return;
    }
    state.SetIterationTime(microseconds * 1e-6 * skills);
  }
  per_skill(state);
}
BENCHMARK(peer_node)
    ->Name("peer/node_gray_matter")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace paddock::bench
