// SPDX-License-Identifier: MIT

// What programs expect to find around them, and confined commands do: so that test suites pass
// inside as they do outside. The judges are programs of the system.

#include "support/process/command_fixture.hpp"

namespace paddock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Surroundings : public command_fixture {
protected:
  void SetUp() override {
    const auto report = probe_confinement({}, PADDOCK_TEST_HELPER);
    ASSERT_THAT(report, IsOk());
    if (!report->of(confinement_layer::protected_entries).applied)
      GTEST_SKIP() << "no root directory of its own here";
  }

  /// What a confined shell prints on both streams.
  [[nodiscard]] std::string told_by(const std::string& script,
                                    const confinement_policy& policy = {}) const {
    command asked = shell("exec 2>&1; " + script);
    asked.confinement = policy;
    const auto r = run(asked);
    return r ? r->out.text() : explain(r.error());
  }
};

TEST_F(Surroundings, LocalhostAndTheNameOfTheMachineAreTheLoopback) {
  EXPECT_THAT(told_by("getent ahosts localhost"),
              AllOf(HasSubstr("127.0.0.1 "), HasSubstr("::1 ")));
  const std::string name = told_by("uname -n");
  if (name.find_first_of("_ ") == std::string::npos) {
    EXPECT_THAT(told_by("getent ahosts \"$(uname -n)\""), StartsWith("127.0.0.1 ")) << name;
  }
  EXPECT_EQ(told_by("getent ahosts absent.invalid || echo none"), "none\n"); // the control
}

TEST_F(Surroundings, ACommandMakesTerminalsThatNobodyElseHas) {
  if (::access("/usr/bin/script", X_OK) != 0) GTEST_SKIP() << "there is no script";
  EXPECT_EQ(told_by("test -t 0 || test -t 1 || echo none"), "none\n");
  EXPECT_EQ(told_by("echo /dev/pts/*"), "/dev/pts/ptmx\n");
  // Into a file: a terminal echoes what it is given, too.
  EXPECT_EQ(
      told_by("script -qec '{ tty; stty raw </dev/tty; stty -a | grep -o -- -icanon; } >told' "
              "/dev/null </dev/null >/dev/null; cat told"),
      "/dev/pts/0\n-icanon\n");
  EXPECT_THAT(told_by("true </dev/tty"), HasSubstr("No such device")); // it has none by itself
}

/// The control: those of the machine are not put in its place, and cannot be used.
TEST_F(Surroundings, WhereTheTerminalsOfTheMachineAreShownACommandMakesNone) {
  if (::access("/usr/bin/script", X_OK) != 0 || ::access("/dev/pts", X_OK) != 0)
    GTEST_SKIP() << "there is no script, or no terminal";
  confinement_policy policy;
  policy.read_paths = {"/dev/pts"};
  EXPECT_THAT(told_by("script -qec tty /dev/null </dev/null", policy),
              HasSubstr("pseudo-terminal"));
  EXPECT_EQ(told_by("exec 3<>/dev/pts/ptmx && echo taken", policy).find("taken"),
            std::string::npos);
}

} // namespace
} // namespace paddock::test
