// SPDX-License-Identifier: MIT

// Processes that run for long: what is read of them, what is written to them, and how they end.

#include "support/campaign.hpp"
#include "support/process/command_fixture.hpp"

#include <paddock/exec/process.hpp>

#include <future>

namespace paddock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t long_ms = 60'000; ///< a bound for what should not take that long

class Process : public command_fixture {
protected:
  [[nodiscard]] process start(const command& asked,
                              process_streams streams = process_streams::pipes) {
    command given = asked;
    given.timeout_ms = no_deadline_ms;
    auto started = table_->start(given, streams);
    EXPECT_THAT(started, IsOk());
    return *std::move(started);
  }
  [[nodiscard]] process start(const std::string& script) { return start(shell(script)); }

  /// All that it writes from `from` on, to its end.
  [[nodiscard]] static std::string rest_of(const process& of, std::uint64_t from = 0) {
    std::string all;
    for (;;) {
      const auto page = of.read({.from = from, .wait_ms = long_ms, .wait = process_wait::end});
      EXPECT_THAT(page, IsOk());
      EXPECT_EQ(page->dropped, 0U);
      all += page->bytes;
      from = page->next;
      if (!page->status.running() && from == page->status.output_bytes) return all;
    }
  }
  [[nodiscard]] static process_page until(const process& of, std::string_view text,
                                          std::uint64_t from = 0) {
    const auto met = [&](std::string_view seen) {
      return seen.find(text) != std::string_view::npos;
    };
    auto page = of.read({.from = from, .wait_ms = long_ms, .until = met});
    EXPECT_THAT(page, IsOk());
    EXPECT_TRUE(page->matched) << page->bytes;
    return *std::move(page);
  }
  void everything_has_ended() const {
    EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); }));
  }

  std::unique_ptr<process_table> table_ = std::make_unique<process_table>();
};

// --- start and end -------------------------------------------------------------------------------

TEST_F(Process, TellsHowItEnded) {
  const struct {
    const char* script;
    ending ended;
    std::optional<int> exit_code;
    std::optional<int> signal;
  } cases[] = {
      {"echo done", ending::exited, 0, {}},
      {"echo done; exit 3", ending::exited, 3, {}},
      {"echo done; kill -KILL $$", ending::signalled, {}, SIGKILL},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.script);
    const process made = start(c.script);
    EXPECT_EQ(rest_of(made), "done\n");
    const process_status status = made.status();
    ASSERT_FALSE(status.running());
    EXPECT_EQ(status.outcome->ended, c.ended);
    EXPECT_EQ(status.outcome->exit_code, c.exit_code);
    EXPECT_EQ(status.outcome->signal, c.signal);
    EXPECT_EQ(status.output_bytes, 5U);
  }
}

TEST_F(Process, IsNotStartedForAReason) {
  const struct {
    const char* name;
    std::vector<std::string> argv;
    error_code code;
    const char* operation;
  } cases[] = {
      {"no program", {}, error_code::invalid_argument, "argv"},
      {"not in PATH", {"no-such-program"}, error_code::not_found, "execve"},
      {"a directory", {"/usr"}, error_code::permission_denied, "execve"},
  };
  for (const process_streams streams : {process_streams::pipes, process_streams::terminal})
    for (const auto& c : cases) {
      SCOPED_TRACE(c.name);
      const auto started = table_->start(make(c.argv), streams);
      ASSERT_FALSE(started);
      EXPECT_EQ(started.error().code, c.code);
      EXPECT_STREQ(started.error().operation, c.operation);
      EXPECT_THAT(table_->list(), IsEmpty());
    }
}

/// What follows an end may wait for other processes.
TEST_F(Process, WhatFollowsAnEndHoldsNobodyUp) {
  std::future<std::size_t> listed;
  bool is_told = false;
  table_ = std::make_unique<process_table>(process_limits{}, [&] {
    listed = std::async(std::launch::async, [&] { return table_->list().size(); });
    is_told = listed.wait_for(std::chrono::milliseconds(long_ms / 6)) == std::future_status::ready;
  });
  EXPECT_FALSE(table_->start(make({"no-such-program"})));
  EXPECT_TRUE(is_told);
  EXPECT_EQ(table_->list().size(), 0U);
}

TEST_F(Process, HasItsDeadline) {
  command asked = shell("trap '' TERM; while :; do sleep 1000; done");
  asked.timeout_ms = 1;
  asked.kill_grace_ms = 1;
  const auto made = table_->start(asked);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(rest_of(*made), "");
  EXPECT_EQ(made->status().outcome->ended, ending::timed_out);
  everything_has_ended();
}

TEST_F(Process, BothStreamsAreOneTextInItsOrder) {
  std::string script, expected;
  for (int i = 0; i < 200; ++i) {
    script += "echo " + std::to_string(i) + (i % 3 == 0 ? " >&2;" : ";");
    expected += std::to_string(i) + "\n";
  }
  EXPECT_EQ(rest_of(start(script)), expected);
}

TEST_F(Process, IdsAreShortAndDiffer) {
  const process first = start("exit"), second = start("exit");
  EXPECT_EQ(first.id().size(), 8U);
  EXPECT_NE(first.id(), second.id());
  ASSERT_TRUE(table_->find(first.id()));
  EXPECT_EQ(table_->find(first.id())->argv(), first.argv());
  EXPECT_FALSE(table_->find("0"));
  EXPECT_EQ(table_->list().size(), 2U);
}

// --- bounds --------------------------------------------------------------------------------------

TEST_F(Process, OnlySoManyRunAtTheSameTime) {
  table_ = std::make_unique<process_table>(process_limits{.running_max = 2});
  const process first = start("exec sleep 1000"), second = start("exec sleep 1000");
  const auto third = table_->start(shell("exit"));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, error_code::too_many);
  EXPECT_STREQ(third.error().operation, "processes");
  EXPECT_FALSE(first.stop(0).running());
  EXPECT_THAT(table_->start(shell("exit")), IsOk());
  (void)second;
}

TEST_F(Process, ThoseThatEndedFirstAreForgottenFirst) {
  table_ = std::make_unique<process_table>(process_limits{.ended_max = 2});
  std::vector<process> made;
  for (int i = 0; i < 4; ++i) {
    made.push_back(start("echo " + std::to_string(i)));
    (void)rest_of(made.back());
  }
  const process last = start("exec sleep 1000");
  EXPECT_FALSE(table_->find(made[0].id()));
  EXPECT_FALSE(table_->find(made[1].id()));
  EXPECT_TRUE(table_->find(made[2].id()));
  EXPECT_TRUE(table_->find(made[3].id()));
  EXPECT_TRUE(table_->find(last.id()));
  EXPECT_EQ(rest_of(made[0]), "0\n"); // whoever holds it still can
}

TEST_F(Process, OutputOfEndedOnesIsBoundedTogether) {
  table_ = std::make_unique<process_table>(process_limits{.ended_bytes_max = 200'000});
  std::vector<process> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(start("head -c 100000 /dev/zero"));
    (void)rest_of(made.back());
  }
  const process last = start("exec sleep 1000");
  EXPECT_FALSE(table_->find(made[0].id()));
  EXPECT_TRUE(table_->find(made[4].id()));
  EXPECT_TRUE(table_->find(last.id()));
}

// --- reading -------------------------------------------------------------------------------------

/// As `seq -f %015.0f` writes them: what is at an offset follows from the offset.
std::string numbered_lines(std::uint64_t from, std::uint64_t until) {
  std::string text;
  for (std::uint64_t line = from / 16; line * 16 < until; ++line) {
    std::string digits = std::to_string(line);
    text += std::string(15 - digits.size(), '0') + digits + "\n";
  }
  return text.substr(static_cast<std::size_t>(from % 16), static_cast<std::size_t>(until - from));
}

TEST_F(Process, RandomReadsLoseNothingAndRepeatNothing) {
  constexpr std::uint64_t lines = 1'310'720, bytes = lines * 16; // 20 MiB
  table_ = std::make_unique<process_table>(process_limits{.output_bytes_max = 2 * bytes});
  const process made = start("exec seq -f %015.0f 0 " + std::to_string(lines - 1));
  std::mt19937_64 random(7);
  std::uint64_t next = 0;
  for (int count = 0; count < 5000; ++count) {
    const bool goes_on = count % 2 == 0;
    const std::uint64_t from = goes_on ? next : random() % (made.status().output_bytes + 1);
    const process_read asked{.from = from, .bytes_max = 4 + random() % 30'000, .wait_ms = 5};
    const auto page = made.read(asked);
    ASSERT_THAT(page, IsOk());
    ASSERT_EQ(page->from, from);
    ASSERT_EQ(page->dropped, 0U);
    ASSERT_EQ(page->next, from + page->bytes.size());
    ASSERT_LE(page->bytes.size(), asked.bytes_max);
    ASSERT_TRUE(page->bytes == numbered_lines(from, page->next)) << from;
    if (goes_on) next = page->next;
  }
  const std::string rest = rest_of(made, next);
  EXPECT_EQ(next + rest.size(), bytes);
  EXPECT_TRUE(rest == numbered_lines(next, bytes));
}

TEST_F(Process, WithoutAnOffsetItGoesOnWhereTheLastReadEnded) {
  const process made = start("printf 'one two three'; read gate; printf ' four'");
  (void)until(made, "three");
  EXPECT_EQ(made.read({.from = 4, .bytes_max = 4})->bytes, "two ");
  EXPECT_EQ(made.read({})->bytes, "three");
  EXPECT_EQ(made.read({})->bytes, "");
  ASSERT_THAT(made.write("\n"), IsOk());
  EXPECT_EQ(made.read({.wait_ms = long_ms})->bytes, " four");
}

TEST_F(Process, WhatWasDroppedIsCounted) {
  constexpr std::uint64_t kept = 100'000, bytes = 160'000ULL * 16;
  table_ = std::make_unique<process_table>(process_limits{.output_bytes_max = kept});
  const process made = start("exec seq -f %015.0f 0 159999");
  (void)made.read({.wait_ms = long_ms, .until = [](std::string_view) { return false; }});
  const auto page = made.read({.from = 16, .bytes_max = 1000});
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->dropped, page->from - 16);
  EXPECT_LE(page->from, bytes - kept);
  EXPECT_GE(page->from, bytes - kept - 128UL * 1024); // blocks go as a whole
  EXPECT_EQ(page->bytes, numbered_lines(page->from, page->next));
  const auto last = made.read({.from = bytes});
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(last->bytes, "");
  const auto beyond = made.read({.from = bytes + 1});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, error_code::invalid_argument);
}

TEST_F(Process, PagesEndWithAWholeCharacter) {
  const process made =
      start("printf 'a\\303\\244\\342\\202\\254b\\303'; read gate; printf '\\244'");
  (void)until(made, "b\303");
  EXPECT_EQ(made.read({.from = 0, .bytes_max = 5})->bytes, "a\303\244");
  EXPECT_EQ(made.read({.bytes_max = 5})->bytes, "\342\202\254b");
  EXPECT_EQ(made.read({})->bytes, "") << "the half of a character was given";
  ASSERT_THAT(made.write("\n"), IsOk());
  EXPECT_EQ(rest_of(made, 7), "\303\244");
  const process cut = start("printf 'a\\303'"); // nothing will complete it
  EXPECT_EQ(rest_of(cut), "a\303");
}

TEST_F(Process, UntilMeetsWhatComesInPieces) {
  const process made =
      start("printf 'first\\nlis'; read gate; printf 'tening on 8080\\n'; read gate");
  (void)until(made, "lis");
  bool early = false;
  const auto pattern = [&](std::string_view seen) {
    if (seen.ends_with("lis")) early = true;
    return seen.find("listening on") != std::string_view::npos;
  };
  const auto before = made.read({.from = 0, .until = pattern});
  ASSERT_THAT(before, IsOk());
  EXPECT_FALSE(before->matched);
  EXPECT_TRUE(early);
  std::thread opener([&] { EXPECT_THAT(made.write("\n"), IsOk()); });
  const auto page = made.read({.from = 0, .wait_ms = long_ms, .until = pattern});
  opener.join();
  ASSERT_THAT(page, IsOk());
  EXPECT_TRUE(page->matched);
  EXPECT_TRUE(page->status.running());
}

TEST_F(Process, UntilWaitsALittleForTheRestOfTheLine) {
  const auto line = [&] {
    const process made = start("printf 'port '; read gate; printf '4711\n'; exec sleep 1000");
    int met = 0;
    const auto pattern = [&](std::string_view seen) {
      if (seen.find("port") == std::string_view::npos) return false;
      if (++met == 1) {
        EXPECT_THAT(made.write("\n"), IsOk());
      }
      return true;
    };
    const auto page = made.read({.wait_ms = long_ms, .until = pattern});
    EXPECT_THAT(page, IsOk());
    EXPECT_TRUE(page->matched);
    (void)made.stop(0);
    return met == 1 ? std::string() : page->bytes;
  };
  // On a busy machine the rest may come too late.
  EXPECT_TRUE(eventually([&] { return line() == "port 4711\n"; }));
}

TEST_F(Process, UntilMeetsEachPlaceOfALongLine) {
  constexpr std::size_t places[] = {0, 32'760, 65'530, 65'536, 98'300, 131'000, 199'990};
  for (const std::size_t place : places) {
    SCOPED_TRACE(place);
    std::string text(200'000, '.');
    text.replace(place, 6, "needle");
    tree_.file("line", text);
    const process made = start("cat line; exec sleep 1000");
    (void)until(made, "needle");
    (void)made.stop(0);
  }
}

TEST_F(Process, UntilEndsWithTheProcess) {
  const process made = start("echo other");
  const auto page =
      made.read({.wait_ms = long_ms, .until = [](std::string_view) { return false; }});
  ASSERT_THAT(page, IsOk());
  EXPECT_FALSE(page->matched);
  EXPECT_FALSE(page->status.running());
  EXPECT_EQ(page->bytes, "other\n");
}

TEST_F(Process, ASlowWriterIsWaitedFor) {
  const process made = start("for i in 1 2 3 4 5 6 7 8; do printf $i; sleep 0.01; done; read gate");
  EXPECT_THAT(until(made, "8").bytes, "12345678");
  EXPECT_THAT(made.write("\n"), IsOk());
}

TEST_F(Process, CancellationEndsTheWaitAlone) {
  const process made = start("printf waiting; exec sleep 1000");
  (void)until(made, "waiting");
  const cancellation cancel;
  std::thread canceller([&] { cancel.request(); });
  const auto page = made.read({.from = 7, .wait_ms = long_ms}, &cancel);
  canceller.join();
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->bytes, "");
  EXPECT_TRUE(made.status().running());
}

TEST_F(Process, FloodsTakeNoMemory) {
  if (instrumented) GTEST_SKIP() << "a sanitizer has its own memory";
  const auto resident_kb = [] {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word)
      if (word == "VmRSS:") break;
    long kb = 0;
    status >> kb;
    return kb;
  };
  constexpr std::size_t floods = 16;
  table_ = std::make_unique<process_table>(process_limits{.output_bytes_max = 256UL * 1024});
  const long before = resident_kb();
  std::vector<process> made;
  for (std::size_t i = 0; i < floods; ++i)
    made.push_back(start("exec head -c 64M /dev/zero"));
  for (const process& each : made)
    (void)each.read(
        {.from = 0, .wait_ms = long_ms, .until = [](std::string_view) { return false; }});
  for (const process& each : made)
    EXPECT_EQ(each.status().output_bytes, 64ULL * 1024 * 1024);
  EXPECT_LT(resident_kb() - before, 32 * 1024);
}

// --- writing -------------------------------------------------------------------------------------

TEST_F(Process, ReadsWhatIsWrittenUntilItIsClosed) {
  const process made = start("exec cat");
  ASSERT_THAT(made.write("one\n"), IsOk());
  EXPECT_EQ(until(made, "one\n").bytes, "one\n");
  ASSERT_THAT(made.write("two\n"), IsOk());
  ASSERT_THAT(made.close_input(), IsOk());
  EXPECT_EQ(rest_of(made), "one\ntwo\n");
  for (const auto& refused : {made.write("three\n"), made.close_input()}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::conflict);
  }
}

TEST_F(Process, MuchInputArrivesWhole) {
  const process made = start("exec cat");
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string part = numbered_lines(all.size(), all.size() + 100'000);
    while (!made.write(part)) // it has not read enough yet
      (void)made.read({.wait_ms = 10});
    all += part;
  }
  ASSERT_THAT(made.close_input(), IsOk());
  EXPECT_TRUE(rest_of(made) == all);
}

TEST_F(Process, WhoDoesNotReadIsNotWrittenToForEver) {
  const process made = start("exec sleep 1000");
  const std::string part(300'000, 'x');
  result<void> last;
  int count = 0;
  while (count < 100 && (last = made.write(part)))
    ++count;
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, error_code::too_many);
  EXPECT_LE(count, 5);
  const auto large = made.write(std::string(2'000'000, 'x'));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, error_code::too_large);
  EXPECT_FALSE(made.stop(0).running());
}

TEST_F(Process, WhoClosesItsInputIsNotKilledForIt) {
  const process made = start("exec <&-; echo closed; exec sleep 1000");
  (void)until(made, "closed");
  EXPECT_TRUE(eventually([&] { return !made.write("x"); }));
  EXPECT_TRUE(made.status().running());
}

TEST_F(Process, ItsInputCanBeOpenedByName) {
  const process made = start("exec cat /dev/stdin");
  ASSERT_THAT(made.write("by name\n"), IsOk());
  ASSERT_THAT(made.close_input(), IsOk());
  EXPECT_EQ(rest_of(made), "by name\n");
}

// --- terminals -----------------------------------------------------------------------------------

class Terminal : public Process {
protected:
  [[nodiscard]] process in_terminal(const std::string& script) {
    command asked = shell(script);
    asked.environment.emplace_back("TERM=dumb");
    return start(asked, process_streams::terminal);
  }
};

TEST_F(Terminal, IsOneOfItsOwn) {
  const process made = in_terminal("test -t 0 && test -t 1 && test -t 2 && stty size && tty");
  const std::string told = rest_of(made);
  EXPECT_THAT(told, StartsWith("40 120\r\n/dev/pts/"));
  if (is_confined()) {
    EXPECT_EQ(told, "40 120\r\n/dev/pts/0\r\n");
    EXPECT_EQ(rest_of(in_terminal("echo /dev/pts/*")), "/dev/pts/0 /dev/pts/ptmx\r\n");
  }
  EXPECT_EQ(rest_of(start("test -t 0 || test -t 1 || echo none")), "none\n"); // the control
}

TEST_F(Terminal, APromptIsAnswered) {
  command asked = make({"bash", "-c", "read -p 'name? ' name; echo \"hello $name\"", cookie_});
  const process made = start(asked, process_streams::terminal);
  const process_page prompt = until(made, "name? ");
  EXPECT_TRUE(prompt.status.running());
  ASSERT_THAT(made.write("you\n"), IsOk());
  EXPECT_EQ(rest_of(made, prompt.next), "you\r\nhello you\r\n"); // the echo, too
}

TEST_F(Terminal, AnInterpreterIsTalkedTo) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "there is no python3";
  command asked = make({"python3", "-q", "-i", "-c", "import sys", cookie_});
  asked.environment.emplace_back("TERM=dumb");
  const process made = start(asked, process_streams::terminal);
  std::uint64_t at = until(made, ">>> ").next;
  ASSERT_THAT(made.write("6 * 7\n"), IsOk());
  at = until(made, "42\r\n", at).next;
  // The prompt may have come along with the answer.
  (void)made.read({.from = at - 4, .wait_ms = long_ms, .until = [](std::string_view seen) {
                     return seen.ends_with(">>> ");
                   }});
  ASSERT_THAT(made.close_input(), IsOk());
  (void)rest_of(made, at);
  EXPECT_EQ(made.status().outcome->exit_code, 0);
}

TEST_F(Terminal, ControlCInterrupts) {
  const process made =
      in_terminal("trap 'echo met; exit 5' INT; echo ready; while :; do sleep 0.01; done");
  (void)until(made, "ready");
  ASSERT_THAT(made.write("\x03"), IsOk());
  (void)rest_of(made);
  EXPECT_EQ(made.status().outcome->exit_code, 5);
}

TEST_F(Terminal, TheEndOfInputEndsALineThatWasBegun) {
  const process made = in_terminal("cat; echo over");
  ASSERT_THAT(made.write("begun"), IsOk());
  (void)until(made, "begun");
  ASSERT_THAT(made.close_input(), IsOk());
  EXPECT_THAT(rest_of(made), HasSubstr("over"));
}

TEST_F(Terminal, WhatItLeavesIsEnded) {
  const process made =
      in_terminal("(trap '' HUP TERM; exec setsid sleep 1000 $0) & echo up; exec sleep 1000");
  (void)until(made, "up");
  EXPECT_FALSE(made.stop(1).running());
  everything_has_ended();
}

// --- stopping ------------------------------------------------------------------------------------

TEST_F(Process, StopGivesTimeToEnd) {
  const process made =
      start("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
  (void)until(made, "ready");
  const process_status status = made.stop(long_ms);
  ASSERT_FALSE(status.running());
  EXPECT_EQ(status.outcome->ended, ending::cancelled);
  EXPECT_EQ(status.outcome->exit_code, 7);
  EXPECT_THAT(rest_of(made), HasSubstr("bye"));
}

TEST_F(Process, StopKillsWhatDoesNotEnd) {
  const process made = start("trap '' TERM; echo ready; while :; do sleep 1000; done");
  (void)until(made, "ready");
  const process_status status = made.stop(1);
  ASSERT_FALSE(status.running());
  EXPECT_EQ(status.outcome->signal, SIGKILL);
  everything_has_ended();
}

TEST_F(Process, StopCanBeMadeShorter) {
  const process made = start("trap '' TERM; echo ready; while :; do sleep 1000; done");
  (void)until(made, "ready");
  const cancellation at_once;
  at_once.request();
  EXPECT_TRUE(made.stop(1'000'000, &at_once).running());
  EXPECT_FALSE(made.stop(0).running());
  EXPECT_FALSE(made.stop(0).running()); // nothing more to do
}

constexpr const char* family =
    "sh -c 'trap \"\" TERM HUP; while :; do sleep 1000; done' $0 & "
    "(setsid sh -c 'trap \"\" TERM HUP; (sleep 1000; : $0) & while :; do sleep 1000; done' $0 &) ; "
    "echo up; exec sleep 1000";

TEST_F(Process, TheWholeTreeEndsWithIt) {
  const process made = start(family);
  (void)until(made, "up");
  EXPECT_FALSE(processes_with(cookie_).empty()); // the control
  EXPECT_FALSE(made.stop(0).running());
  EXPECT_EQ(made.status().outcome->kill, strongest_kill());
  everything_has_ended();
}

TEST_F(Process, TheTableTakesAllWithIt) {
  for (int i = 0; i < 4; ++i)
    (void)until(start(family), "up");
  const process kept = start("echo last; exec sleep 1000");
  (void)until(kept, "last");
  table_.reset();
  EXPECT_THAT(processes_with(cookie_), IsEmpty());
  EXPECT_FALSE(kept.status().running());
  EXPECT_EQ(kept.read({.from = 0})->bytes, "last\n");
}

TEST_F(Process, NothingOutlivesItsOwner) {
  for (const useconds_t after_us : {0U, 300U, 1'000U, 3'000U, 10'000U, 30'000U}) {
    SCOPED_TRACE(after_us);
    const pid_t owner = ::fork();
    if (owner == 0) {
      process_table table;
      const auto made = table.start(shell(family));
      const auto other = table.start(shell(family), process_streams::terminal);
      for (;;)
        ::pause();
    }
    if (after_us == 30'000) {
      EXPECT_TRUE(eventually([&] { return !processes_with(cookie_).empty(); })); // the control
    }
    ::usleep(after_us); // any moment will do
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    everything_has_ended();
  }
}

TEST_F(Process, ItEndsWithItsHelper) {
  const process made = start("exec sleep 1000");
  // The supervisor is the parent of all the others; it is killed first.
  auto all = processes_with(cookie_);
  ASSERT_FALSE(all.empty());
  std::ranges::sort(all);
  ::kill(all.front(), SIGKILL);
  (void)made.read({.wait_ms = long_ms, .wait = process_wait::end});
  const process_status status = made.status();
  ASSERT_FALSE(status.running());
  EXPECT_TRUE(status.outcome->supervisor_killed);
  everything_has_ended();
}

// --- together ------------------------------------------------------------------------------------

TEST_F(Process, ManyThreadsShareOne) {
  const process made = start("exec cat");
  std::atomic<std::uint64_t> written{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int count = 0; count < 200; ++count)
        if (made.write("line\n")) written += 5;
    });
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int count = 0; count < 200; ++count) {
        EXPECT_THAT(made.read({.wait_ms = 1}), IsOk());
        (void)made.status();
        (void)table_->list();
      }
    });
  for (std::thread& each : threads)
    each.join();
  EXPECT_THAT(made.close_input(), IsOk());
  EXPECT_EQ(rest_of(made).size(), written);
}

TEST_F(Process, StartsAndStopsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int count = 0; count < 10; ++count) {
        const auto made = table_->start(shell(count % 2 == 0 ? "exec sleep 1000" : "echo done"));
        ASSERT_THAT(made, IsOk());
        if ((count + i) % 3 == 0) (void)made->read({.wait_ms = 1});
        EXPECT_FALSE(made->stop(0).running());
      }
    });
  for (std::thread& each : threads)
    each.join();
  everything_has_ended();
}

// --- commands whose output is kept ---------------------------------------------------------------

TEST_F(Process, ACommandKeepsWhatItsOutcomeLeavesOut) {
  command asked = shell("seq -f %015.0f 0 9999; echo last >&2");
  asked.output_bytes_max = 1000;
  const auto ran = table_->run(asked);
  ASSERT_THAT(ran, IsOk());
  EXPECT_TRUE(ran->outcome.out.truncated);
  EXPECT_THAT(ran->outcome.out.text(), HasSubstr("last"));
  ASSERT_TRUE(ran->all);
  const auto found = table_->find(ran->all->id());
  ASSERT_TRUE(found);
  EXPECT_EQ(rest_of(*found), numbered_lines(0, 160'000) + "last\n");
  EXPECT_EQ(found->status().outcome->exit_code, 0);

  asked = shell("echo all");
  const auto whole = table_->run(asked);
  ASSERT_THAT(whole, IsOk());
  EXPECT_EQ(whole->outcome.out.text(), "all\n");
  EXPECT_FALSE(whole->all); // nothing was left out
  const auto wanted = table_->run(asked, nullptr, [](const captured_output&) { return true; });
  ASSERT_THAT(wanted, IsOk());
  ASSERT_TRUE(wanted->all);
  EXPECT_EQ(rest_of(*wanted->all), "all\n");
}

} // namespace
} // namespace paddock::test
