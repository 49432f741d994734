// SPDX-License-Identifier: MIT

// The exec tool: what a command's end, output, environment and directory become for a client.

#include "support/tool_fixture.hpp"

#include <paddock/confinement.hpp>

#include <gmock/gmock.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace paddock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct exec_request {
  std::string command = "sh";
  std::vector<std::string> args;
  std::string env = "{}";
  std::string cwd = ".";
  bool out = true;
  bool err = true;
  std::string timeout = {}; ///< JSON, empty for none
};

class tools_exec : public tool_fixture {
protected:
  tool_answer exec(const exec_request& asked, std::string_view progress_token = {}) {
    mcp::json_writer out;
    out.begin_object().member("command", asked.command).key("args").begin_array();
    for (const auto& argument : asked.args)
      out.string(argument);
    out.end_array().key("env").raw(asked.env).member("cwd", asked.cwd);
    out.key("stdout").boolean(asked.out).key("stderr").boolean(asked.err);
    if (!asked.timeout.empty()) out.key("timeout").raw(asked.timeout);
    out.end_object();
    return call("exec", out.str(), progress_token);
  }
  tool_answer shell(const std::string& script) { return exec({.args = {"-c", script}}); }
};

TEST_F(tools_exec, output_is_returned) {
  EXPECT_EQ(R"({"output":"$HOME *\n"})", exec({.command = "echo", .args = {"$HOME *"}}).json);
  EXPECT_EQ("a\nb\n", shell("echo a; echo b >&2").string("output"));
}

TEST_F(tools_exec, no_output_is_said) {
  constexpr const char* sentence = "Command executed successfully, but produced no output.";
  EXPECT_EQ(sentence, exec({.command = "true"}).string("output"));
  EXPECT_EQ(
      sentence,
      exec({.args = {"-c", "echo a; echo b >&2"}, .out = false, .err = false}).string("output"));
}

TEST_F(tools_exec, streams_are_returned_as_asked) {
  const std::vector<std::string> both = {"-c", "echo a; echo b >&2"};
  EXPECT_EQ("a\n", exec({.args = both, .err = false}).string("output"));
  EXPECT_EQ("b\n", exec({.args = both, .out = false}).string("output"));
  const auto failed = exec({.args = {"-c", "echo a; echo b >&2; exit 1"}, .err = false});
  EXPECT_EQ("error message exitCode stdout", failed.keys());
}

TEST_F(tools_exec, an_exit_code_is_a_failure_with_both_streams) {
  const auto answer = shell("echo a; echo b >&2; exit 3");
  EXPECT_EQ("command_failed", answer.error());
  EXPECT_EQ("error message exitCode stdout stderr", answer.keys());
  EXPECT_EQ(3, answer.integer("exitCode"));
  EXPECT_EQ("a\n", answer.string("stdout"));
  EXPECT_EQ("b\n", answer.string("stderr"));
  EXPECT_THAT(answer.message(), HasSubstr("exit code 3"));
}

TEST_F(tools_exec, a_leak_check_that_cannot_trace_is_explained) {
  const auto answer =
      shell("echo 'HINT: LeakSanitizer does not work under ptrace (strace, gdb, etc)' >&2; exit 1");
  const bool confined =
      probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::privileges).applied;
  EXPECT_EQ(answer.message().find("detect_leaks=0") != std::string::npos, confined);
}

TEST_F(tools_exec, a_signal_is_named) {
  const auto answer = shell("kill -9 $$");
  EXPECT_EQ("command_failed", answer.error());
  EXPECT_EQ(9, answer.integer("signal"));
  EXPECT_THAT(answer.message(), HasSubstr("signal 9"));
}

TEST_F(tools_exec, the_deadline_is_told_with_what_was_written_before) {
  const auto answer = exec({.args = {"-c", "echo early; exec sleep 60"}, .timeout = "300"});
  EXPECT_EQ("timed_out", answer.error());
  EXPECT_THAT(answer.message(), AllOf(HasSubstr("300 ms"), HasSubstr("longer timeout")));
  EXPECT_EQ("early\n", answer.string("stdout"));
}

TEST_F(tools_exec, deadlines_are_checked) {
  for (const char* timeout : {"0", "-5", "3600001", "1.5", "\"100\""}) {
    SCOPED_TRACE(timeout);
    EXPECT_EQ("invalid_argument", exec({.command = "true", .timeout = timeout}).error());
  }
  EXPECT_FALSE(exec({.command = "true", .timeout = "3600000"}).failed);
}

TEST_F(tools_exec, the_default_deadline_never_exceeds_the_longest) {
  mcp::workspace_options options;
  options.limits.exec_timeout_ms_max = 20'000;
  serve(options);
  EXPECT_FALSE(exec({.command = "true"}).failed);
}

TEST_F(tools_exec, missing_programs_are_told_apart) {
  tree.file("plain.txt", "no program\n");
  tree.file("script", "#!/nonexistent/interpreter\n");
  tree.file("junk", "\x01\x02\x03");
  ASSERT_EQ(0, ::chmod((tree / "script").c_str(), 0755));
  ASSERT_EQ(0, ::chmod((tree / "junk").c_str(), 0755));
  struct start_case {
    const char* command;
    const char* error;
    const char* advice;
  };
  constexpr start_case cases[] = {
      {"no-such-program-here", "not_found", "no such program"},
      {"./absent", "not_found", "no such program"},
      {"./plain.txt", "permission_denied", "not an executable file"},
      {"./script", "not_found", "interpreter"},
      {"./junk", "unsupported_type", "neither a program"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.command);
    const auto answer = exec({.command = each.command});
    EXPECT_EQ(each.error, answer.error());
    EXPECT_THAT(answer.message(), AllOf(HasSubstr(each.command), HasSubstr(each.advice)));
  }
}

TEST_F(tools_exec, a_directory_in_path_that_may_not_be_searched_hides_nothing) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may search every directory";
  tree.directory("locked");
  ASSERT_EQ(0, ::chmod((tree / "locked").c_str(), 0));
  const std::string env = R"({"PATH":)" + json_string(tree / "locked" + ":/usr/bin:/bin") + "}";
  EXPECT_FALSE(exec({.command = "true", .env = env}).failed);
  EXPECT_EQ("not_found", exec({.command = "no-such-program-here", .env = env}).error());
}

TEST_F(tools_exec, a_missing_helper_is_for_people_to_repair) {
  auto opened = paddock::root::open(tree.path());
  ASSERT_TRUE(opened);
  auto made = mcp::workspace_tools(std::make_shared<const paddock::root>(*std::move(opened)),
                                   {.exec_helper = tree / "absent"});
  ASSERT_TRUE(made);
  mcp::server without({}, *std::move(made));
  const auto lines = without.handle_line(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exec","arguments":)"
      R"({"command":"true","args":[],"env":{},"cwd":".","stdout":true,"stderr":true}}})");
  ASSERT_EQ(1U, lines.size());
  EXPECT_THAT(lines[0], AllOf(HasSubstr("paddock-exec-helper"), HasSubstr("unsupported")));
}

TEST_F(tools_exec, arguments_with_nul_bytes_are_refused) {
  const auto answer = exec({.command = "echo", .args = {std::string("a\0b", 3)}});
  EXPECT_EQ("invalid_argument", answer.error());
  EXPECT_THAT(answer.message(), HasSubstr("NUL"));
}

TEST_F(tools_exec, the_directory_has_to_be_inside) {
  tree.directory("sub");
  tree.directory(".perstack");
  tree.file("file");
  EXPECT_EQ(tree / "sub" + "\n", exec({.command = "pwd", .cwd = "sub"}).string("output"));
  EXPECT_EQ("escapes_root", exec({.command = "pwd", .cwd = ".."}).error());
  EXPECT_EQ("escapes_root", exec({.command = "pwd", .cwd = "/"}).error());
  EXPECT_EQ("protected", exec({.command = "pwd", .cwd = ".perstack"}).error());
  EXPECT_EQ("not_found", exec({.command = "pwd", .cwd = "absent"}).error());
  const auto file = exec({.command = "pwd", .cwd = "file"});
  EXPECT_EQ("not_a_directory", file.error());
  EXPECT_THAT(file.message(), HasSubstr("cwd file"));
}

TEST_F(tools_exec, the_environment_is_the_minimum_and_what_was_given) {
  ::setenv("PADDOCK_TEST_SECRET", "secret", 1);
  ::setenv("PADDOCK_TEST_PASSED", "passed", 1);
  serve({.pass_environment = {"PADDOCK_TEST_PASSED"}});
  const auto answer = exec({.command = "env", .env = R"({"GIVEN":"a b"})"});
  ::unsetenv("PADDOCK_TEST_SECRET");
  ::unsetenv("PADDOCK_TEST_PASSED");
  EXPECT_THAT(answer.string("output"),
              AllOf(HasSubstr("PATH="), HasSubstr("GIVEN=a b\n"),
                    HasSubstr("PADDOCK_TEST_PASSED=passed\n"), Not(HasSubstr("secret"))));
}

TEST_F(tools_exec, variables_that_load_other_code_are_refused_by_name) {
  const auto answer = exec({.command = "true", .env = R"({"A":"1","LD_PRELOAD":"x.so"})"});
  EXPECT_EQ("denied_by_policy", answer.error());
  EXPECT_THAT(answer.message(), AllOf(HasSubstr("LD_PRELOAD"), HasSubstr("without it")));
  EXPECT_EQ("invalid_argument", exec({.command = "true", .env = R"({"A B":"1"})"}).error());
  EXPECT_EQ("invalid_argument", exec({.command = "true", .env = R"({"A":1})"}).error());
}

TEST_F(tools_exec, long_output_keeps_its_two_ends) {
  const auto answer = shell("echo begin; head -c 4000000 /dev/zero | tr '\\0' '\"'; echo end");
  ASSERT_FALSE(answer.failed) << answer.json.substr(0, 200);
  const std::string output = answer.string("output");
  EXPECT_TRUE(output.starts_with("begin\n"));
  EXPECT_TRUE(output.ends_with("end\n"));
  EXPECT_THAT(output, HasSubstr("bytes left out"));
}

TEST_F(tools_exec, output_always_fits_into_a_line) {
  mcp::workspace_options options;
  options.limits.message_out_bytes_max = 60'000;
  serve(options);
  for (const char* size : {"9000", "9900", "10000", "30000", "70000"}) {
    SCOPED_TRACE(size);
    const auto answer =
        shell(std::string("head -c ") + size + " /dev/zero | tr '\\0' '\"'; exit 1");
    EXPECT_EQ("command_failed", answer.error());
    EXPECT_EQ(1, answer.integer("exitCode"));
  }
}

TEST_F(tools_exec, output_that_is_not_utf8_is_shown_as_far_as_possible) {
  EXPECT_EQ("caf\xEF\xBF\xBD\n", shell("printf 'caf\\351\\n'").string("output"));
}

TEST_F(tools_exec, what_a_command_leaves_running_is_ended) {
  // Process IDs of a command may mean nothing out here; its lock on a file does.
  ASSERT_FALSE(shell("exec 9>held; flock 9; sleep 600 & echo left").failed);
  const int held = ::open((tree / "held").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(held, 0);
  EXPECT_EQ(0, ::flock(held, LOCK_EX | LOCK_NB));
  ::close(held);
}

TEST_F(tools_exec, progress_is_told_when_asked_for) {
  EXPECT_TRUE(exec({.command = "true"}).progress.empty());
  const auto answer = exec({.args = {"-c", "sleep 0.3"}}, "\"p\"");
  EXPECT_FALSE(answer.failed);
  ASSERT_FALSE(answer.progress.empty());
  EXPECT_THAT(answer.progress[0],
              AllOf(HasSubstr(R"("progressToken":"p")"), HasSubstr("sh is running")));
}

TEST_F(tools_exec, all_arguments_are_required) {
  const auto answer = call("exec", R"({"command":"true"})");
  EXPECT_EQ("invalid_argument", answer.error());
  for (const char* name : {"args", "env", "cwd", "stdout", "stderr"})
    EXPECT_THAT(answer.message(), HasSubstr(name));
}

} // namespace
} // namespace paddock::test
