// SPDX-License-Identifier: MIT

// Whether a command has given a file a second name: by its system calls, whatever became of them.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"

#include <sys/syscall.h>

namespace paddock::test {
namespace {

class CommandLinks : public command_fixture {
protected:
  CommandLinks() { tree_.file("f", "first"); }
  [[nodiscard]] command watched(const std::string& script) const {
    command asked = shell(script);
    asked.confinement = {};
    asked.watches_links = true;
    return asked;
  }
  [[nodiscard]] bool has_second_name(const char* name) const {
    struct stat status{};
    return ::stat((tree_.path() + '/' + name).c_str(), &status) == 0 && status.st_nlink == 2;
  }
};

TEST_F(CommandLinks, AreToldHoweverTheyAreMade) {
  const struct {
    const char* script;
    bool made_none;
  } cases[] = {
      {"true", true},
      {"mkdir n && cp f n/x && mv n/x y && ln -s y z && rm -r n y z", true},
      {"git init -q g && cd g && echo 1 > a && git add a && git -c user.name=a -c user.email=b "
       "commit -qm c && git fsck --no-progress",
       true},
      {"ln f second && rm second", false},
      {"mkdir n && ln f n/second && rm -r n", false},
      {"ln missing second", false},
      {"(ln f second; rm second) & wait", false},
      {"for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3; do ln f $i$j & done; done; wait; rm [1-9]*",
       false},
      {"ln f stays", false},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.script);
    const auto ran = run(watched(each.script));
    ASSERT_THAT(ran, IsOk());
    EXPECT_EQ(ran->made_no_links, each.made_none) << ran->err.text();
  }
  EXPECT_TRUE(has_second_name("stays"));
}

TEST_F(CommandLinks, AreNotKnownWhereNobodyAsksOrNothingFilters) {
  command asked = watched("true");
  asked.watches_links = false;
  EXPECT_THAT(run(asked), HoldsValue(testing::Field(&command_outcome::made_no_links, false)));
  asked = watched("ln f second");
  asked.confinement = confinement_policy::host();
  EXPECT_THAT(run(asked), HoldsValue(testing::Field(&command_outcome::made_no_links, false)));
  EXPECT_TRUE(has_second_name("second"));
}

/// The kernel gives a process one listener. A command of a command has that one's.
TEST_F(CommandLinks, AreMadeWhereSomebodyElseListens) {
  const pid_t host = ::fork();
  if (host == 0) {
    if (!is_listened_to()) ::_exit(2);
    const auto ran = run(watched("ln f second"));
    ::_exit(ran && ran->exit_code == 0 && !ran->made_no_links ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(host, ::waitpid(host, &status, 0));
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(has_second_name("second"));
}

/// It waits for an answer that never comes.
TEST_F(CommandLinks, EndWithAHostThatIsKilled) {
  int ready[2];
  ASSERT_EQ(0, ::pipe2(ready, O_CLOEXEC));
  const pid_t host = ::fork();
  if (host == 0) {
    command asked = watched("echo; while :; do ln f second; rm -f second; done");
    asked.on_output = [&](output_stream, std::string_view) {
      (void)!::write(ready[1], "x", 1);
      ::raise(SIGSTOP);
    };
    (void)run(asked).has_value();
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(1, ::read(ready[0], &byte, 1));
  ::close(ready[0]);
  int status = 0;
  ASSERT_EQ(host, ::waitpid(host, &status, WUNTRACED));
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_FALSE(processes_with(cookie_).empty());
  ASSERT_EQ(0, ::kill(host, SIGKILL));
  ASSERT_EQ(host, ::waitpid(host, nullptr, 0));
  EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); }));
}

} // namespace
} // namespace paddock::test
