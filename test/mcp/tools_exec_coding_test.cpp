// SPDX-License-Identifier: MIT

// What exec of the coding set says about commands that another tool is for, that a bound has ended,
// or that want an editor.

#include "support/mcp/tool_fixture.hpp"

#include <paddock/exec/confinement.hpp>

namespace paddock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class tools_exec_coding : public coding_fixture {
protected:
  void SetUp() override { serve_coding({.confinement = confinement_policy::best_effort()}); }

  tool_answer shell(std::string_view script, std::string_view more = "") {
    return call("exec", R"({"command":"sh","args":["-c",)" + json_string(script) + "]" +
                            std::string(more) + "}");
  }
};

TEST_F(tools_exec_coding, what_it_has_left_running_leads_to_start_process) {
  const auto left = shell("sleep 600 & echo up");
  EXPECT_EQ("output notice", left.keys());
  EXPECT_THAT(left.string("notice"), AllOf(HasSubstr("was ended"), HasSubstr("startProcess")));
  EXPECT_THAT(shell("sleep 600 & exit 3").string("notice"), HasSubstr("startProcess"));
  EXPECT_EQ("output", shell("true & wait; echo up").keys()); // the control: nothing is left
}

TEST_F(tools_exec_coding, the_deadline_leads_to_start_process) {
  constexpr const char* soon = R"(,"timeout":300)";
  EXPECT_THAT(shell("exec sleep 600", soon).message(), HasSubstr("startProcess"));
  mcp::workspace_options options{.confinement = confinement_policy::best_effort()};
  options.omit = {"startProcess"};
  serve_coding(options);
  EXPECT_THAT(shell("exec sleep 600", soon).message(), Not(HasSubstr("startProcess")));
  EXPECT_EQ("output", shell("sleep 600 & echo up").keys());
}

TEST_F(tools_exec_coding, whoever_asks_for_an_editor_is_told_that_there_is_none) {
  const std::string commit = "git -c user.name=a -c user.email=b commit --allow-empty ";
  ASSERT_FALSE(shell("git init -q .").failed);
  const auto asked = shell(commit);
  EXPECT_TRUE(asked.failed);
  EXPECT_THAT(asked.string("output"), AllOf(HasSubstr("no editor"), HasSubstr("git commit -m")));
  EXPECT_FALSE(shell(commit + "-m one").failed);
  EXPECT_FALSE(shell("EDITOR='echo one >' " + commit).failed);
  EXPECT_FALSE(shell(commit, R"(,"env":{"VISUAL":"echo one >"})").failed); // theirs counts
  EXPECT_EQ("vi\n", shell("echo $EDITOR", R"(,"env":{"EDITOR":"vi"})").string("output"));
}

TEST_F(tools_exec_coding, an_editor_at_the_deadline_is_told_of) {
  constexpr const char* soon = R"(,"timeout":300)";
  tree.file("vi", "#!/bin/sh\nexec sleep 600\n");
  std::filesystem::permissions(tree / "vi", std::filesystem::perms(0755));
  EXPECT_THAT(call("exec", R"({"command":"./vi","timeout":300})").message(),
              HasSubstr("nobody types here"));
  EXPECT_THAT(shell("echo 'Vim: Warning: Input is not from a terminal' >&2; exec sleep 600", soon)
                  .message(),
              HasSubstr("nobody types here"));
  EXPECT_THAT(shell("exec sleep 600", soon).message(),
              HasSubstr("if it waits for keys or an answer, nobody types here"));
}

/// Package managers that cannot reach a registry are told so, unless the call says otherwise.
TEST_F(tools_exec_coding, package_managers_know_that_there_is_no_network) {
  constexpr const char* script =
      "echo $npm_config_offline $CARGO_NET_OFFLINE $UV_OFFLINE $PIP_RETRIES";
  const bool is_denied =
      probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::network).applied;
  if (!is_denied) GTEST_SKIP() << "this system cannot confine commands";
  EXPECT_EQ("true true 1 0\n", shell(script).string("output"));
  EXPECT_EQ("false true 1 0\n",
            shell(script, R"(,"env":{"npm_config_offline":"false"})").string("output"));
}

/// It refuses what it has not fetched before, instead of asking a registry again and again.
TEST_F(tools_exec_coding, npm_fails_at_once_without_a_network) {
  const bool is_denied =
      probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::network).applied;
  if (!is_denied) GTEST_SKIP() << "this system cannot confine commands";
  if (shell("npm --version").failed) GTEST_SKIP() << "npm is not installed";
  tree.file("package.json", R"({"name":"a","version":"1.0.0","dependencies":{"left-pad":"1"}})");
  const auto told = shell("npm install --loglevel=http --no-audit --no-fund");
  EXPECT_TRUE(told.failed);
  EXPECT_THAT(told.string("output"), AllOf(HasSubstr("ENOTCACHED"), Not(HasSubstr("attempt"))));
  EXPECT_THAT(told.message(), HasSubstr("if it needs a network"));
  const auto asked = shell("npm install --loglevel=http --fetch-retries=1 "
                           "--fetch-retry-mintimeout=1 --fetch-retry-maxtimeout=1",
                           R"(,"env":{"npm_config_offline":"false"})"); // the control
  EXPECT_THAT(asked.string("output"), AllOf(HasSubstr("attempt"), Not(HasSubstr("ENOTCACHED"))));
}

TEST_F(tools_exec_coding, in_a_terminal_an_editor_can_be_used) {
  const auto in = [&](std::string_view more) {
    return call("startProcess",
                R"({"command":"sh","args":["-c","echo \"<$EDITOR>\""],"waitMs":60000)" +
                    std::string(more) + "}")
        .string("output");
  };
  EXPECT_EQ("<>\r\n", in(R"(,"tty":true)"));
  EXPECT_THAT(in(""), HasSubstr("no editor"));
}

TEST_F(tools_exec_coding, the_bound_that_ended_a_command_is_named) {
  confinement_policy policy = confinement_policy::best_effort();
  policy.bounds.file_size_bytes = 4096;
  policy.bounds.cpu_seconds = 1;
  serve_coding({.confinement = policy});
  const std::string large = "head -c 9000 /dev/zero > large", endless = "while :; do :; done";
  for (const std::string& prefix : {std::string(), std::string("exec sh -c ")}) {
    SCOPED_TRACE(prefix);
    const auto script = [&](const std::string& of) {
      return prefix.empty() ? of : prefix + "'" + of + "'";
    };
    EXPECT_THAT(shell(script(large)).message(), HasSubstr("a larger --max-file-size"));
    EXPECT_THAT(shell(script("kill -25 $$")).message(), HasSubstr("a larger --max-file-size"));
    EXPECT_THAT(shell(script(endless)).message(), HasSubstr("1 seconds of processor time"));
  }
  EXPECT_THAT(shell("kill -9 $$").message(), Not(HasSubstr("--max"))); // no bound of memory is set
  serve_coding({.confinement = confinement_policy::best_effort()});
  EXPECT_THAT(shell("kill -25 $$").message(), Not(HasSubstr("--max")));
}

TEST_F(tools_exec_coding, memory_that_the_kernel_ended_a_command_for_is_named) {
  confinement_policy policy = confinement_policy::best_effort();
  policy.bounds.memory_bytes = 64ULL << 20;
  serve_coding({.confinement = policy});
  const auto killed = shell("kill -9 $$").message();
  const bool is_for_the_tree = probe_confinement(policy, PADDOCK_TEST_HELPER)
                                   ->of(confinement_layer::limits)
                                   .mechanism.find("control group") != std::string::npos;
  EXPECT_EQ(is_for_the_tree,
            killed.find("; if it met a bound, commands may have 67108864 bytes of memory") !=
                std::string::npos)
      << killed; // whoever sent the signal
  EXPECT_THAT(shell("python3 -c 'x = bytearray(300 << 20)'").message(),
              HasSubstr("a larger --max-memory"));
}

} // namespace
} // namespace paddock::test
