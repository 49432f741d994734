// SPDX-License-Identifier: MIT

// Removing a tree of 20,000 files in 200 directories, made anew for each round (not timed). Beside
// it a bare loop of unlinkat over the same tree, std::filesystem::remove_all, and rm -rf.

#include "scratch.hpp"

#include <paddock/file/directory.hpp>

#include <benchmark/benchmark.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace paddock::bench {
namespace {

constexpr int directories = 200;
constexpr int files_each = 100;

void make_tree(const scratch& s) {
  std::filesystem::create_directories(s.path() + "/t");
  for (int d = 0; d < directories; ++d) {
    const std::string directory = s.path() + "/t/d" + std::to_string(d);
    std::filesystem::create_directory(directory);
    for (int f = 0; f < files_each; ++f) {
      const std::string name = directory + "/f" + std::to_string(f);
      ::close(::open(name.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    }
  }
}

template <class Remove> void rounds(benchmark::State& state, Remove&& remove) {
  const scratch s;
  for (auto _ : state) {
    state.PauseTiming();
    make_tree(s);
    state.ResumeTiming();
    remove(s);
    state.PauseTiming();
    if (std::filesystem::exists(s.path() + "/t")) state.SkipWithError("still there");
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * directories * files_each);
}

void remove_tree(benchmark::State& state) {
  rounds(state, [](const scratch& s) {
    const root r = *root::open(s.path());
    (void)remove_directory(r, "t", {.recursive = recursion::yes}).has_value();
  });
}

void unlink_all(int directory) {
  DIR* stream = ::fdopendir(directory);
  while (const dirent* entry = ::readdir(stream)) {
    if (entry->d_name[0] == '.') continue;
    if (entry->d_type != DT_DIR) {
      ::unlinkat(directory, entry->d_name, 0);
    } else {
      unlink_all(::openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ::unlinkat(directory, entry->d_name, AT_REMOVEDIR);
    }
  }
  ::closedir(stream);
}
void floor_unlink(benchmark::State& state) {
  rounds(state, [](const scratch& s) {
    unlink_all(::open((s.path() + "/t").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ::rmdir((s.path() + "/t").c_str());
  });
}
void usual_remove_all(benchmark::State& state) {
  rounds(state, [](const scratch& s) { std::filesystem::remove_all(s.path() + "/t"); });
}
void peer_rm(benchmark::State& state) {
  rounds(state, [](const scratch& s) {
    if (std::system(("rm -rf '" + s.path() + "/t'").c_str()) != 0) std::abort();
  });
}

void few(benchmark::internal::Benchmark* b) {
  b->Iterations(3)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(remove_tree)->Name("delete/20000_files")->Apply(few);
BENCHMARK(floor_unlink)->Name("floor/unlinkat_20000_files")->Apply(few);
BENCHMARK(usual_remove_all)->Name("usual/remove_all_20000_files")->Apply(few);
BENCHMARK(peer_rm)->Name("peer/rm_rf_20000_files")->Apply(few);

} // namespace
} // namespace paddock::bench
