// SPDX-License-Identifier: MIT

// Nothing that a command starts outlives the call: deadline, cancellation, daemons, fork bombs, and
// the death of the supervisor or of the calling process.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/told.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <grp.h>
#include <spawn.h>
#include <sys/file.h>

#include <limits>

extern char** environ;

namespace paddock::test {
namespace {

constexpr unsigned nobody = 65534;
constexpr int unreachable = 77;

void become_nobody() {
  if (::geteuid() != 0) return;
  if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) std::abort();
  for (const char* program : {PADDOCK_TEST_HELPER, PADDOCK_TEST_CHILD})
    if (::access(program, X_OK) != 0) ::_exit(unreachable);
}

/// By trying, independently of the code under test.
bool can_make_groups() {
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("0::")) continue;
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      const std::string group = mount + line.substr(3) + "/paddock-test";
      if (::mkdir(group.c_str(), 0700) != 0) continue;
      const bool real = ::access((group + "/cgroup.kill").c_str(), W_OK) == 0;
      ::rmdir(group.c_str());
      if (real) return true;
    }
  }
  return false;
}

class CommandKill : public command_fixture {
protected:
  /// Ends with a short deadline; nothing may be left when the call returns.
  [[nodiscard]] command brief(command asked) const {
    asked.timeout_ms = 300;
    asked.kill_grace_ms = 100;
    return asked;
  }
  /// Runs `body` in a process of its own, as nobody when this one is root (the limit that bounds a
  /// fork bomb does not hold for root), and returns its exit code: 0 when `body` was true.
  int in_unprivileged_process(const std::function<bool()>& body) const {
    EXPECT_EQ(0, ::chmod(tree_.path().c_str(), 0755));
    const pid_t host = ::fork();
    if (host == 0) {
      become_nobody();
      ::_exit(body() ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(host, ::waitpid(host, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void expect_gone() const { EXPECT_EQ(processes_with(cookie_), std::vector<pid_t>{}); }
};

TEST_F(CommandKill, TheSearchForSurvivorsFindsADaemon) {
  // Negative control: without the helper it does live on.
  std::string mode = "daemon-closed";
  std::string program = PADDOCK_TEST_CHILD;
  char* argv[] = {program.data(), mode.data(), cookie_.data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(0, ::posix_spawn(&child, argv[0], nullptr, nullptr, argv, environ));
  ASSERT_EQ(child, ::waitpid(child, nullptr, 0));
  EXPECT_EQ(processes_with(cookie_).size(), 1U);
}

TEST_F(CommandKill, EndsAtTheDeadline) {
  const struct {
    const char* mode;
    std::optional<int> signal;
    bool leftovers;
  } cases[] = {
      {"live", SIGTERM, false},
      {"ignore-term", SIGKILL, false},
      {"stop-self", SIGTERM, false},
      {"vfork-bound", SIGTERM, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.mode);
    const auto r = run(brief(child(c.mode)));
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->ended, ending::timed_out);
    EXPECT_GE(r->duration_ms, 300);
    if (std::string_view(c.mode) !=
        "stop-self") { // continued by the signal for the group: may end either way
      EXPECT_EQ(r->signal, c.signal);
    }
    EXPECT_EQ(r->leftovers_killed, c.leftovers);
    expect_gone();
  }
}

TEST_F(CommandKill, ACommandMayEndItselfAtTheDeadline) {
  auto asked =
      brief(shell("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"));
  asked.kill_grace_ms = std::numeric_limits<std::int64_t>::max();
  const auto r = run(asked);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->ended, ending::timed_out);
  EXPECT_EQ(r->exit_code, 5);
  EXPECT_EQ(r->out.text(), "ready\nbye\n");
}

TEST_F(CommandKill, EndlessOutputMeetsItsDeadline) {
  auto asked = brief(make({"yes"}));
  asked.output_bytes_max = 10;
  const auto r = run(asked);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->ended, ending::timed_out);
  EXPECT_TRUE(r->out.truncated);
  EXPECT_EQ(r->out.head, "y\ny\ny");
}

TEST_F(CommandKill, WhatACommandLeavesBehindEndsWithIt) {
  for (const char* mode : {"daemon-closed", "daemon-holding", "background"}) {
    SCOPED_TRACE(mode);
    const auto r = run(child(mode));
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->ended, ending::exited);
    EXPECT_EQ(r->exit_code, 0);
    EXPECT_EQ(r->kill, strongest_kill());
    EXPECT_TRUE(r->leftovers_killed);
    EXPECT_FALSE(r->supervisor_killed);
    expect_gone();
  }
}

TEST_F(CommandKill, DaemonsEndAtTheDeadlineToo) {
  for (const char* mode : {"daemon-closed", "daemon-holding"}) {
    SCOPED_TRACE(mode);
    auto asked = brief(child(mode));
    asked.argv.emplace_back("live on");
    const auto r = run(asked);
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->ended, ending::timed_out);
    EXPECT_EQ(r->out.text(), "ready\n");
    EXPECT_TRUE(r->leftovers_killed);
    expect_gone();
  }
}

// --- a lock for others --------------------------------------------------------------------------

/// Through an open file of its own. 0, or the errno.
int lock_anew(const std::string& path, int how) {
  const file_descriptor other(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return ::flock(other.get(), how) == 0 ? 0 : errno;
}

TEST_F(CommandKill, ALockLastsAsLongAsTheCommandAlsoWithoutTheCaller) {
  const std::string path = tree_.path() + "/locked";
  file_descriptor locked(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(locked.get(), LOCK_EX), 0);
  auto asked = shell("ls -l /proc/self/fd >&2; echo ready; while :; do sleep 1; done");
  asked.lock = locked.get();
  const cancellation cancel;
  int told = 0;
  asked.on_output = [&](output_stream stream, std::string_view) {
    if (stream == output_stream::err) return;
    locked.reset(); // as if this process had been killed
    told = lock_anew(path, LOCK_EX | LOCK_NB);
    cancel.request();
  };
  const auto r = run(asked, &cancel);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(told, EWOULDBLOCK);
  EXPECT_EQ(r->err.text().find("locked"), std::string::npos) << r->err.text();
  EXPECT_EQ(lock_anew(path, LOCK_EX), 0);
}

// --- cancellation -------------------------------------------------------------------------------

TEST_F(CommandKill, IsCancelledFromAnotherThread) {
  const cancellation cancel;
  const cancellation& copy = cancel;
  auto asked = child("ignore-term");
  asked.kill_grace_ms = 10;
  std::thread other;
  asked.on_output = [&](output_stream, std::string_view) {
    other = std::thread([copy] {
      copy.request();
      copy.request();
    });
  };
  const auto r = run(asked, &cancel);
  other.join();
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->ended, ending::cancelled);
  EXPECT_EQ(r->signal, SIGKILL);
  EXPECT_TRUE(cancel.requested());
  expect_gone();
  EXPECT_THAT(run(asked, &cancel), IsError(error_code::cancelled));
}

TEST_F(CommandKill, CopiesOfARequestAreOne) {
  const cancellation first;
  cancellation second;
  second = first;
  second.request();
  EXPECT_TRUE(first.requested());
  const cancellation other;
  second = other;
  EXPECT_FALSE(second.requested());
  EXPECT_THAT(run(child("live"), &first), IsError(error_code::cancelled));
}

TEST_F(CommandKill, OneRequestEndsManyCommands) {
  const cancellation cancel;
  std::vector<std::thread> threads;
  std::atomic<int> running{0};
  std::atomic<int> cancelled{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      auto asked = shell("echo ready; while :; do sleep 1; done");
      asked.on_output = [&](output_stream, std::string_view) { ++running; };
      const auto r = run(asked, &cancel);
      if (r && r->ended == ending::cancelled) ++cancelled;
    });
  EXPECT_TRUE(eventually([&] { return running == 4; }));
  cancel.request();
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(cancelled, 4);
}

// --- attacks on the supervisor ------------------------------------------------------------------

TEST_F(CommandKill, KillingItsParentDoesNothingInAPidNamespace) {
  if (!is_confined()) GTEST_SKIP() << "there is no PID namespace";
  const auto r = run(brief(child("kill-parent")));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->ended, ending::timed_out);
  EXPECT_TRUE(r->leftovers_killed);
  EXPECT_FALSE(r->supervisor_killed);
  expect_gone();
}

TEST_F(CommandKill, KillingItsParentFreesNothing) {
  if (is_confined()) GTEST_SKIP() << "cannot be done in a PID namespace";
  const auto r = run(child("kill-parent"));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->ended, ending::signalled);
  EXPECT_EQ(r->signal, SIGKILL);
  EXPECT_TRUE(r->supervisor_killed);
  EXPECT_TRUE(r->leftovers_killed);
  EXPECT_EQ(r->kill, strongest_kill());
  expect_gone();
}

TEST_F(CommandKill, KillingTheWholeSupervisorIsNoticed) {
  if (is_confined()) GTEST_SKIP() << "cannot be done in a PID namespace";
  const auto r = run(child("kill-both"));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->signal, SIGKILL);
  EXPECT_TRUE(r->supervisor_killed);
  EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); }));
}

TEST_F(CommandKill, StoppingTheSupervisorDoesNotStopTheDeadline) {
  const auto r = run(brief(child("stop-parents")));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->ended, ending::timed_out);
  EXPECT_FALSE(r->supervisor_killed);
  EXPECT_TRUE(r->leftovers_killed);
  expect_gone();
}

// --- without a PID namespace ---------------------------------------------------------------------

/// How the tree was ended, "refused" or "survived" in the end; the machine lacks namespaces.
std::string ending_without_namespaces(command asked) {
  become(machine::without_namespaces);
  const auto r = run(asked);
  if (!r) return "refused";
  const bool told = r->confinement.of(confinement_layer::kill).mechanism.find("control group") !=
                    std::string::npos;
  if (!r->leftovers_killed) return "survived";
  if (r->kill == tree_kill::control_group) return told ? "control group" : "untold";
  return r->kill == tree_kill::subreaper && !told ? "subreaper" : "untold";
}

TEST_F(CommandKill, WithoutAPidNamespaceTheNextStrongestWayIsTaken) {
  for (const bool unprivileged : {false, true}) {
    for (const char* mode : {"daemon-closed", "daemon-holding", "background"}) {
      SCOPED_TRACE(std::string(mode) + (unprivileged ? ", unprivileged" : ""));
      auto asked = child(mode);
      asked.confinement = {};
      asked.confinement.read_paths = {PADDOCK_TEST_CHILD};
      ASSERT_EQ(0, ::chmod(tree_.path().c_str(), 0777));
      int status = 0;
      const auto end = [&] {
        if (unprivileged) become_nobody();
        return ending_without_namespaces(asked);
      };
      const std::string way = told_by(end, &status);
      if (WEXITSTATUS(status) == unreachable) GTEST_SKIP() << "the build directory is private";
      if (way == "refused") GTEST_SKIP() << "Landlock is too old to do without";
      EXPECT_THAT(way, testing::AnyOf("control group", "subreaper"));
      if (!unprivileged && can_make_groups()) {
        EXPECT_EQ(way, "control group");
      }
      expect_gone();
    }
  }
}

// --- without privileges -------------------------------------------------------------------------

TEST_F(CommandKill, ACommandCannotReachIntoItsSupervisor) {
  const int status = in_unprivileged_process([&] {
    const auto r = run(shell("ls /proc/$PPID/fd; test $? -ne 0 && ls /proc/$$/fd"));
    return r && r->exit_code == 0;
  });
  if (status == unreachable) GTEST_SKIP() << "the build directory is private";
  EXPECT_EQ(status, 0);
}

TEST_F(CommandKill, ForkBombsEnd) {
  for (const char* mode : {"bomb", "hop-leaving"}) {
    SCOPED_TRACE(mode);
    const int status = in_unprivileged_process([&] {
      auto asked = brief(child(mode));
      auto r = run(asked);
      // On a slow machine it may have ended before it began.
      for (; r && r->out.text().empty() && asked.timeout_ms < 20'000; r = run(asked))
        asked.timeout_ms *= 4;
      return r && r->ended == ending::timed_out && r->leftovers_killed &&
             r->kill == strongest_kill();
    });
    if (status == unreachable) GTEST_SKIP() << "the build directory is private";
    EXPECT_EQ(status, 0);
    expect_gone();
  }
}

TEST_F(CommandKill, AKilledHostLeavesNothingBehind) {
  ASSERT_EQ(0, ::chmod(tree_.path().c_str(), 0755));
  for (const bool unprivileged : {false, true}) {
    SCOPED_TRACE(unprivileged);
    int ready[2];
    ASSERT_EQ(0, ::pipe2(ready, O_CLOEXEC));
    const pid_t host = ::fork();
    if (host == 0) {
      if (unprivileged) become_nobody();
      auto asked = child("daemon-closed");
      asked.argv.emplace_back("live on");
      asked.on_output = [&](output_stream, std::string_view) { (void)!::write(ready[1], "x", 1); };
      (void)run(asked).has_value();
      ::_exit(1);
    }
    ::close(ready[1]);
    char byte = 0;
    const bool started = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
    if (!started) {
      int status = 0;
      ASSERT_EQ(host, ::waitpid(host, &status, 0));
      ASSERT_EQ(WEXITSTATUS(status), unreachable);
      GTEST_SKIP() << "the build directory is private";
    }
    EXPECT_GE(processes_with(cookie_).size(), 3U); // helper, command and daemon
    ASSERT_EQ(0, ::kill(host, SIGKILL));
    ASSERT_EQ(host, ::waitpid(host, nullptr, 0));
    EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); }));
  }
}

TEST_F(CommandKill, AHostMayDieAtAnyMoment) {
  for (int lifetime_ms = 0; lifetime_ms < 20; ++lifetime_ms) {
    const pid_t host = ::fork();
    if (host == 0)
      while (run(child("daemon-closed"))) {
      }
    ::poll(nullptr, 0, lifetime_ms); // any moment will do
    ASSERT_EQ(0, ::kill(host, SIGKILL));
    ASSERT_EQ(host, ::waitpid(host, nullptr, 0));
  }
  EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); }));
}

TEST_F(CommandKill, ADeadHostIsNoticedEvenWhenItsDescriptorsLiveOn) {
  // A process that the host forked has a copy of every descriptor of the host, so their end never
  // comes.
  int ready[2];
  ASSERT_EQ(0, ::pipe2(ready, O_CLOEXEC));
  const pid_t host = ::fork();
  if (host == 0) {
    auto asked = child("ignore-term");
    pid_t copy = 0;
    asked.on_output = [&](output_stream, std::string_view) {
      if (copy != 0) return; // the output may come in several pieces
      copy = ::fork();
      if (copy == 0)
        for (;;)
          ::pause();
      (void)!::write(ready[1], &copy, sizeof copy);
    };
    (void)run(asked).has_value();
    ::_exit(1);
  }
  ::close(ready[1]);
  pid_t copy = 0;
  ASSERT_EQ(static_cast<ssize_t>(sizeof copy), ::read(ready[0], &copy, sizeof copy));
  ::close(ready[0]);
  ASSERT_EQ(0, ::kill(host, SIGKILL));
  ASSERT_EQ(host, ::waitpid(host, nullptr, 0));
  EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); }));
  ::kill(copy, SIGKILL);
}

} // namespace
} // namespace paddock::test
