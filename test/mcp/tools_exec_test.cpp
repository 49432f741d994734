// SPDX-License-Identifier: MIT

// The exec tool: what a command's end, output, environment and directory become for a client.

#include "support/mcp/tool_fixture.hpp"

#include <paddock/exec/confinement.hpp>

#include <sys/file.h>

namespace paddock::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
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

// --- what a failure is put down to ---

struct hint_case {
  const char* name;
  const char* script;
  const char* hint; ///< a part of the message, or nullptr for none
};

constexpr hint_case hint_cases[] = {
    {"content about networks", "echo 'resolve host, socket, EAI_AGAIN'; exit 3", nullptr},
    {"content about permissions", "echo 'cat: /root/x: Permission denied'; exit 3", nullptr},
    {"no name", "echo 'curl: (6) Could not resolve host: example.org' >&2; exit 6",
     "if it needs a network"},
    {"node without a resolver", "echo 'Error: getaddrinfo EAI_AGAIN example.org' >&2; exit 1",
     "if it needs a network"},
    {"go without a network",
     "echo 'dial udp 8.8.8.8:53: connect: network is unreachable' >&2; exit 1", "--network all"},
    {"npm that was kept offline", "echo 'npm error code ENOTCACHED' >&2; exit 1", "--network all"},
    {"cargo that was kept offline",
     "echo \"error: no matching package found; you are in the offline mode (--offline)\" >&2; exit "
     "101",
     "--network all"},
    {"a file outside", "echo 'cat: /root/x: Permission denied' >&2; exit 1",
     "if it needs /root/x, that lies outside the workspace"},
    {"node and a file outside",
     "echo \"Error: EACCES: permission denied, open '/root/x'\" >&2; exit 1", "--exec-read"},
    {"a relative path that leaves", "echo 'cat: ../x: Permission denied' >&2; exit 1",
     "--exec-read"},
    {"a file of the system that is written",
     "echo 'touch: /usr/x: Read-only file system' >&2; exit 1", "--exec-write"},
    {"a program that begins its messages with its own path",
     "echo '/usr/bin/ld: cannot open output file /usr/x: Read-only file system' >&2; exit 1",
     "if it needs /usr/x, that"},
    {"a directory outside, in GNU's quotes",
     "echo 'mkdir: cannot create directory \xE2\x80\x98/srv/x\xE2\x80\x99: Read-only file system' "
     ">&2; exit 1",
     "if it needs /srv/x, that"},
    {"a path with a blank, in GNU's quotes",
     "echo 'mkdir: cannot create directory \xE2\x80\x98/srv/a b/x\xE2\x80\x99: Read-only file "
     "system' >&2; exit 1",
     "if it needs /srv/a b/x, that"},
    {"a path with a blank, in other quotes",
     "echo \"can't start: [Errno 13] Permission denied: '/root/a, b/x'\" >&2; exit 1",
     "if it needs /root/a, b/x, that"},
    {"a file of the kernel, which no option gives",
     "echo 'sysctl: /proc/sys/kernel/x: Read-only file system' >&2; exit 1", nullptr},
    {"a file of the system that is another user's",
     "echo 'cat: /etc/shadow: Permission denied' >&2; exit 1", nullptr},
    {"a file inside", "echo 'cat: locked: Permission denied' >&2; exit 1", nullptr},
    {"a file inside, absolute", "echo \"cat: $PWD/locked: Permission denied\" >&2; exit 1",
     nullptr},
    {"two lines that have nothing to do with each other",
     "printf 'reading /root/hosts\\nlocked: Permission denied\\n' >&2; exit 1", nullptr},
    {"a file outside that is not there",
     "echo \"FileNotFoundError: No such file or directory: '/data/x.csv'\" >&2; exit 1",
     "if it needs /data/x.csv, that"},
    {"a file of the system that is not there",
     "echo \"ls: cannot access '/usr/none': No such file or directory\" >&2; exit 2", nullptr},
    {"a header that is not there",
     "echo 'a.c:1:10: fatal error: ../b.h: No such file or directory' >&2; exit 1", nullptr},
    {"a removal in a repository",
     "echo \"rm: cannot remove 'a/r/.git/config': Device or resource busy\" >&2; exit 1",
     "to delete a whole repository, call deleteDirectory"},
    {"a removal of a protected entry",
     "echo \"rm: cannot remove '.vscode/a': Read-only file system\" >&2; exit 1",
     "--unprotect .vscode"},
    {"a removal of a mount of another kind",
     "echo \"rm: cannot remove 'mnt': Device or resource busy\" >&2; exit 1", nullptr},
    {"a move of a directory",
     "echo \"mv: cannot move 'r' to 's': Device or resource busy\" >&2; exit 1",
     "if r holds protected entries, no command can move or remove it: call moveFile"},
    {"a move of a protected entry",
     "echo \"mv: cannot move '.vscode' to 's': Device or resource busy\" >&2; exit 1",
     "--unprotect .vscode"},
    {"an operation of another kind", "echo 'kill: Operation not permitted' >&2; exit 1", nullptr},
    {"silence", "exit 1", nullptr},
    {"silence of another kind", "exit 2", nullptr},
};

struct named_text {
  const char* name;
  const char* text;
};

/// What programs say of failures that no fence has to do with, word for word.
constexpr named_text ordinary_failures[] = {
    {"git: changes in the way",
     "error: Your local changes to the following files would be overwritten by checkout:\n\ta.c\n"
     "Please commit your changes or stash them before you switch branches.\nAborting"},
    {"git: rebase", "error: cannot rebase: You have unstaged changes.\n"
                    "error: Please commit or stash them."},
    {"git: untracked", "error: The following untracked working tree files would be overwritten by "
                       "merge:\n\tb.txt\nPlease move or remove them before you merge.\nAborting"},
    {"git: no author",
     "Author identity unknown\n\n*** Please tell me who you are.\n\nfatal: unable "
     "to auto-detect email address (got 'u@host.(none)')"},
    {"git: a conflict", "CONFLICT (content): Merge conflict in a.c\nAutomatic merge failed; fix "
                        "conflicts and then commit the result."},
    {"gcc", "a.c:1:10: fatal error: foo/bar.h: No such file or directory\n    1 | #include "
            "<foo/bar.h>\ncompilation terminated."},
    {"ld", "/usr/bin/ld: cannot find -lfoo: No such file or directory\ncollect2: error: ld "
           "returned 1 exit status"},
    {"make", "make: *** No rule to make target 'x', needed by 'all'.  Stop."},
    {"cmake", "CMake Error: The source directory \"build\" does not appear to contain "
              "CMakeLists.txt."},
    {"python: a file",
     "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    "
     "open('x')\nFileNotFoundError: [Errno 2] No such file or directory: 'x'"},
    {"python: a module", "ModuleNotFoundError: No module named 'socket_utils'"},
    {"python: input", "EOFError: EOF when reading a line"},
    {"pytest", "E       AssertionError: assert 'getaddrinfo failed' == 'ok'"},
    {"node", "Error: Cannot find module './server'\nRequire stack:\n- index.js"},
    {"npm", "npm ERR! Missing script: \"start:network\""},
    {"cargo", "error: could not find `Cargo.toml` in the current directory or any parent"},
    {"rustc", "error[E0425]: cannot find value `socket` in this scope"},
    {"go", "./main.go:7:2: undefined: net.Dialer2"},
    {"javac", "A.java:3: error: cannot find symbol"},
    {"tsc", "a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'."},
    {"eslint", "  1:1  error  'openpty' is not defined  no-undef"},
    {"tar", "tar: a.tar: Cannot open: No such file or directory\ntar: Error is not recoverable: "
            "exiting now"},
    {"rm", "rm: cannot remove 'x': No such file or directory"},
    {"cp", "cp: cannot create regular file 'd/': Not a directory"},
    {"sh", "sh: 1: ./run.sh: Permission denied"},
    {"sed", "sed: -e expression #1, char 3: unterminated `s' command"},
    {"jq", "jq: error (at <stdin>:1): Cannot index number with \"x\""},
    {"kill", "kill: (4) - No such process"},
    {"gdb", "No symbol table is loaded.  Use the \"file\" command."},
    {"docker", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker "
               "daemon running?"},
    {"sudo", "sudo: a terminal is required to read the password"},
    {"a test's own words", "AssertionError: expected 'Permission denied' to equal 'ok'"},
    {"a script's question", "Overwrite (y/n)?"},
    {"a shell without the program", "sh: 1: go: not found"},
    {"jest", "FAIL  src/offline.test.js\n  ● socket › connect › EACCES is told"},
    {"ssh", "git@host: Permission denied (publickey)."},
    {"git: another's repository",
     "fatal: detected dubious ownership in repository at '/usr/src/x'"},
    {"rustc: a file", "error: couldn't read `src/x.rs`: No such file or directory (os error 2)"},
    {"perl", "Can't locate Foo/Bar.pm in @INC (you may need to install the Foo::Bar module)"},
};

TEST_F(tools_exec, ordinary_failures_bring_no_advice) {
  for (const auto& each : ordinary_failures) {
    SCOPED_TRACE(each.name);
    tree.file("said", std::string(each.text) + "\n");
    const auto answer = shell("cat said >&2; exit 1");
    EXPECT_THAT(answer.message(), EndsWith("exit code 1"));
  }
}

/// Who writes a hook removes nothing.
TEST_F(tools_exec, only_a_removal_is_told_of_a_tool_that_removes_a_repository) {
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::protected_entries).applied)
    GTEST_SKIP() << "this system cannot confine commands";
  const auto told = shell("echo 'sh: r/.git/hooks/x: Read-only file system' >&2; exit 1");
  EXPECT_THAT(told.message(), EndsWith("--unprotect .git/hooks"));
  const auto removed =
      shell("echo \"rm: cannot remove 'r/.git': Device or resource busy\" >&2; "
            "echo \"rm: cannot remove 'r/.git/hooks/x': Read-only file system\" >&2; "
            "exit 1"); // the control
  EXPECT_THAT(removed.message(), HasSubstr("to delete a whole repository, call deleteDirectory"));
}

TEST_F(tools_exec, hints_follow_the_evidence) {
  tree.directory("r");
  const auto layers = *probe_confinement({}, PADDOCK_TEST_HELPER);
  for (const auto layer : {confinement_layer::network, confinement_layer::file_system})
    if (!layers.of(layer).applied) GTEST_SKIP() << "this system cannot confine commands";
  for (const auto& each : hint_cases) {
    SCOPED_TRACE(each.name);
    for (const bool shown : {true, false}) { // whether the caller wants what the hint follows from
      const auto answer = exec({.args = {"-c", each.script}, .err = shown});
      EXPECT_EQ("command_failed", answer.error());
      EXPECT_EQ(shown, answer.keys().find("stderr") != std::string::npos);
      if (each.hint != nullptr) { // these are words alone, and so each is a guess
        EXPECT_THAT(answer.message(), AllOf(HasSubstr("; if "), HasSubstr(each.hint)));
      } else {
        EXPECT_THAT(answer.message(), EndsWith(std::to_string(answer.integer("exitCode"))));
      }
    }
  }
}

/// Git tells of a file that it could not write, ends with 0, and would commit the old one.
TEST_F(tools_exec, what_could_not_be_written_is_told_also_at_success) {
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::protected_entries).applied)
    GTEST_SKIP() << "this system cannot confine commands";
  const std::string script =
      "git init -q -b main && mkdir .vscode && echo 1 > .vscode/settings.json && echo 1 > a && "
      "git add -A && git -c user.name=A -c user.email=a@b commit -qm 1 && git checkout -qb other "
      "&& "
      "echo 2 > .vscode/settings.json && git -c user.name=A -c user.email=a@b commit -qam 2 && "
      "git checkout -q main";
  serve({.confinement = confinement_policy::host()});
  const auto made = shell(script);
  ASSERT_FALSE(made.failed) << made.json;
  serve({});
  const auto told = exec({.command = "git", .args = {"checkout", "other"}});
  ASSERT_FALSE(told.failed) << told.json;
  EXPECT_THAT(told.string("notice"),
              AllOf(HasSubstr("if it was to change .vscode/settings.json, that is protected"),
                    HasSubstr("--unprotect .vscode"), Not(HasSubstr("switch -f"))));
  const auto configured = exec({.command = "git", .args = {"branch", "-u", "main"}});
  ASSERT_FALSE(configured.failed) << configured.json;
  EXPECT_THAT(configured.string("notice"),
              AllOf(HasSubstr(".git/config, that is protected"), Not(HasSubstr("commit"))));
  EXPECT_THAT(shell("git checkout -q -f main; exit 3").message(),
              AllOf(HasSubstr("--unprotect .vscode"), Not(HasSubstr("switch -f"))));
  for (const char* harmless : {"git status", "echo '.vscode: Read-only file system'"})
    EXPECT_EQ("output", shell(harmless).keys());
}

TEST_F(tools_exec, a_repository_that_was_not_removed_whole_is_told) {
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::protected_entries).applied)
    GTEST_SKIP() << "this system cannot confine commands";
  serve({.confinement = confinement_policy::host()});
  ASSERT_FALSE(shell("git init -q r && git init -q s").failed);
  serve({});
  const auto silent = shell("rm -rf r 2>/dev/null; true");
  ASSERT_FALSE(silent.failed) << silent.json;
  EXPECT_THAT(silent.string("notice"),
              AllOf(HasSubstr("r was not removed whole"), HasSubstr("deleteDirectory")));
  EXPECT_EQ("output", shell("true").keys()); // once is enough
  const auto loud = shell("rm -rf s; true");
  ASSERT_FALSE(loud.failed) << loud.json;
  EXPECT_THAT(loud.string("notice"),
              AllOf(HasSubstr("s was not removed whole"), Not(HasSubstr("if it was"))));
  EXPECT_EQ("output", shell("git init -q t && rm -rf t").keys()); // the control: its own
}

/// What a command said that ended with 1, and the layer that was there.
std::string hint_for(const temp_tree& tree, std::string err, std::string mechanism) {
  const auto root = root::open(tree.path());
  command_outcome o{.exit_code = 1};
  o.err.head = std::move(err);
  auto& layer = o.confinement.of(confinement_layer::file_system);
  layer.applied = true;
  layer.mechanism = std::move(mechanism);
  return mcp::command_hint(*root, {.argv = {"sh"}}, o, mcp::hint_reader::model);
}

TEST_F(tools_exec, attributes_that_cannot_be_changed_are_explained) {
  constexpr const char* landlock = "Landlock, filter of attribute calls";
  for (const char* said : {"touch: setting times of 'new': Operation not permitted",
                           "error: chmod on g/.git/config.lock failed: Operation not permitted",
                           "Error: EPERM: operation not permitted, chmod 'f2'"}) {
    EXPECT_THAT(hint_for(tree, said, landlock),
                AllOf(HasSubstr("the mode, the times"), HasSubstr("user namespaces"),
                      HasSubstr("--exec host")));
    EXPECT_EQ("", hint_for(tree, said, "mount namespace, Landlock"));
    EXPECT_EQ("", hint_for(tree, said, std::string(landlock) + ", broker of attributes"));
  }
  EXPECT_EQ("", hint_for(tree, "no such option", landlock));
  // A program that was not started at all, as `paddock exec` asks about it.
  const auto root = root::open(tree.path());
  ASSERT_TRUE(root.has_value());
  for (const auto& [mechanism, option] :
       {std::pair(landlock, "--host"), std::pair("mount namespace", "")}) {
    command_outcome o{.exit_code = 126};
    auto& layer = o.confinement.of(confinement_layer::file_system);
    layer.applied = true;
    layer.mechanism = mechanism;
    const auto hint = mcp::command_hint(*root, {.argv = {"./made"}}, o, mcp::hint_reader::person);
    EXPECT_THAT(hint, HasSubstr(option));
    EXPECT_EQ(hint.empty(), *option == '\0');
  }
}

/// Without a mount namespace commands have no /tmp of their own, and what they link may lack the
/// right to be run.
TEST_F(tools_exec, where_landlock_stands_alone_the_scratch_space_is_named) {
  constexpr const char* landlock = "Landlock, filter of attribute calls";
  constexpr const char* both = "mount namespace, Landlock";
  for (const char* said : {"sh: 1: cannot create /tmp/x: Permission denied",
                           "Error: EACCES: permission denied, open '/tmp/a/b'",
                           "mkdir: cannot create directory '/var/tmp/y': Permission denied"}) {
    EXPECT_THAT(
        hint_for(tree, said, landlock),
        AllOf(testing::StartsWith("; if "), HasSubstr("$TMPDIR"), Not(HasSubstr("--exec-write"))));
    EXPECT_THAT(hint_for(tree, said, both), Not(HasSubstr("$TMPDIR"))); // the control
  }
  EXPECT_THAT(hint_for(tree, "cat: /tmpfile: Permission denied", landlock),
              AllOf(HasSubstr("--exec-write"), Not(HasSubstr("$TMPDIR"))));
}

TEST_F(tools_exec, what_a_program_may_wait_for_is_told_at_the_deadline) {
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::network).applied)
    GTEST_SKIP() << "this system cannot confine commands";
  for (const auto policy : {demand::required, demand::off}) {
    mcp::workspace_options options;
    options.confinement.network = policy;
    serve(options);
    const auto answer = exec({.command = "sleep", .args = {"60"}, .timeout = "150"});
    EXPECT_EQ("timed_out", answer.error());
    EXPECT_THAT(answer.message(), AllOf(HasSubstr("if it waits for keys or an answer"),
                                        Not(HasSubstr("network")))); // nothing speaks for one
    const auto tries = exec({.command = "sh",
                             .args = {"-c", "echo 'Could not resolve host: x' >&2; exec sleep 60"},
                             .timeout = "1000"});
    EXPECT_EQ("timed_out", tries.error());
    EXPECT_EQ(policy == demand::required,
              tries.message().find("if it needs a network") != std::string::npos);
  }
}

TEST_F(tools_exec, git_commits_by_variables) {
  ASSERT_FALSE(exec({.command = "git", .args = {"init", "-q", "made"}}).failed);
  exec_request made{
      .command = "git", .args = {"commit", "--allow-empty", "-m", "x"}, .cwd = "made"};
  made.env = R"({"GIT_AUTHOR_NAME":"A","GIT_AUTHOR_EMAIL":"a@example.org",)"
             R"("GIT_COMMITTER_NAME":"A","GIT_COMMITTER_EMAIL":"a@example.org"})";
  EXPECT_FALSE(exec(made).failed);
}

TEST_F(tools_exec, a_program_out_of_sight_is_told_apart_from_none) {
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::file_system).applied)
    GTEST_SKIP() << "this system cannot confine commands";
  const temp_tree outside;
  outside.file("some-tool", "#!/bin/sh\necho works\n");
  ASSERT_EQ(0, ::chmod((outside / "some-tool").c_str(), 0755));
  const std::string env = R"({"PATH":)" + json_string(outside.path() + ":/usr/bin:/bin") + "}";
  mcp::workspace_options options;
  options.confinement.home = outside.path(); // which no search path shows
  options.confinement.search_path = outside.path() + ":/usr/bin:/bin";
  serve(options);
  const exec_request unseen[] = {
      {.args = {"-c", "some-tool"}, .env = env},
      {.command = "bash", .args = {"-c", "some-tool"}, .env = env},
      {.command = "env", .args = {"some-tool"}, .env = env},
  };
  const exec_request absent[] = {
      {.command = "no-tool", .env = env},
      {.command = outside / "some-tool"}, // what lies elsewhere is not told
      {.args = {"-c", "no-tool"}, .env = env},
      {.args = {"-c", "some-tool"}},
      {.args = {"-c", "echo 'sh: 1: some-tool: not found' >&2; exit 1"}, .env = env},
  };
  for (const auto& each : unseen) {
    const auto answer = exec(each);
    EXPECT_THAT(answer.message(), AllOf(HasSubstr(outside / "some-tool"), HasSubstr("do not see"),
                                        HasSubstr("--exec-read " + outside.path())))
        << each.command;
  }
  for (const auto& each : absent)
    EXPECT_THAT(exec(each).message(), Not(HasSubstr("is in PATH")));
  options.confinement.read_paths = {outside / "some-tool"};
  serve(options);
  for (const auto& each : unseen)
    EXPECT_EQ("works\n", exec(each).string("output"));
}

TEST_F(tools_exec, a_command_line_in_place_of_a_program_belongs_to_a_shell) {
  tree.file("my tool", "#!/bin/sh\necho mine\n");
  ASSERT_EQ(0, ::chmod((tree / "my tool").c_str(), 0755));
  const std::string many(300, 'x'), path = "./" + many;
  const exec_request lines[] = {
      {.command = "ls -l", .args = {}},      {.command = "./run.sh x", .args = {}},
      {.command = "cd . && ls", .args = {}}, {.command = "ls " + many, .args = {}},
      {.command = "FOO=1", .args = {"ls"}},  {.command = "cd", .args = {"sub"}},
      {.command = "~/x", .args = {}}};
  for (const auto& each : lines) {
    SCOPED_TRACE(each.command);
    EXPECT_THAT(exec(each).message(),
                AllOf(HasSubstr(": no such program"), HasSubstr("; if a shell is to run it"),
                      HasSubstr(R"(command "sh" and args ["-c", "…"])")));
  }
  EXPECT_THAT(exec({.command = "./absent", .args = {}}).message(), Not(HasSubstr("shell")));
  EXPECT_EQ("mine\n", exec({.command = "./my tool", .args = {}}).string("output"));
}

TEST_F(tools_exec, a_refused_socket_is_put_down_to_the_network) {
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::network).applied)
    GTEST_SKIP() << "this system cannot confine commands";
  const exec_request listens{.command = "python3",
                             .args = {"-c", "import socket; s = socket.socket(); "
                                            "s.bind(('127.0.0.1', 0)); s.listen()"}};
  mcp::workspace_options options;
  options.confinement.reach = network_reach::none;
  serve(options);
  const auto answer = exec(listens);
  EXPECT_EQ("command_failed", answer.error());
  EXPECT_THAT(answer.message(), HasSubstr("--network all"));
  EXPECT_THAT(answer.message(), Not(HasSubstr("loopback")));
}

/// What a command cannot connect to listens outside, most likely.
TEST_F(tools_exec, a_refused_connection_is_put_down_to_the_loopback_of_its_own) {
  const exec_request connects{.args = {"-c", "echo 'connect ECONNREFUSED 127.0.0.1:5432' >&2; "
                                             "exit 1"}};
  for (const auto reach :
       {network_reach::loopback, network_reach::none, network_reach::host_network}) {
    SCOPED_TRACE(wire_name(reach));
    mcp::workspace_options options;
    options.confinement.reach = reach;
    const auto met = probe_confinement(options.confinement, PADDOCK_TEST_HELPER);
    ASSERT_TRUE(met);
    if (met->reach != reach) GTEST_SKIP() << "this system has no loopback for commands";
    serve(options);
    const auto answer = exec(connects);
    EXPECT_EQ("command_failed", answer.error());
    EXPECT_EQ(reach == network_reach::loopback,
              answer.message().find("none but a loopback of their own") != std::string::npos)
        << answer.message();
  }
}

TEST_F(tools_exec, health_tells_what_commands_reach) {
  for (const auto reach :
       {network_reach::loopback, network_reach::none, network_reach::host_network}) {
    SCOPED_TRACE(wire_name(reach));
    mcp::workspace_options options;
    options.confinement.reach = reach;
    const auto met = probe_confinement(options.confinement, PADDOCK_TEST_HELPER);
    ASSERT_TRUE(met);
    serve(options);
    const std::string told = call("healthCheck", "{}").json;
    EXPECT_EQ(met->reach == network_reach::loopback,
              told.find("loopback of its own, ") != std::string::npos);
    EXPECT_EQ(!met->no_loopback.empty(), told.find("no loopback: ") != std::string::npos);
  }
}

/// A name that is protected in the workspace is an ordinary one outside.
TEST_F(tools_exec, what_is_outside_is_told_apart_from_what_is_protected) {
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->of(confinement_layer::file_system).applied)
    GTEST_SKIP() << "this system cannot confine commands";
  const auto both = shell("echo '/etc/tool.conf: Read-only file system' >&2; exit 1");
  EXPECT_THAT(both.message(), AllOf(HasSubstr("--exec-write"), Not(HasSubstr("--unprotect"))));
  const auto named = shell("echo '/etc/.gitconfig: Read-only file system' >&2; exit 1");
  EXPECT_THAT(named.message(), AllOf(HasSubstr("--exec-write"), Not(HasSubstr("--unprotect"))));
  const auto inside = shell("echo '.gitconfig: Read-only file system' >&2; exit 1");
  EXPECT_THAT(inside.message(),
              AllOf(Not(HasSubstr("--exec-write")), HasSubstr("--unprotect .gitconfig")));
}

/// Exit code 1 of what searches, compares or tests is an answer, and 2 is a failure.
TEST_F(tools_exec, an_answer_is_no_failure) {
  tree.file("README", "network, socket, resolve host\n");
  tree.file("CHANGELOG", "Permission denied\n");
  const exec_request answers[] = {
      {.command = "grep", .args = {"absent", "README"}},
      {.command = "/bin/grep", .args = {"absent", "README"}},
      {.command = "cmp", .args = {"-s", "README", "CHANGELOG"}},
      {.command = "test", .args = {"-e", "absent"}},
      {.command = "[", .args = {"a", "=", "b", "]"}},
      {.command = "expr", .args = {"1", "-", "1"}},
  };
  for (const auto& each : answers) {
    SCOPED_TRACE(each.command);
    const auto answer = exec(each);
    EXPECT_FALSE(answer.failed) << answer.json;
    EXPECT_EQ("output exitCode", answer.keys());
    EXPECT_EQ(1, answer.integer("exitCode"));
  }
  EXPECT_EQ("Exit code 1: nothing matched.",
            exec({.command = "grep", .args = {"absent", "README"}}).string("output"));
  const auto differ = exec({.command = "diff", .args = {"README", "CHANGELOG"}});
  EXPECT_FALSE(differ.failed);
  EXPECT_THAT(differ.string("output"),
              AllOf(HasSubstr("< network, socket"), HasSubstr("> Permission denied")));
  EXPECT_EQ("output", exec({.command = "grep", .args = {"socket", "README"}}).keys());
  const exec_request failures[] = {
      {.command = "grep", .args = {"x", "absent"}},
      {.command = "diff", .args = {"README", "absent"}},
      {.command = "test", .args = {"1", "-eq", "x"}},
      {.command = "false"},
  };
  for (const auto& each : failures) {
    SCOPED_TRACE(each.command);
    EXPECT_EQ("command_failed", exec(each).error());
  }
}

TEST_F(tools_exec, arguments_and_variables_are_counted) {
  mcp::workspace_options options;
  options.limits =
      limits{.exec_arguments_max = 3, .exec_variables_max = 2, .exec_argument_bytes_max = 200'000};
  serve(options);
  const std::string longest(argument_bytes_max, 'x');
  struct {
    const char* name;
    exec_request asked;
    const char* refusal; ///< a part of the message, or nullptr for none
  } const cases[] = {
      {"as many arguments", {.command = "true", .args = {"1", "2", "3"}}, nullptr},
      {"one more", {.command = "true", .args = {"1", "2", "3", "4"}}, "args: the number of"},
      {"as many variables", {.command = "true", .env = R"({"A":"1","B":"2"})"}, nullptr},
      {"one variable more",
       {.command = "true", .env = R"({"A":"1","B":"2","C":"3"})"},
       "env: the number of"},
      {"as long an argument", {.command = "true", .args = {longest}}, nullptr},
      {"a longer one", {.command = "true", .args = {"a", longest + "x"}}, "args[1]"},
      {"a long variable",
       {.command = "true", .env = R"({"LONG":")" + longest + R"("})"},
       "env: LONG"},
      {"too much together",
       {.command = "true", .args = {longest, longest.substr(0, 70'000)}},
       "together"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const auto answer = exec(each.asked);
    EXPECT_EQ(each.refusal == nullptr ? "(no error)" : "too_large", answer.error());
    if (each.refusal == nullptr) continue;
    EXPECT_THAT(answer.message(), HasSubstr(each.refusal));
  }
}

TEST_F(tools_exec, the_default_bounds_are_below_those_of_the_kernel) {
  const limits usual;
  std::vector<std::string> most(usual.exec_arguments_max, "x");
  EXPECT_FALSE(exec({.command = "true", .args = most}).failed);
  most.assign(8, std::string(usual.exec_argument_bytes_max / 8 - 16, 'x'));
  EXPECT_FALSE(exec({.command = "true", .args = most}).failed);
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
  serve({.limits = limits{.exec_timeout_ms_max = 20'000}});
  EXPECT_FALSE(exec({.command = "true"}).failed);
}

TEST_F(tools_exec, missing_programs_are_told_apart) {
  tree.file("plain.txt", "no program\n");
  tree.file("script", "#!/nonexistent/interpreter\n");
  tree.file("junk", "\x01\x02\x03");
  tree.directory("folder");
  ASSERT_EQ(0, ::chmod((tree / "script").c_str(), 0755));
  ASSERT_EQ(0, ::chmod((tree / "junk").c_str(), 0755));
  struct start_case {
    const char* command;
    const char* error;
    const char* advice;
  };
  constexpr start_case cases[] = {
      {"no-such-program-here", "not_found", "no such program"},
      {"./absent", "not_found", "no such program; nothing is at that path"},
      {"/srv/no/such/program", "not_found", "--exec-read"},
      {"./folder", "permission_denied", "is a directory"},
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

TEST_F(tools_exec, a_path_that_leaves_out_a_program_is_told_so) {
  const auto answer = exec({.command = "ls", .env = R"({"PATH":"/nowhere"})"});
  EXPECT_EQ("not_found", answer.error());
  EXPECT_THAT(answer.message(),
              testing::MatchesRegex("ls: no such program: the PATH of the command "
                                    "leaves out (/usr)?/bin, which has it"));
}

TEST_F(tools_exec, a_directory_in_path_that_may_not_be_searched_hides_nothing) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may search every directory";
  tree.directory("locked");
  ASSERT_EQ(0, ::chmod((tree / "locked").c_str(), 0));
  const std::string env = R"({"PATH":)" + json_string(tree / "locked" + ":/usr/bin:/bin") + "}";
  EXPECT_FALSE(exec({.command = "true", .env = env}).failed);
  EXPECT_EQ("not_found", exec({.command = "no-such-program-here", .env = env}).error());
}

TEST_F(tools_exec, health_tells_of_commands_that_cannot_run) {
  EXPECT_EQ("ok", call("healthCheck").string("status"));
  mcp::workspace_options options;
  options.confinement.read_paths = {"/no/such/path"}; // without which the layer is missing
  serve(options);
  const auto told = call("healthCheck");
  EXPECT_EQ("degraded", told.string("status"));
  EXPECT_THAT(told.string("warning"),
              AllOf(HasSubstr("commands: are refused: file_system"), HasSubstr("--exec best")));
  options.omit = {"exec"};
  serve(options);
  EXPECT_EQ("ok", call("healthCheck").string("status"));
}

TEST_F(tools_exec, a_layer_that_only_an_option_requires_leads_to_that_option) {
  const auto root = root::open(tree.path());
  confinement_report report;
  auto& layer = report.of(confinement_layer::ipc);
  layer.wanted = demand::required;
  layer.missing = "IPC namespace: Operation not permitted";
  EXPECT_THAT(mcp::remedy_of(report),
              AllOf(HasSubstr("without --require-confinement"), Not(HasSubstr("--exec"))));
  report.of(confinement_layer::network).wanted = demand::required;
  EXPECT_THAT(mcp::remedy_of(report), HasSubstr("--exec best-effort"));
  const auto trouble = mcp::trouble_of(*root, {}, report);
  EXPECT_TRUE(trouble.refused);
  EXPECT_THAT(trouble.text, HasSubstr("are refused: network"));
}

TEST_F(tools_exec, a_workspace_that_root_cannot_write_without_privileges_is_told) {
  const auto root = root::open(tree.path());
  confinement_report report;
  auto& layer = report.of(confinement_layer::privileges);
  layer.applied = true;
  layer.mechanism = "seccomp filter, no capabilities";
  EXPECT_EQ("", mcp::trouble_of(*root, {}, report).text);
  if (::geteuid() != 0 || ::chown(tree.path().c_str(), 4711, 4711) != 0)
    GTEST_SKIP() << "only root may give a directory away";
  EXPECT_THAT(mcp::trouble_of(*root, {}, report).text,
              AllOf(HasSubstr("belongs to user 4711"), HasSubstr("run the server as user 4711")));
  EXPECT_FALSE(mcp::trouble_of(*root, {}, report).refused);
  ASSERT_EQ(0, ::chmod(tree.path().c_str(), 0777));
  EXPECT_EQ("", mcp::trouble_of(*root, {}, report).text);
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
  const auto health = without.handle_line(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"healthCheck",)"
      R"("arguments":{}}})");
  ASSERT_EQ(1U, health.size());
  EXPECT_THAT(health[0], AllOf(HasSubstr("confinement"), HasSubstr("the trial failed")));
}

TEST_F(tools_exec, a_trial_that_succeeds_is_not_said_to_have_failed) {
  EXPECT_THAT(call("healthCheck").json, Not(HasSubstr("the trial failed")));
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

/// Three lines that each model reads: what a command has by these options.
TEST(ToolsExec, TheDescriptionSaysWhatACommandDoesNotHave) {
  const auto description = [](const confinement_policy& policy, const std::string& home_tools,
                              mcp::toolset set) {
    temp_tree place;
    auto opened = root::open(place.path());
    auto tools = mcp::workspace_tools(
        std::make_shared<const root>(*std::move(opened)),
        {.tools = set, .confinement = policy, .pick = {"exec"}, .home_tools = home_tools});
    return tools ? tools->front().description : "none";
  };
  const auto with = [](auto change) {
    confinement_policy policy;
    change(policy);
    return policy;
  };
  const std::string usual = description({}, "", mcp::toolset::coding);
  const std::string bare = description(confinement_policy::host(), "", mcp::toolset::coding);
  constexpr std::string_view loopback = "no network but a loopback of its own";
  EXPECT_THAT(usual, testing::HasSubstr(loopback));
  EXPECT_THAT(usual, testing::HasSubstr("/tmp and HOME of its own, empty, that end with it"));
  EXPECT_THAT(usual, testing::EndsWith("only installed programs, read-only."));
  EXPECT_THAT(bare, testing::EndsWith(" It is not confined: take care."));
  confinement_policy session;
  const temp_tree place;
  const auto at = root::open(place.path());
  session.scratch = hold_scratch(session, at->descriptor(), PADDOCK_TEST_HELPER);
  const auto met = probe_confinement(session, PADDOCK_TEST_HELPER, at->descriptor());
  const bool shares = met && met->scratch == scratch_life::session;
  const struct {
    const char* name;
    confinement_policy policy;
    const char* home_tools;
    const char* said;
  } cases[] = {
      {"no network", with([](auto& p) { p.reach = network_reach::none; }), "", " no network;"},
      {"the network", with([](auto& p) { p.reach = network_reach::host_network; }), "",
       " the network;"},
      {"best effort", confinement_policy::best_effort(), "", "As far as this system can"},
      {"tools", {}, "rustup, uv", "read-only, those of HOME (rustup, uv) too."},
      {"no tools", {}, "none", "read-only."},
      {"more", with([](auto& p) { p.read_paths = {"/srv"}; }), "", "and what the user has named."},
      {"to change", with([](auto& p) { p.write_paths = {"/srv"}; }), "rustup",
       "and what the user has named."},
      {"no session's scratch", with([](auto& p) { p.scratch = hold_scratch(p, -1); }), "",
       "a /tmp and HOME of its own, empty, that end with it"},
      {"a session's scratch", session, "",
       shares ? "a /tmp and HOME that commands share, empty at first, until this server ends"
              : "a /tmp and HOME"},
      {"files alone", with([](auto& p) { p.file_system = demand::off; }), "",
       "a loopback of its own."},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const std::string told = description(each.policy, each.home_tools, mcp::toolset::coding);
    EXPECT_THAT(told, testing::HasSubstr(each.said));
  }
  EXPECT_LE(usual.size(), bare.size() + 270);
  EXPECT_EQ(description({}, "", mcp::toolset::base),
            description(confinement_policy::host(), "", mcp::toolset::base));
}

/// They change what a command does, and not what it may.
TEST_F(tools_exec, a_confined_command_may_have_variables_that_load_other_code) {
  if (!probe_confinement({}, PADDOCK_TEST_HELPER)->satisfied())
    GTEST_SKIP() << "this system cannot confine commands";
  serve({});
  tree.directory("lib");
  tree.file("lib/own.py", "word = 'loaded'\n");
  const auto answer = exec({.command = "python3",
                            .args = {"-c", "import own; print(own.word)"},
                            .env = R"({"PYTHONPATH":"lib"})"});
  EXPECT_EQ("loaded\n", answer.string("output")) << answer.json;
}

TEST_F(tools_exec, variables_that_load_other_code_are_refused_by_name) {
  serve({.confinement = confinement_policy::host()});
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
  serve({.limits = limits{.message_out_bytes_max = 60'000}});
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
