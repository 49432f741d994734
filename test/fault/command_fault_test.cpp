// SPDX-License-Identifier: MIT

// Every system call of running a program fails in turn, with every errno that the call can give.
// Whatever fails: no descriptor is left open, no process is left, dead or alive, and the call says
// what it did or returns an error that tells what is the matter.

#include "exec/piped_program.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/matchers.hpp"
#include "support/process/command_fixture.hpp"
#include "support/process/descriptors.hpp"

#include <paddock/exec/process.hpp>

#include <sys/socket.h>

namespace paddock {
namespace {

using test::fault;
using test::injection;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

/// What each call gives on a bad day.
const std::map<std::string_view, std::vector<int>>& errnos() {
  static const std::map<std::string_view, std::vector<int>> all = {
      {"clone", {EAGAIN, ENOMEM}},
      {"close", {EINTR, EIO}},
      {"eventfd", {EMFILE, ENFILE, ENOMEM}},
      {"faccessat2", {EINTR, EACCES, ENOMEM}},
      {"fcntl", {EMFILE}},
      {"kill", {ESRCH, EPERM}},
      {"memfd_create", {EMFILE, ENFILE, ENOMEM}},
      {"open", {EINTR, EMFILE, ENOMEM}},
      {"openat", {EINTR, EMFILE, ENFILE, ENOMEM, EACCES}},
      {"pidfd_send_signal", {ESRCH}},
      {"pipe2", {EMFILE, ENFILE}},
      {"poll", {EINTR, ENOMEM}},
      {"read", {EINTR, EAGAIN}},
      {"readlinkat", {EINTR, ENOMEM, EACCES}},
      {"recv", {EINTR, EAGAIN, ENOMEM}},
      {"recvmsg", {EINTR, EAGAIN, ENOMEM}},
      {"send", {EINTR}},
      {"socketpair", {EMFILE, ENFILE, ENOBUFS}},
      {"statx", {EINTR, ENOMEM}},
      {"waitid", {EINTR}},
      {"write", {EINTR, ENOSPC, ENOMEM}},
  };
  return all;
}
constexpr std::size_t as_it_happens = 2;

/// What an operation ended with: an answer, or an error.
struct answer {
  std::optional<error> failed;
  std::string said;
};

struct running_operation {
  const char* name;
  std::function<answer()> run;
  /// The answer may say that less is known or done than without the fault.
  bool degrades = false;
  /// It also writes to events, which nothing but a signal can interrupt.
  bool raises_events = false;
};

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

class command_fault_test : public test::command_fixture {
protected:
  answer say(const result<command_outcome, command_error>& done) {
    if (!done) return {done.error(), ""};
    std::string said = done->out.head + '|' + done->err.head + '|';
    said += done->exit_code ? std::to_string(*done->exit_code) : "-";
    return {std::nullopt, said + (done->ended == ending::timed_out ? " timed out" : "") +
                              (done->ended == ending::cancelled ? " cancelled" : "")};
  }

  /// A program with its streams in our hands, from its start to its end. Without confinement it is
  /// supervised where there is a helper.
  answer talk(const std::optional<confinement_policy>& confinement, const std::string& helper) {
    const std::vector<std::string> argv = {"sh", "-c", "read a; echo \"$a\"; sleep 60", cookie_};
    const std::vector<std::string> environment = {"PATH=/usr/bin:/bin"};
    const std::string directory = tree_.path();
    auto program = piped_program::start({.argv = argv,
                                         .environment = environment,
                                         .working_directory = directory,
                                         .confinement = confinement,
                                         .kill_grace_ms = 0,
                                         .helper = helper});
    if (!program) return {program.error(), ""};
    // Injected faults meet these too.
    const auto patiently = [](auto call) {
      ssize_t n = call();
      while (n < 0 && errno == EINTR)
        n = call();
      return n;
    };
    patiently([&] { return ::send(program->input.get(), "hello\n", 6, MSG_NOSIGNAL); });
    ::shutdown(program->input.get(), SHUT_WR); // or it waits for the rest
    pollfd ready{program->output.get(), POLLIN, 0};
    patiently([&] { return ::poll(&ready, 1, -1); });
    char line[16] = {};
    const ssize_t n = patiently([&] { return ::read(program->output.get(), line, sizeof line); });
    program->terminate();
    program->kill();
    return {std::nullopt, std::string(line, n > 0 ? static_cast<std::size_t>(n) : 0)};
  }

  /// A process from its start to its end: written to, read and stopped, with all that it started.
  answer attend(process_streams streams) {
    process_table table;
    command asked = shell("(sleep 60; : $0) & read line; echo \"got $line\"; sleep 60");
    const auto made = table.start(asked, streams);
    if (!made) return {made.error(), ""};
    if (const auto written = made->write("hello\n"); !written) return {written.error(), ""};
    const auto met = [](std::string_view seen) {
      return seen.find("got hello") != std::string_view::npos;
    };
    const auto page = made->read({.from = 0, .wait_ms = 60'000, .until = met});
    if (!page) return {page.error(), ""};
    const process_status status = made->stop(0);
    return {std::nullopt, std::string(page->matched ? "met" : "not met") +
                              (status.running() ? ", runs" : ", ended")};
  }

  /// What is wrong with the end of a try.
  std::vector<std::string> complaints(const running_operation& op, const answer& expected,
                                      const fault& f, int os_errno) {
    std::vector<std::string> all;
    const auto before = test::open_descriptors();
    answer got;
    {
      injection bad_day(f);
      got = op.run();
      bad_day.end();
    }
    if (test::open_descriptors() != before) all.emplace_back("a descriptor leaked");
    if (has_children()) all.emplace_back("a child is left");
    if (!test::eventually([&] { return test::processes_with(cookie_).empty(); }))
      all.emplace_back("a process is left");
    if (injection::failed() == 0 || os_errno == EINTR) {
      if (got.failed)
        all.push_back("an interruption became an error of " + std::string(got.failed->operation) +
                      ", " + std::to_string(got.failed->os_errno));
      if (got.said != expected.said) all.emplace_back("it said " + got.said);
    } else if (got.failed) {
      if (got.failed->code == error_code::io) all.emplace_back("the error is a general one");
    } else if (got.said != expected.said && !op.degrades) {
      all.emplace_back("it said " + got.said);
    }
    return all;
  }

  void every_call_fails(const running_operation& op) {
    const answer expected = op.run();
    ASSERT_FALSE(expected.failed) << op.name << ", " << expected.failed->operation << ", "
                                  << wire_name(expected.failed->code);
    for (const auto& [call, several] : errnos())
      for (const int os_errno : several) {
        if (op.raises_events && call == "write" && os_errno != EINTR) continue;
        for (std::size_t at = 1; nth_call_fails(op, expected, call, os_errno, at); ++at) {
        }
      }
  }

  /// False when there was no such call.
  bool nth_call_fails(const running_operation& op, const answer& expected, std::string_view call,
                      int os_errno, std::size_t at) {
    std::size_t met = 0;
    const fault f{.os_errno_of = [&](std::string_view name) {
      return name == call && ++met == at ? os_errno : 0;
    }};
    EXPECT_THAT(complaints(op, expected, f, os_errno), IsEmpty())
        << op.name << ", " << call << " for the " << at << ". time, "
        << ::strerrorname_np(os_errno);
    faults_ += injection::failed();
    if (injection::failed() > 0) seen_.emplace_back(call);
    // Output and news arrive together or one by one, so a try may take some calls fewer.
    return met + as_it_happens >= at;
  }

  std::size_t faults_ = 0;
  std::vector<std::string> seen_; ///< calls that have failed
};

TEST_F(command_fault_test, one_call_of_running_a_command_fails) {
  every_call_fails({"run", [&] { return say(run(shell("printf out; printf err >&2; exit 3"))); }});
  for (const char* call :
       {"pipe2", "socketpair", "fcntl", "memfd_create", "clone", "poll", "recvmsg", "read",
        "waitid", "pidfd_send_signal", "close", "write", "openat"})
    EXPECT_THAT(seen_, Contains(call));
  EXPECT_GT(faults_, 50U);
  std::cout << "faults injected: " << faults_ << '\n';
}

TEST_F(command_fault_test, one_call_of_ending_a_command_fails) {
  every_call_fails({"deadline",
                    [&] {
                      command asked = shell("printf out; sleep 60");
                      asked.timeout_ms = 1;
                      asked.kill_grace_ms = 0;
                      asked.out = capture::discard; // it may have come to it or not
                      return say(run(asked));
                    },
                    true});
  every_call_fails({"cancellation",
                    [&] {
                      const cancellation cancel;
                      command asked = shell("echo ready; sleep 60");
                      asked.kill_grace_ms = 0;
                      asked.timeout_ms = 3'000;
                      asked.on_output = [&](output_stream, std::string_view) { cancel.request(); };
                      return say(run(asked, &cancel));
                    },
                    true});
  EXPECT_THAT(seen_, Contains("send"));
  std::cout << "faults injected: " << faults_ << '\n';
}

TEST_F(command_fault_test, one_call_of_starting_a_server_fails) {
  const std::string helper = PADDOCK_TEST_HELPER;
  every_call_fails({"as it is", [&] { return talk(std::nullopt, helper); }, true});
  every_call_fails({"confined", [&] { return talk(confinement_policy::host(), helper); }, true});
  EXPECT_THAT(seen_, Not(Contains("kill"))); // its supervisor does that
  std::cout << "faults injected: " << faults_ << '\n';
}

TEST_F(command_fault_test, one_call_of_starting_a_server_without_a_helper_fails) {
  if (const auto installed = find_command_helper())
    GTEST_SKIP() << "a helper is installed here: " << *installed;
  every_call_fails({"alone", [&] { return talk(std::nullopt, {}); }, true});
  EXPECT_THAT(seen_, Contains("kill")); // how its group is ended
  std::cout << "faults injected: " << faults_ << '\n';
}

TEST_F(command_fault_test, one_call_of_attending_a_process_fails) {
  every_call_fails({"pipes", [&] { return attend(process_streams::pipes); }, true, true});
  every_call_fails({"terminal", [&] { return attend(process_streams::terminal); }, true, true});
  for (const char* call : {"eventfd", "poll", "read", "write", "fcntl", "memfd_create"})
    EXPECT_THAT(seen_, Contains(call));
  std::cout << "faults injected: " << faults_ << '\n';
}

// The judge itself is tried.
TEST_F(command_fault_test, control_what_is_left_is_seen) {
  const running_operation careless{"careless", [&] {
                                     const int leaked = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
                                     const pid_t child = ::fork();
                                     if (child == 0) ::_exit(0);
                                     siginfo_t info{};
                                     ::waitid(P_PID, static_cast<id_t>(child), &info,
                                              WEXITED | WNOWAIT);
                                     return answer{std::nullopt, std::to_string(leaked)};
                                   }};
  const answer expected = careless.run();
  ::wait(nullptr);
  ::close(std::stoi(expected.said));
  const auto wrong = complaints(careless, expected, {}, 0);
  EXPECT_THAT(wrong, testing::ElementsAre("a descriptor leaked", "a child is left"));
  ::wait(nullptr);
  ::close(std::stoi(expected.said));
}

} // namespace
} // namespace paddock
