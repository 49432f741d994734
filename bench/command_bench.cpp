// SPDX-License-Identifier: MIT

// What it costs to run /usr/bin/true: bare, supervised, confined, and by bubblewrap where it is
// installed. Real time, because the work is done in other processes; look at medians of
// --benchmark_repetitions.
//
// Where the time goes, and what does not help:
// - In a virtual machine CPUID traps. The start-up code of the C library takes some 0.6 ms for it,
//   in `true` as in any program; the helper does without (src/exec/helper/runtime/start.cpp).
// - A network namespace costs 0.3 ms here and as much again later, when the kernel takes it down.
//   So there is one for all commands of a workspace, with a loopback, which they enter by setns.
// - A new tmpfs costs ten times a directory in one that exists, and each mount a few microseconds
//   twice: now, and when the command is gone.
// - The kernel runs the system call filter once for each of its calls when it is installed: there
//   a search by halves takes half the steps of a list.
// - A repository in the workspace is four mounts, and each name in it that is not there is looked
//   for again when the command has ended. Most of that was once the way there, opened directory by
//   directory for each name. A hundred of them are some 450 open_tree and as many move_mount: 10.0
//   ms in place of 3.4, or 66 microseconds each. Fewer mounts would do only for fewer promises:
//   the kernel keeps read-only by mount, and what is no mount point could be moved away.
// - Locked copies of the mounts, in a user namespace more (src/exec/helper/locked_mounts.hpp), cost
//   0.1 to 0.3 ms of 5 on a machine whose kernel is slow with mounts.
// - vfork instead of fork inside the helper saves about 30 microseconds, and costs its clarity.

#include "scratch.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/path/root.hpp>

#include <benchmark/benchmark.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

extern char** environ; // NOLINT

namespace paddock::bench {
namespace {

/// Runs a program and waits; false when it cannot be started or fails.
bool spawn_and_wait(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int status = 1;
  return ::posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) == 0 &&
         ::waitpid(child, &status, 0) == child && status == 0;
}

void bare(benchmark::State& state) {
  for (auto _ : state)
    if (!spawn_and_wait({"/usr/bin/true"})) state.SkipWithError("cannot run true");
}
BENCHMARK(bare)->Name("floor/posix_spawn_true")->UseRealTime()->Unit(benchmark::kMillisecond);

/// It brings the loopback up in a namespace that it makes for each command.
void bubblewrap(benchmark::State& state) {
  const scratch s;
  const std::vector<std::string> command{
      "bwrap",         "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent",
      "--new-session", "--ro-bind",     "/usr",          "/usr",          "--symlink",
      "usr/lib",       "/lib",          "--symlink",     "usr/lib64",     "/lib64",
      "--symlink",     "usr/bin",       "/bin",          "--proc",        "/proc",
      "--dev",         "/dev",          "--tmpfs",       "/tmp",          "--bind",
      s.path(),        s.path(),        "--chdir",       s.path(),        "/usr/bin/true"};
  if (!spawn_and_wait(command)) {
    state.SkipWithError("bwrap is not installed or may not run here");
    return;
  }
  for (auto _ : state)
    if (!spawn_and_wait(command)) state.SkipWithError("bwrap failed");
}
BENCHMARK(bubblewrap)->Name("peer/bwrap_true")->UseRealTime()->Unit(benchmark::kMillisecond);

/// As git makes one, as far as commands find something protected in it.
void make_repository(const std::string& directory) {
  std::filesystem::create_directories(directory + "/.git/hooks");
  std::filesystem::create_directories(directory + "/.git/objects");
  for (const char* file : {"/.git/HEAD", "/.git/config"})
    std::ofstream(directory + file) << '\n';
}

void run_true(benchmark::State& state, const confinement_policy& policy, int repositories = 0) {
  const scratch s;
  for (int i = 0; i < repositories; ++i)
    make_repository(s.path() + ("/r" + std::to_string(i)));
  const root workspace = *root::open(s.path());
  command run;
  run.argv = {"/usr/bin/true"};
  run.environment = {"PATH=/usr/bin:/bin"};
  run.working_directory = workspace.descriptor();
  run.workspace = workspace.descriptor();
  run.confinement = policy;
  run.helper = PADDOCK_HELPER_PROGRAM;
  for (auto _ : state) {
    const auto done = paddock::run(run);
    if (!done || done->exit_code != 0) state.SkipWithError("true did not run");
  }
}
BENCHMARK_CAPTURE(run_true, host, confinement_policy::host())
    ->Name("command/supervised_true")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_true, confined, confinement_policy{})
    ->Name("command/confined_true")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_true, without_loopback, confinement_policy{.reach = network_reach::none})
    ->Name("command/confined_true_without_loopback")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_true, among_100_repositories, confinement_policy{}, 100)
    ->Name("command/confined_true_among_100_repositories")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace paddock::bench
