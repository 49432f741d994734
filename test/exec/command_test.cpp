// SPDX-License-Identifier: MIT

// What a command sees, what the caller gets, and what cannot be started. The end of process trees:
// command_kill_test.cpp.

#include "support/campaign.hpp"
#include "support/process/command_fixture.hpp"
#include "support/process/descriptors.hpp"
#include "support/process/line_counts.hpp"

namespace paddock::test {
namespace {

using testing::HasSubstr;
using Command = command_fixture;

constexpr std::uint64_t flood_bytes = (instrumented ? 16UL : 200UL) * 1024 * 1024;

// --- outcomes -----------------------------------------------------------------------------------

TEST_F(Command, ReportsHowItEnded) {
  const struct {
    const char* script;
    ending ended;
    std::optional<int> exit_code;
    std::optional<int> signal;
  } cases[] = {
      {"exit 0", ending::exited, 0, {}},
      {"exit 3", ending::exited, 3, {}},
      {"exit 255", ending::exited, 255, {}},
      {"kill -TERM $$", ending::signalled, {}, SIGTERM},
      {"kill -KILL $$", ending::signalled, {}, SIGKILL},
      {"ulimit -c 0; kill -SEGV $$", ending::signalled, {}, SIGSEGV},
      {"kill -PIPE $$", ending::signalled, {}, SIGPIPE},
      {"trap '' HUP; kill -HUP 0; exit 4", ending::exited, 4, {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.script);
    const auto r = run(shell(c.script));
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->ended, c.ended);
    EXPECT_EQ(r->exit_code, c.exit_code);
    EXPECT_EQ(r->signal, c.signal);
    EXPECT_EQ(r->kill, tree_kill::not_needed);
    EXPECT_FALSE(r->leftovers_killed);
    EXPECT_FALSE(r->supervisor_killed);
  }
}

TEST_F(Command, KeepsTheStreamsApart) {
  const auto r = run(shell("echo out; echo err >&2; echo out again"));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), "out\nout again\n");
  EXPECT_EQ(r->err.text(), "err\n");
  EXPECT_EQ(r->out.total, 14U);
  EXPECT_FALSE(r->out.truncated);
}

// --- what cannot be started ---

class CommandStart : public Command {
protected:
  CommandStart() {
    tree_.file("plain", "exit 0\n");
    tree_.file("no_magic", "exit 0\n");
    tree_.file("no_interpreter", "#!/does/not/exist\n");
    tree_.file("good", "#!/bin/sh\nexit 5\n");
    tree_.directory("bin/directory");
    for (const char* name : {"no_magic", "no_interpreter", "good"})
      ::chmod((tree_ / name).c_str(), 0755);
    tree_.link("dangling", "nowhere");
    ::mkdir((tree_ / "first").c_str(), 0755);
    ::mkdir((tree_ / "second").c_str(), 0755);
    tree_.file("first/tool", "#!/bin/sh\nexit 1\n");
    tree_.file("second/tool", "#!/bin/sh\nexit 6\n");
    ::chmod((tree_ / "second/tool").c_str(), 0755);
  }
};

TEST_F(CommandStart, SaysWhatWasWrong) {
  const struct {
    const char* name;
    std::vector<std::string> argv;
    error_code code;
    const char* operation;
  } cases[] = {
      {"no program", {}, error_code::invalid_argument, "argv"},
      {"empty program", {""}, error_code::invalid_argument, "argv"},
      {"NUL in program", {std::string("a\0b", 3)}, error_code::invalid_argument, "argv"},
      {"NUL in argument", {"true", std::string("\0", 1)}, error_code::invalid_argument, "argv"},
      {"not in PATH", {"no-such-program"}, error_code::not_found, "execve"},
      {"not in the directory", {"./no-such-program"}, error_code::not_found, "execve"},
      {"absolute", {"/no/such/program"}, error_code::not_found, "execve"},
      {"dangling link", {"./dangling"}, error_code::not_found, "execve"},
      {"below a file", {"./good/x"}, error_code::not_a_directory, "execve"},
      {"not executable", {"./plain"}, error_code::permission_denied, "execve"},
      {"directory", {"./bin"}, error_code::permission_denied, "execve"},
      {"no interpreter", {"./no_interpreter"}, error_code::not_found, "interpreter"},
      {"no magic", {"./no_magic"}, error_code::unsupported_type, "execve"},
      {"huge argument", {"true", std::string(1 << 20, 'x')}, error_code::too_large, "execve"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto r = run(make(c.argv));
    ASSERT_THAT(r, IsError(c.code));
    EXPECT_STREQ(r.error().operation, c.operation);
  }
}

TEST_F(CommandStart, LooksInThePathOfItsEnvironment) {
  const std::string first = tree_ / "first";
  const std::string second = tree_ / "second";
  const struct {
    const char* name;
    std::string path;
    std::string program;
    std::optional<int> exit_code;
    error_code code;
  } cases[] = {
      {"found", second, "tool", 6, {}},
      {"one that cannot be run is passed over", first + ":" + second, "tool", 6, {}},
      {"only one that cannot be run", first, "tool", {}, error_code::permission_denied},
      {"a directory is passed over", tree_ / "bin:" + second, "tool", 6, {}},
      {"a directory", tree_ / "bin", "directory", {}, error_code::permission_denied},
      {"an entry that is a file", tree_ / "good:" + second, "tool", 6, {}},
      {"relative entries are skipped", "second:.", "tool", {}, error_code::not_found},
      {"empty entries are skipped", "::", "good", {}, error_code::not_found},
      {"long entries are skipped", "/" + std::string(5000, 'x') + ":" + second, "tool", 6, {}},
      {"a slash does not search", second, "./tool", {}, error_code::not_found},
      {"a slash is relative to the directory", "", "second/tool", 6, {}},
      {"missing interpreter is not hidden",
       tree_.path() + ":" + second,
       "no_interpreter",
       {},
       error_code::not_found},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    auto asked = make({c.program});
    asked.environment = {"PATH=" + c.path};
    const auto r = run(asked);
    if (c.exit_code) {
      ASSERT_THAT(r, IsOk());
      EXPECT_EQ(r->exit_code, c.exit_code);
    } else {
      EXPECT_THAT(r, IsError(c.code));
    }
  }
  auto without_path = make({"true"});
  without_path.environment = {};
  EXPECT_THAT(run(without_path), IsError(error_code::not_found));
}

TEST_F(CommandStart, RefusesAWorkingDirectoryThatIsNone) {
  const int file = ::open((tree_ / "good").c_str(), O_PATH | O_CLOEXEC);
  tree_.directory("gone");
  const int gone = ::open((tree_ / "gone").c_str(), O_PATH | O_CLOEXEC);
  ASSERT_EQ(0, ::rmdir((tree_ / "gone").c_str()));
  const struct {
    int fd;
    error_code code;
  } cases[] = {{-1, error_code::invalid_argument},
               {12345, error_code::invalid_argument},
               {file, error_code::not_a_directory},
               {gone, error_code::not_found}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.fd);
    auto asked = make({"true"});
    asked.working_directory = c.fd;
    const auto r = run(asked);
    ASSERT_THAT(r, IsError(c.code));
    EXPECT_STREQ(r.error().operation, "working_directory");
  }
  ::close(file);
  ::close(gone);
}

TEST_F(CommandStart, RefusesOtherNonsense) {
  auto timeless = make({"true"});
  timeless.timeout_ms = 0;
  EXPECT_THAT(run(timeless), IsError(error_code::invalid_argument));
  auto graceless = make({"true"});
  graceless.kill_grace_ms = -1;
  EXPECT_THAT(run(graceless), IsError(error_code::invalid_argument));
  for (const std::string& bad : {std::string("NAME"), std::string("=x"), std::string("A=\0", 3)}) {
    auto asked = make({"true"});
    asked.environment.push_back(bad);
    const auto r = run(asked);
    ASSERT_THAT(r, IsError(error_code::invalid_argument)) << bad;
    EXPECT_STREQ(r.error().operation, "environment");
  }
}

TEST_F(CommandStart, SaysThatTheHelperIsMissing) {
  for (const std::string& helper :
       {tree_ / "no-helper", tree_ / "plain", std::string("/bin/true")}) {
    SCOPED_TRACE(helper);
    auto asked = make({"true"});
    asked.helper = helper;
    const auto r = run(asked);
    ASSERT_THAT(r, IsError(error_code::unsupported));
    EXPECT_STREQ(r.error().operation, "helper");
  }
}

/// Run by the next test in a copy of this program that lies somewhere else.
TEST_F(Command, DISABLED_FindsItsHelper) {
  auto asked = make({"true"});
  asked.helper.clear();
  EXPECT_THAT(run(asked), IsOk());
}

TEST_F(Command, FindsItsHelperBesideTheProgramOrInLibexec) {
  tree_.directory("bin");
  tree_.directory("libexec/paddock");
  const std::string copy = tree_ / "bin/copy";
  std::filesystem::copy_file("/proc/self/exe", copy);
  if (const auto r = run(make({copy, "--gtest_list_tests"})); !r || r->exit_code != 0)
    GTEST_SKIP() << "this program cannot be moved (it needs a library beside it)";
  const auto finds = make(
      {copy, "--gtest_also_run_disabled_tests", "--gtest_filter=Command.DISABLED_FindsItsHelper"});
  if (!std::filesystem::exists(PADDOCK_TEST_INSTALLED_HELPER)) {
    EXPECT_THAT(run(finds), HoldsValue(testing::Field(&command_outcome::exit_code, 1)));
  }
  for (const char* place : {"bin/paddock-exec-helper", "libexec/paddock/paddock-exec-helper"}) {
    SCOPED_TRACE(place);
    tree_.link(place, PADDOCK_TEST_HELPER);
    const auto r = run(finds);
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->exit_code, 0) << r->out.text();
    ASSERT_EQ(0, ::unlink((tree_ / place).c_str()));
  }
}

TEST_F(CommandStart, TheLongestTimesAreNoOverflow) {
  auto asked = make({"true"});
  asked.timeout_ms = std::numeric_limits<std::int64_t>::max();
  asked.kill_grace_ms = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(run(asked), IsOk());
}

// --- what the command sees ---

TEST_F(Command, SeesExactlyItsEnvironment) {
  auto asked = make({"/usr/bin/env"});
  asked.environment = {"A=1", "EMPTY=", "WITH=equals=sign", "LINE=a\nb"};
  const auto r = run(asked);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), "A=1\nEMPTY=\nWITH=equals=sign\nLINE=a\nb\n");
}

TEST_F(Command, GetsItsArgumentsUnchanged) {
  const auto r = run(make({"printf", "%s|", "", "a b", "$HOME", "*", "--", "\xff", "x\ny"}));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), "|a b|$HOME|*|--|\xff|x\ny|");
}

TEST_F(Command, RunsInItsDirectoryEvenWhenTheNameIsTakenBySomethingElse) {
  tree_.directory("real");
  auto asked = make({"/bin/pwd", "-P"});
  asked.working_directory = ::open((tree_ / "real").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(0, ::rename((tree_ / "real").c_str(), (tree_ / "moved").c_str()));
  tree_.link("real", "/");
  const auto r = run(asked);
  ::close(asked.working_directory);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), tree_ / "moved" + "\n");
}

TEST_F(Command, HasNoInput) {
  const auto r = run(make({"cat"}));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->exit_code, 0);
  EXPECT_EQ(r->out.total, 0U);
}

TEST_F(Command, SeesNoDescriptorOfThisProcess) {
  const int leaky = ::open("/dev/null", O_RDONLY); // not close-on-exec
  const int high = ::fcntl(leaky, F_DUPFD, 200);
  ASSERT_GE(high, 200);
  const auto r = run(shell("ls /proc/self/fd"));
  ::close(leaky);
  ::close(high);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), "0\n1\n2\n3\n"); // 3 is the directory that ls reads
}

TEST_F(Command, StartsWithDefaultSignalsInASessionOfItsOwn) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
  const auto child_before = ::signal(SIGCHLD, SIG_IGN);
  const auto r = run(shell("grep -E '^(Sig(Blk|Ign)|NoNewPrivs)' /proc/self/status; "
                           "read -r id _ _ _ group session _ < /proc/$$/stat; "
                           "test $id = $$ -a $group = $$ -a $session = $$"));
  ::signal(SIGPIPE, pipe_before);
  ::signal(SIGCHLD, child_before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->exit_code, 0);
  EXPECT_EQ(r->out.text(),
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nNoNewPrivs:\t1\n");
}

TEST_F(Command, RunsWhenThisProcessHasClosedItsStandardStreams) {
  const pid_t host = ::fork();
  if (host == 0) {
    for (int fd = 0; fd < 3; ++fd)
      ::close(fd);
    const auto r = run(shell("echo out; echo err >&2; ls /proc/self/fd"));
    keep_line_counts();
    ::_exit(r && r->out.head == "out\n0\n1\n2\n3\n" && r->err.head == "err\n" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(host, ::waitpid(host, &status, 0));
  EXPECT_EQ(status, 0);
}

// --- output ---

TEST_F(Command, KeepsHeadAndTailOfALongStream) {
  auto asked = shell("printf 0123456789abcdefghijklmnopqrst");
  const struct {
    std::uint64_t bytes_max;
    std::string head;
    std::string tail;
  } cases[] = {{30, "0123456789abcdefghijklmnopqrst", ""},
               {29, "0123456789abcde", "ghijklmnopqrst"},
               {4, "01", "st"},
               {1, "0", ""},
               {0, "", ""}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.bytes_max);
    asked.output_bytes_max = c.bytes_max;
    const auto r = run(asked);
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->out.head, c.head);
    EXPECT_EQ(r->out.tail, c.tail);
    EXPECT_EQ(r->out.total, 30U);
    EXPECT_EQ(r->out.truncated, c.bytes_max < 30);
  }
}

TEST(CapturedOutput, SaysHowMuchIsMissingAndLeavesCharactersWhole) {
  const struct {
    captured_output captured;
    std::string text;
  } cases[] = {
      {{.head = "all", .total = 3}, "all"},
      {{.head = "ab", .tail = "yz", .total = 10, .truncated = true},
       "ab\n[... 6 bytes left out ...]\nyz"},
      {{.head = "ab\n", .tail = "z", .total = 10, .truncated = true},
       "ab\n[... 6 bytes left out ...]\nz"},
      {{.head = "a\xe2\x82",
        .tail = "\xac"
                "z",
        .total = 10,
        .truncated = true},
       "a\n[... 8 bytes left out ...]\nz"},
      {{.head = "\xe2\x82\xac", .tail = "\xf0\x9f\x98\x80", .total = 10, .truncated = true},
       "\xe2\x82\xac\n[... 3 bytes left out ...]\n\xf0\x9f\x98\x80"},
      {{.total = 10, .truncated = true}, "[... 10 bytes left out ...]\n"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(c.captured.text(), c.text);
}

TEST_F(Command, DrainsBothStreamsWhateverTheirSize) {
  auto asked = make({PADDOCK_TEST_CHILD, "flood", std::to_string(flood_bytes)});
  asked.output_bytes_max = 1000;
  const auto r = run(asked);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->exit_code, 0);
  EXPECT_EQ(r->out.total, flood_bytes);
  EXPECT_EQ(r->err.total, flood_bytes);
  EXPECT_EQ(r->out.head + r->out.tail, std::string(1000, 'x'));
}

TEST_F(Command, StreamsOutputThatIsNotKept) {
  auto asked = shell("echo one; echo two >&2");
  asked.out = capture::discard;
  std::string seen[2];
  asked.on_output = [&](output_stream stream, std::string_view bytes) {
    seen[stream == output_stream::err ? 1 : 0] += bytes;
  };
  const auto r = run(asked);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(seen[0], "one\n");
  EXPECT_EQ(seen[1], "two\n");
  EXPECT_EQ(r->out.head, "");
  EXPECT_EQ(r->out.total, 4U);
  EXPECT_EQ(r->err.head, "two\n");
}

TEST_F(Command, IsNotOverWhenItsStreamsAre) {
  const auto r = run(child("close-streams"));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->exit_code, 7);
}

// --- many ---

TEST_F(Command, LeavesNoDescriptorsAndNoZombies) {
  ASSERT_THAT(load_command_helper(PADDOCK_TEST_HELPER), IsOk());
  const auto good = make({"true"});
  const auto bad = make({"no-such-program"});
  const auto before = test::open_descriptors();
  for (std::size_t i = test::campaign_size("PADDOCK_SPAWN_ROUNDS", 1000); i > 0; --i) {
    const auto r = run(good);
    ASSERT_THAT(r, IsOk());
    ASSERT_EQ(r->exit_code, 0);
    ASSERT_THAT(run(bad), IsError(error_code::not_found));
  }
  EXPECT_EQ(test::open_descriptors(), before);
  EXPECT_EQ(-1, ::waitpid(-1, nullptr, WNOHANG));
  EXPECT_EQ(ECHILD, errno);
}

TEST_F(Command, RunsFromManyThreadsAtOnce) {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string text = std::to_string(t) + "." + std::to_string(i);
        const auto r = run(make({"echo", text}));
        if (r && r->exit_code == 0 && r->out.head == text + "\n") ++good;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(good, 400);
}

TEST_F(Command, AScriptThatWasJustWrittenCanBeRunWhileOthersStart) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop)
      (void)run(make({"true"})).has_value();
  });
  for (int i = 0; i < 50; ++i) {
    const std::string name = "script" + std::to_string(i);
    tree_.file(name, "#!/bin/sh\nexit 9\n");
    ::chmod((tree_ / name).c_str(), 0755);
    const auto r = run(make({"./" + name}));
    EXPECT_THAT(r, IsOk());
  }
  stop = true;
  other.join();
}

} // namespace
} // namespace paddock::test
