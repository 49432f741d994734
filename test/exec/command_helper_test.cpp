// SPDX-License-Identifier: MIT

// What a caller is told when the helper says odd things, nothing, or does not end. The helper is
// one that says what the test wants; time passes faster than on the wall.

#include "exec/piped_program.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "support/fault/faulty_process.hpp"
#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/told.hpp"
#include "sys/process.hpp"

#include <pthread.h>
#include <sys/syscall.h>

#include <limits>

namespace paddock::test {
namespace {

std::string said(sys::exec_event event, int first = 0, int second = 0) {
  return std::to_string(static_cast<unsigned>(event)) + ':' + std::to_string(first) + ':' +
         std::to_string(second);
}
std::string failed_at(sys::exec_stage stage, int os_errno) {
  return said(sys::exec_event::failed, static_cast<int>(stage), os_errno);
}
std::string done(sys::tree_remains remains, bool killed) {
  return said(sys::exec_event::done, static_cast<int>(remains), killed ? 1 : 0);
}
/// In a namespace of its own, so that nobody signals a group of this number.
const std::string started = said(sys::exec_event::started);
const std::string ended = said(sys::exec_event::ended, W_EXITCODE(3, 0));

class CommandHelper : public command_fixture {
protected:
  [[nodiscard]] command with(std::vector<std::string> words) const {
    words.insert(words.begin(), cookie_);
    command asked = make(std::move(words));
    asked.helper = PADDOCK_TEST_TALKING_HELPER;
    return asked;
  }
};

TEST_F(CommandHelper, SaysWhatIsLeftOfTheTree) {
  using enum sys::tree_remains;
  const struct {
    sys::tree_remains remains;
    bool killed;
    tree_kill kill;
  } cases[] = {
      {nothing, false, tree_kill::not_needed},
      {nothing_killed, true, tree_kill::subreaper},
      {namespace_killed, true, tree_kill::pid_namespace},
      {group_killed, true, tree_kill::control_group},
      {unknown, true, tree_kill::process_group},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(static_cast<int>(c.remains));
    const auto r = run(with({started, ended, done(c.remains, c.killed)}));
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->ended, ending::exited);
    EXPECT_EQ(r->exit_code, 3);
    EXPECT_EQ(r->kill, c.kill);
    EXPECT_EQ(r->leftovers_killed, c.killed);
  }
}

TEST_F(CommandHelper, SaysWhyTheProgramWasNotRun) {
  using enum sys::exec_stage;
  const struct {
    sys::exec_stage stage;
    int os_errno;
    error_code code;
    const char* operation;
  } cases[] = {
      {working_directory, EACCES, error_code::permission_denied, "working_directory"},
      {working_directory, ENOENT, error_code::not_found, "working_directory"},
      {confinement, EPERM, error_code::confinement_unavailable, "confinement"},
      {interpreter, ENOENT, error_code::not_found, "interpreter"},
      {execve, ENOEXEC, error_code::unsupported_type, "execve"},
      {execve, ETXTBSY, error_code::conflict, "execve"},
      {execve, EACCES, error_code::permission_denied, "execve"},
      {helper, ENOMEM, error_code::too_many, "helper"},
      {helper, EIO, error_code::unsupported, "helper"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.operation) + " " + ::strerrorname_np(c.os_errno));
    const auto r = run(with({failed_at(c.stage, c.os_errno)}));
    ASSERT_THAT(r, IsError(c.code));
    EXPECT_STREQ(r.error().operation, c.operation);
    EXPECT_EQ(r.error().os_errno, c.os_errno);
  }
}

TEST_F(CommandHelper, MayGoWithoutAWord) {
  const struct {
    const char* name;
    std::vector<std::string> words;
    bool ran; ///< as far as anybody knows
  } cases[] = {
      {"silent", {}, false},
      {"a message of no known size", {"odd"}, false},
      {"a report without a report", {said(sys::exec_event::confined)}, false},
      {"in the middle", {started}, true},
      {"nonsense in the middle", {started, "odd", ended}, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto r = run(with(c.words));
    if (!c.ran) {
      ASSERT_THAT(r, IsError(error_code::unsupported));
      EXPECT_STREQ(r.error().operation, "helper");
      continue;
    }
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->ended, ending::signalled);
    EXPECT_EQ(r->signal, SIGKILL);
    EXPECT_TRUE(r->supervisor_killed);
    EXPECT_EQ(r->kill, tree_kill::pid_namespace);
  }
}

TEST_F(CommandHelper, IsKilledWhenItDoesNotEndTheCommand) {
  const faster_time twentyfold(20);
  for (const bool ends : {false, true}) {
    SCOPED_TRACE(ends ? "after the command" : "at the deadline");
    auto asked = with(ends ? std::vector{started, ended, std::string("deaf")}
                           : std::vector{started, std::string("deaf")});
    asked.timeout_ms = ends ? std::numeric_limits<std::int64_t>::max() : 10'000;
    const auto r = run(asked);
    ASSERT_THAT(r, IsOk());
    EXPECT_TRUE(r->supervisor_killed);
    EXPECT_EQ(r->ended, ends ? ending::exited : ending::timed_out);
    EXPECT_EQ(r->kill, tree_kill::pid_namespace);
    EXPECT_GE(r->duration_ms, sys::tree_end_ms_max);
    EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); }));
  }
}

TEST_F(CommandHelper, OutputThatSomebodyHoldsOpenIsNotWaitedFor) {
  const auto r = run(with({"holder", started, ended, done(sys::tree_remains::nothing, false)}));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->exit_code, 3);
  EXPECT_EQ(processes_with(cookie_).size(), 1U); // it was there all the time
}

TEST_F(CommandHelper, IsNotBelievedWhenATrialShowsOtherwise) {
  const auto report =
      probe_confinement(confinement_policy::best_effort(), PADDOCK_TEST_TALKING_HELPER);
  ASSERT_THAT(report, IsOk());
  for (const layer_report& row : report->layers) {
    SCOPED_TRACE(wire_name(row.layer));
    EXPECT_FALSE(row.applied);
    EXPECT_EQ(row.mechanism, "");
    EXPECT_EQ(row.missing, "a trial showed that it does not hold");
  }
}

TEST_F(CommandHelper, ExplainsWhyAServerWasNotRun) {
  const struct {
    const char* name;
    std::vector<std::string> words;
    std::optional<error_code> failure;
    const char* end;
  } cases[] = {
      {"not confined",
       {failed_at(sys::exec_stage::confinement, EPERM)},
       error_code::confinement_unavailable,
       " cannot be started: this system cannot confine"},
      {"not there",
       {failed_at(sys::exec_stage::execve, ENOENT)},
       error_code::not_found,
       " cannot be started: No such file or directory; check its path"},
      {"run", {started, ended}, {}, "exited with status 3"},
      {"killed",
       {started, said(sys::exec_event::ended, W_EXITCODE(0, SIGKILL))},
       {},
       "was killed by signal 9"},
      {"silent", {}, {}, ""},
      {"odd", {"odd"}, {}, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const command asked = with(c.words);
    const std::string directory = tree_.path();
    const std::optional confinement = asked.confinement;
    auto program = piped_program::start({.argv = asked.argv,
                                         .environment = asked.environment,
                                         .working_directory = directory,
                                         .confinement = confinement,
                                         .helper = asked.helper});
    ASSERT_THAT(program, IsOk());
    pollfd over{program->end_event(), POLLIN, 0};
    ASSERT_EQ(1, ::poll(&over, 1, -1));
    EXPECT_EQ(program->start_failure().has_value(), c.failure.has_value());
    if (c.failure) {
      EXPECT_EQ(wire_name(program->start_failure()->code), wire_name(*c.failure));
    }
    const std::string start = c.failure ? "did not start: " + asked.argv.front() : "";
    EXPECT_THAT(program->describe_end(), testing::StartsWith(start + c.end));
    if (*c.end == '\0') {
      EXPECT_EQ(program->describe_end(), "");
    }
  }
}

// --- without a helper ---------------------------------------------------------------------------

TEST_F(CommandHelper, AProgramOnItsOwnInheritsNothingOnAnOldKernelEither) {
  for (const auto kind : {machine::whole, machine::without_close_range}) {
    SCOPED_TRACE(static_cast<int>(kind));
    int status = -1;
    const auto print_descriptors = [&](int out) {
      become(kind);
      const int leaky = ::open("/dev/null", O_RDONLY); // not close-on-exec
      (void)::fcntl(leaky, F_DUPFD, 200);
      std::vector<std::string> words = {"sh", "-c", "echo /proc/$$/fd/*"};
      std::vector<char*> argv = {words[0].data(), words[1].data(), words[2].data(), nullptr};
      char* none = nullptr;
      const auto child = sys::spawn_standalone({.path = "/bin/sh",
                                                .argv = argv.data(),
                                                .envp = &none,
                                                .in = leaky,
                                                .out = out,
                                                .err = 2,
                                                .working_directory = -1});
      if (child)
        sys::wait(*child);
      else
        ::_exit(1);
    };
    const std::string text = told_through(print_descriptors, &status);
    EXPECT_EQ(status, 0);
    // 3 is the directory that the shell reads.
    EXPECT_THAT(text, testing::MatchesRegex("(/proc/[0-9]+/fd/[0-3][ \n]){4}"));
  }
}

/// A signal is not the end of the time that a child is given.
TEST(WaitFor, GoesOnAfterASignal) {
  struct sigaction counts{}, before{};
  static std::atomic<int> heard;
  heard = 0;
  counts.sa_handler = [](int) { ++heard; };
  ASSERT_EQ(0, ::sigaction(SIGUSR1, &counts, &before));
  std::array<int, 2> ends{};
  ASSERT_EQ(0, ::pipe2(ends.data(), O_CLOEXEC));
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[1]);
    char byte = 0;
    ::_exit(static_cast<int>(::read(ends[0], &byte, 1)));
  }
  ::close(ends[0]);
  const sys::child_process child{
      .id = pid, .handle = file_descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
  EXPECT_FALSE(sys::wait_for(child, 1)); // the control
  std::atomic<bool> has_returned = false;
  bool has_ended = false;
  std::thread waits([&] {
    has_ended = sys::wait_for(child, 600'000);
    has_returned = true;
  });
  while (heard < 1'000 && !has_returned) {
    ::pthread_kill(waits.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  ::close(ends[1]);
  waits.join();
  EXPECT_TRUE(has_ended);
  if (!has_ended) sys::wait(child);
  ASSERT_EQ(0, ::sigaction(SIGUSR1, &before, nullptr));
}

} // namespace
} // namespace paddock::test
