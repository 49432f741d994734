// SPDX-License-Identifier: MIT

// The history of a workspace beside the least that any design has to do: a walk that looks at each
// entry, and one that opens, reads and closes each file. The trees have 2,000 and 100,000 files.
//
// `first_reading` and `scan` name their floor beside them; `command` is what both looks add to a
// command that changes one file. The counter `wall_ms` is what passed; the time is that of all
// threads on processors.
//
// The look before a command goes by inotify(7), and the one behind it where the command was
// confined and alone. Else it is a whole scan, because events do not tell everything, with IN_OPEN
// and IN_CLOSE_WRITE neither (tried on Linux 6.18):
// - link() to a place outside of the tree, a write through that name and unlink(): no event at all,
//   and the file has one name again. A mapping made through such a name can still be there then.
// - on overlayfs the close of a mapped file comes at close(), with the mapping still there, and a
//   lease (F_RDLCK), which elsewhere is refused as long as somebody can write, is given.
// - two open files are one IN_OPEN, as equal events are merged: who counts opens and closes takes a
//   file for closed that is open for writing.
// - a file that was opened, or mapped, before the watch: nothing before its close.
// A confined command cannot do the first (link() to another mount is EXDEV), and has closed all
// when it has ended. What it can do is link() within the workspace, write, and unlink(): of the
// file's first name there is no event, and link() looks as open(O_CREAT) does. So its filter
// reports link() (SECCOMP_RET_USER_NOTIF; the call goes on): without one no name is a second one,
// and new directories and passing names can be looked at alone. Where it called link(), a whole
// scan comes behind a command that made a directory (which nobody watches yet), or a name that is
// gone at its end and whose file did not go on to be the only one of its name; compilers do so. A
// new directory cannot be looked at alone: mkdir n; ln f n/x; echo >> n/x; rm n/x. A thread that
// watches n at once comes too late, and the times of n do not tell, in one tick of the clock.
// A notified link() and unlink() take 5.5 us in place of 2.2. `git commit` calls link() three
// times, with core.createObject=rename never: commands get that setting. Of no use:
// - fanotify(7) with FAN_REPORT_TARGET_FID says which file got a name, but not in new directories,
//   and containers forbid it;
// - IN_OPEN: a search of 100,000 files is six times what the queue holds;
// - a descriptor that a command leaves in a socket that nobody has any more is closed by the
//   kernel's collector, perhaps after the end of the command: the event comes then, and the time of
//   change says whose it is (ended_then).
// Nobody is told either of changes by other machines (network, user space) or below an overlay.
//
// Memory of paddock-mcp with a million files of 30 bytes, twenty to a directory (VmRSS, of it
// RssAnon, in MiB): 42 (33) after the start and a command, 62 (53) when all is read and at most.
// Before: 208 (199), 253 (244), and 451 at most. Since then leaves are packed, beyond 4.5 they go
// to a file, and the first scan is recorded in pieces. An entry takes 27 bytes in a leaf, 43 once
// it is read, and unpacked 64 and its name; a content 16 in the table, 72 in an unordered_map. With
// all leaves in memory index and table take 79 MiB in place of 30. A scan takes 0.08 us more an
// entry.
//
// Others: fstatat in place of statx, or statx asked for less, saves 3 % of a status, which is
// nearly all of a scan.

#include "scratch.hpp"

#include <paddock/history/history.hpp>

#include <benchmark/benchmark.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::bench {
namespace {

namespace fs = std::filesystem;

/// A workspace with so many files, twenty to a directory, made once.
class workspace_tree {
public:
  static const workspace_tree& of(std::int64_t files) {
    static std::map<std::int64_t, std::unique_ptr<workspace_tree>> made;
    auto& tree = made[files];
    if (!tree) tree.reset(new workspace_tree(files));
    return *tree;
  }
  [[nodiscard]] std::string workspace() const { return top_.path() + "/ws"; }
  /// Makes the directory for stores an empty one.
  void fresh_state() const {
    fs::remove_all(state());
    fs::create_directory(state());
    fs::permissions(state(), fs::perms::owner_all);
  }
  [[nodiscard]] std::string state() const { return top_.path() + "/state"; }

private:
  explicit workspace_tree(std::int64_t files) {
    constexpr std::int64_t per_directory = 20;
    std::uint64_t seed = 1;
    for (std::int64_t i = 0; i < files; ++i) {
      const std::int64_t directory = i / per_directory;
      const std::string in =
          workspace() + "/d" + std::to_string(directory / 50) + "/e" + std::to_string(directory);
      if (i % per_directory == 0) fs::create_directories(in);
      std::string text;
      for (std::size_t size = 200 + static_cast<std::size_t>(i * 7919 % 12'000);
           text.size() < size;) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        text +=
            "int value_" + std::to_string(seed >> 40U) + " = compute(" + std::to_string(i) + ");\n";
      }
      std::ofstream(in + "/file_" + std::to_string(i) + ".cpp") << text;
    }
  }
  scratch top_;
};

/// Everything beneath a directory by getdents and statx; with `read`, files are read as well.
std::uint64_t walk_bare(int parent, const char* name, bool read, std::vector<char>& content) {
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return 0;
  std::uint64_t entries = 0;
  std::vector<char> buffer(32 * 1024);
  for (long n = 0; (n = ::syscall(SYS_getdents64, fd, buffer.data(), buffer.size())) > 0;) {
    for (long at = 0; at < n;) {
      std::uint16_t length = 0;
      std::memcpy(&length, buffer.data() + at + 16, sizeof length);
      const char* entry = buffer.data() + at + 19;
      at += length;
      if (std::strcmp(entry, ".") == 0 || std::strcmp(entry, "..") == 0) continue;
      struct statx s {};
      if (::statx(fd, entry, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &s) != 0) continue;
      ++entries;
      if (S_ISDIR(s.stx_mode)) {
        entries += walk_bare(fd, entry, read, content);
      } else if (read) {
        const int file = ::openat(fd, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        for (ssize_t got = 1; got > 0;)
          got = ::read(file, content.data(), content.size());
        ::close(file);
      }
    }
  }
  ::close(fd);
  return entries;
}

void timed(benchmark::State& state, const std::function<void()>& before,
           const std::function<void()>& work) {
  using clock = std::chrono::steady_clock;
  std::chrono::duration<double, std::milli> wall{};
  for (auto _ : state) {
    state.PauseTiming();
    before();
    state.ResumeTiming();
    const auto begin = clock::now();
    work();
    wall += clock::now() - begin;
  }
  state.counters["wall_ms"] = benchmark::Counter(wall.count(), benchmark::Counter::kAvgIterations);
}

std::shared_ptr<history::store> open_store(const workspace_tree& tree, unsigned threads) {
  history::options how;
  how.directory = tree.state();
  how.threads_max = threads;
  auto where = root::open(tree.workspace());
  if (!where) return nullptr;
  auto made = history::store::open(std::make_shared<const root>(*std::move(where)), std::move(how));
  return made ? *made : nullptr;
}

void scan_floor(benchmark::State& state) {
  const auto& tree = workspace_tree::of(state.range(0));
  std::vector<char> none;
  timed(
      state, [] {},
      [&] {
        benchmark::DoNotOptimize(walk_bare(AT_FDCWD, tree.workspace().c_str(), false, none));
      });
}

void scan(benchmark::State& state) {
  const auto& tree = workspace_tree::of(state.range(0));
  tree.fresh_state();
  const auto store = open_store(tree, static_cast<unsigned>(state.range(1)));
  if (!store || !store->read_in()) return state.SkipWithError("no store");
  timed(
      state, [] {}, [&] { store->look(); });
}

void first_reading_floor(benchmark::State& state) {
  const auto& tree = workspace_tree::of(state.range(0));
  std::vector<char> content(std::size_t{1} << 16U);
  timed(
      state, [] {},
      [&] {
        benchmark::DoNotOptimize(walk_bare(AT_FDCWD, tree.workspace().c_str(), true, content));
      });
}

void first_reading(benchmark::State& state) {
  const auto& tree = workspace_tree::of(state.range(0));
  std::shared_ptr<history::store> store;
  const auto fresh = [&] {
    store.reset();
    tree.fresh_state();
    store = open_store(tree, static_cast<unsigned>(state.range(1)));
  };
  timed(state, fresh, [&] {
    if (store && !store->read_in()) state.SkipWithError("not read");
  });
  if (store) state.counters["store_MB"] = static_cast<double>(store->state().store_bytes) / 1e6;
}

void open_again(benchmark::State& state) {
  const auto& tree = workspace_tree::of(state.range(0));
  tree.fresh_state();
  {
    const auto store = open_store(tree, 2);
    if (!store || !store->read_in()) return state.SkipWithError("no store");
  }
  timed(
      state, [] {},
      [&] {
        const auto store = open_store(tree, static_cast<unsigned>(state.range(1)));
        if (!store || !store->read_in()) state.SkipWithError("no store");
      });
}

void command(benchmark::State& state) {
  const auto& tree = workspace_tree::of(state.range(0));
  tree.fresh_state();
  const auto store = open_store(tree, static_cast<unsigned>(state.range(1)));
  if (!store || !store->read_in()) return state.SkipWithError("no store");
  int round = 0;
  timed(
      state, [] {},
      [&] {
        auto recording = store->before_command("exec", "touch");
        std::ofstream(tree.workspace() + "/changed") << ++round;
        (void)recording.finish(static_cast<history::command_reach>(state.range(2)));
      });
}

void tool(benchmark::State& state) {
  const auto& tree = workspace_tree::of(state.range(0));
  tree.fresh_state();
  const auto store = open_store(tree, 2);
  if (!store || !store->read_in()) return state.SkipWithError("no store");
  int round = 0;
  const std::vector<std::string> paths{"d0/e0/file_1.cpp"};
  timed(
      state, [] {},
      [&] {
        auto recording = store->before_tool("editTextFile", paths);
        std::ofstream(tree.workspace() + '/' + paths.front()) << ++round;
        (void)recording.finish();
      });
}

#define PADDOCK_HISTORY_BENCH(work, name)                                                          \
  BENCHMARK(work)                                                                                  \
      ->Name(name)                                                                                 \
      ->Unit(benchmark::kMillisecond)                                                              \
      ->MeasureProcessCPUTime()                                                                    \
      ->ArgName("files")
#define PADDOCK_HISTORY_BENCH_THREADS(work, name)                                                  \
  BENCHMARK(work)                                                                                  \
      ->Name(name)                                                                                 \
      ->Unit(benchmark::kMillisecond)                                                              \
      ->MeasureProcessCPUTime()                                                                    \
      ->ArgNames({"files", "threads"})                                                             \
      ->ArgsProduct({{2'000, 100'000}, {1, 2}})
PADDOCK_HISTORY_BENCH(scan_floor, "floor/history_walk_statx")->Arg(2'000)->Arg(100'000);
PADDOCK_HISTORY_BENCH_THREADS(scan, "history/scan");
PADDOCK_HISTORY_BENCH(first_reading_floor, "floor/history_open_read_close")
    ->Arg(2'000)
    ->Arg(100'000);
PADDOCK_HISTORY_BENCH_THREADS(first_reading, "history/first_reading");
PADDOCK_HISTORY_BENCH_THREADS(open_again, "history/open_again");
BENCHMARK(command)
    ->Name("history/command")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->ArgNames({"files", "threads", "anywhere"})
    ->ArgsProduct({{2'000, 100'000}, {1, 2}, {0, 1}});
PADDOCK_HISTORY_BENCH(tool, "history/tool")->Arg(2'000)->Arg(100'000);

} // namespace
} // namespace paddock::bench
