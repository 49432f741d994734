// SPDX-License-Identifier: MIT

// The tools for programs that run for long, and what exec leaves to them.

#include "support/mcp/tool_fixture.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/history/history.hpp>

namespace paddock::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class tools_process : public coding_fixture {
protected:
  void SetUp() override { serve_coding({.confinement = confinement_policy::best_effort()}); }

  static std::string arguments_of(std::string_view script, std::string_view more = "") {
    return R"({"command":"sh","args":["-c",)" + json_string(script) + "]" + std::string(more) + "}";
  }
  tool_answer start(std::string_view script, std::string_view more = "") {
    return call("startProcess", arguments_of(script, more));
  }
  tool_answer with(const char* tool, const std::string& id, std::string_view more = "") {
    return call(tool, R"({"process":")" + id + "\"" + std::string(more) + "}");
  }
  static std::string id_of(const tool_answer& started) {
    EXPECT_FALSE(started.failed) << started.json;
    return started.string("process");
  }
};

TEST_F(tools_process, a_script_is_run_by_a_shell) {
  const auto done = call("startProcess",
                         R"({"script":"echo a && echo \"$1\" | cat","args":["b"],"waitMs":60000})");
  EXPECT_EQ("a\nb\n", done.string("output")) << done.json;
  EXPECT_EQ(0, done.integer("exitCode"));
  EXPECT_THAT(call("listProcesses", "{}").json, // as it was given
              HasSubstr(R"("command":"echo a && echo \"$1\" | cat b")"));
}

TEST_F(tools_process, one_is_started_read_written_to_and_stopped) {
  const auto started = start("echo ready; exec cat", R"(,"until":"^ready$","waitMs":60000)");
  EXPECT_EQ("process state output next matched", started.keys());
  EXPECT_EQ("ready\n", started.string("output"));
  EXPECT_EQ("running", started.string("state"));
  const std::string id = id_of(started);
  EXPECT_EQ(4, with("writeProcess", id, R"(,"text":"one\n")").integer("written"));
  const auto page = with("readProcess", id, R"(,"until":"one","waitMs":60000)");
  EXPECT_EQ("process state output from next dropped matched", page.keys());
  EXPECT_EQ("one\n", page.string("output"));
  EXPECT_EQ(6, page.integer("from"));
  EXPECT_EQ(10, page.integer("next"));
  EXPECT_EQ("", with("readProcess", id).string("output"));
  EXPECT_EQ("ready\none\n", with("readProcess", id, R"(,"from":0)").string("output"));
  const auto stopped = with("stopProcess", id);
  EXPECT_EQ("process state signal", stopped.keys());
  EXPECT_EQ("exited", stopped.string("state"));
  EXPECT_EQ("exited", with("stopProcess", id).string("state"));
  EXPECT_EQ("exited", with("readProcess", id).string("state")); // also after the end
}

TEST_F(tools_process, the_end_of_its_input_ends_it) {
  const std::string id = id_of(start("exec sort", R"(,"waitMs":0)"));
  EXPECT_EQ(4, with("writeProcess", id, R"(,"text":"b\na\n","eof":true)").integer("written"));
  const auto page = with("readProcess", id, R"(,"waitMs":60000)");
  EXPECT_EQ("a\nb\n", page.string("output"));
  EXPECT_FALSE(with("writeProcess", id, R"(,"text":"c")").error().empty());
}

TEST_F(tools_process, one_that_ends_at_once_says_how) {
  const auto ended = start("echo out; echo err >&2; exit 3", R"(,"waitMs":60000)");
  EXPECT_FALSE(ended.failed);
  EXPECT_EQ("exited", ended.string("state"));
  EXPECT_EQ("out\nerr\n", ended.string("output"));
  EXPECT_EQ(3, ended.integer("exitCode"));
}

TEST_F(tools_process, what_it_makes_under_a_protected_name_is_moved_aside) {
  serve_coding({}); // confined, or not at all
  tree.directory("made");
  const auto ended =
      start("echo x >.envrc; mkdir .vscode; echo kept >made/kept", R"(,"waitMs":60000)");
  if (ended.error() == "confinement_unavailable") GTEST_SKIP() << "commands cannot be confined";
  EXPECT_THAT(ended.string("notice"),
              AllOf(HasSubstr(".envrc.made-by-command-"), HasSubstr(".vscode.made-by-command-")));
  EXPECT_FALSE(tree.exists(".envrc"));
  EXPECT_FALSE(tree.exists(".vscode"));
  EXPECT_EQ("kept\n", tree.content("made/kept")); // the control
  const std::string id = id_of(
      start("echo y >.envrc; echo made; exec sleep 600", R"(,"until":"made","waitMs":60000)"));
  EXPECT_TRUE(tree.exists(".envrc")); // as long as it runs
  EXPECT_THAT(with("stopProcess", id).string("notice"), HasSubstr(".envrc"));
  EXPECT_FALSE(tree.exists(".envrc"));
}

TEST_F(tools_process, its_end_is_read_by_a_negative_offset) {
  const std::string id =
      id_of(start("seq 1 20000; printf 'caf\\303\\251'", R"(,"until":"caf.","waitMs":60000)"));
  const auto last = [&](int bytes) {
    return with("readProcess", id, R"(,"waitMs":60000,"from":-)" + std::to_string(bytes));
  };
  constexpr std::int64_t total = 108'899;
  EXPECT_EQ("20000\ncaf\303\251", last(11).string("output"));
  EXPECT_EQ(total - 11, last(11).integer("from"));
  EXPECT_EQ("", last(1).string("output")); // in the middle of a character
  EXPECT_EQ(total, last(1).integer("from"));
  EXPECT_EQ(0, last(1'000'000).integer("from")); // all there is
  EXPECT_TRUE(last(1'000'000).string("output").starts_with("1\n2\n"));
}

TEST_F(tools_process, the_line_that_ended_a_wait_is_shown_wherever_it_is) {
  const auto started = start("seq 1 20000; echo 'up at 1234'; seq 1 20000; exec sleep 600",
                             R"(,"until":"up at","waitMs":60000)");
  EXPECT_EQ("up at 1234", started.string("matchedLine"));
  EXPECT_EQ(std::string::npos, started.string("output").find("up at")); // the control
  const auto none = with("readProcess", id_of(started), R"(,"until":"never")");
  EXPECT_EQ("process state output from next dropped matched", none.keys());
  const auto wide =
      start("head -c 2000 /dev/zero | tr '\\0' x; echo", R"(,"until":"xx","waitMs":60000)");
  EXPECT_LT(wide.string("matchedLine").size(), 300U);
}

TEST_F(tools_process, the_line_of_a_terminal_has_no_carriage_return) {
  const auto last =
      start("echo 'up at 1234'; exec sleep 600", R"(,"tty":true,"until":"up at","waitMs":60000)");
  if (last.failed) GTEST_SKIP() << last.json; // no terminal here
  EXPECT_EQ("up at 1234\r\n", last.string("output"));
  EXPECT_EQ("process state output next matched", last.keys()); // it is the last one
  const auto earlier = start("seq 1 20000; echo 'up at 1234'; seq 1 20000; exec sleep 600",
                             R"(,"tty":true,"until":"up at","waitMs":60000)");
  EXPECT_EQ("up at 1234", earlier.string("matchedLine"));
}

TEST_F(tools_process, what_it_leaves_running_is_told) {
  const auto left = start("sleep 600 & echo gone", R"(,"waitMs":60000)");
  EXPECT_EQ("exited", left.string("state"));
  EXPECT_THAT(left.string("notice"), HasSubstr("what it left running was ended with it"));
  EXPECT_EQ("process state output next exitCode", start("echo gone", R"(,"waitMs":60000)").keys());
  const std::string id = id_of(start("sleep 600 & exec sleep 600", R"(,"waitMs":0)"));
  EXPECT_EQ("process state signal", with("stopProcess", id).keys()); // that was asked for
}

TEST_F(tools_process, python_tells_at_once_what_it_prints) {
  const auto prints = [&](std::string_view more) {
    return call("startProcess",
                R"({"command":"python3","args":["-c","import os, time; )"
                R"x(print('up ' + os.environ['PYTHONUNBUFFERED']); time.sleep(600)"],)x"
                R"("until":"up","waitMs":60000)" +
                    std::string(more) + "}");
  };
  EXPECT_THAT(prints("").string("output"), StartsWith("up 1"));
  EXPECT_THAT(prints(R"(,"env":{"PYTHONUNBUFFERED":"yes"})").string("output"),
              StartsWith("up yes"));
}

TEST_F(tools_process, a_terminal_is_plain) {
  const auto told = start("test -t 0 && echo $TERM", R"(,"tty":true,"waitMs":60000)");
  EXPECT_EQ("dumb\r\n", told.string("output"));
  EXPECT_EQ("exited", start("test -t 0", R"(,"waitMs":60000)").string("state")); // the control
  EXPECT_EQ(1, start("test -t 0", R"(,"waitMs":60000)").integer("exitCode"));
}

TEST_F(tools_process, refusals_say_what_to_do) {
  const std::string id = id_of(start("exec cat", R"(,"waitMs":0)"));
  const struct {
    const char* tool;
    std::string arguments;
    const char* error;
    const char* words;
  } cases[] = {
      {"readProcess", R"({"process":"x"})", "not_found", "listProcesses"},
      {"writeProcess", R"({"process":"x","text":"y"})", "not_found", "listProcesses"},
      {"stopProcess", R"({"process":"x"})", "not_found", "listProcesses"},
      {"writeProcess", R"({"process":")" + id + "\"}", "invalid_argument", "eof"},
      {"readProcess", R"({"process":")" + id + R"(","from":9})", "invalid_argument",
       "leave it out"},
      {"readProcess", R"({"process":")" + id + R"(","until":"("})", "invalid_argument", "until: "},
      {"startProcess", R"({"command":"true","until":"("})", "invalid_argument", "until: "},
      {"startProcess", R"({"command":"no-such-program"})", "not_found", "no such program"},
      {"startProcess", R"({"command":"true","cwd":"no-such"})", "not_found", "cwd"},
      {"startProcess", "{}", "invalid_argument", "script is missing"},
      {"startProcess", R"({"command":"true","script":"true"})", "invalid_argument", "one of them"},
      {"startProcess", R"({"command":"cd"})", "not_found", "as script"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.tool + c.arguments);
    const auto answer = call(c.tool, c.arguments);
    EXPECT_EQ(c.error, answer.error());
    EXPECT_THAT(answer.message(), HasSubstr(c.words));
  }
}

TEST_F(tools_process, only_so_many_run) {
  mcp::workspace_options options{.confinement = confinement_policy::best_effort()};
  options.limits = mcp::limits_of(mcp::toolset::coding);
  options.limits->processes_max = 1;
  options.tools = mcp::toolset::coding;
  serve(options);
  const std::string id = id_of(start("exec cat", R"(,"waitMs":0)"));
  const auto refused = start("exec cat");
  EXPECT_EQ("too_many", refused.error());
  EXPECT_THAT(refused.message(), HasSubstr("stopProcess"));
  EXPECT_EQ("exited", with("stopProcess", id, R"(,"graceMs":0)").string("state"));
  EXPECT_FALSE(start("exec cat", R"(,"waitMs":0)").failed);
}

TEST_F(tools_process, those_there_are_are_listed) {
  EXPECT_EQ(R"({"processes":[]})", call("listProcesses", "{}").json);
  const std::string id = id_of(start("echo up; exec cat", R"(,"until":"up","waitMs":60000)"));
  const std::string list = call("listProcesses", "{}").json;
  EXPECT_THAT(list, AllOf(HasSubstr(id), HasSubstr(R"("state":"running")"),
                          HasSubstr(R"("next":3)"), HasSubstr(R"("startedAt":"2)")));
}

TEST_F(tools_process, they_are_no_tools_where_nothing_may_run) {
  mcp::workspace_options off;
  off.exec = mcp::exec_mode::off;
  mcp::workspace_options looks_only;
  looks_only.access = mcp::workspace_access::read_only;
  for (const auto& options : {off, looks_only}) {
    serve_coding(options);
    EXPECT_THAT(std::string(server().tools_json()), testing::Not(HasSubstr("Process")));
  }
  serve_coding({}); // the control
  EXPECT_THAT(std::string(server().tools_json()), HasSubstr("startProcess"));
}

// --- what exec leaves
// -----------------------------------------------------------------------------

TEST_F(tools_process, both_streams_of_exec_are_in_the_order_written) {
  const char* script = "echo 1; echo 2 >&2; echo 3; echo 4 >&2";
  EXPECT_EQ("1\n2\n3\n4\n", call("exec", arguments_of(script)).string("output"));
  const auto failed = call("exec", arguments_of(std::string(script) + "; exit 2"));
  EXPECT_EQ("1\n2\n3\n4\n", failed.string("output"));
  EXPECT_EQ("error message exitCode output", failed.keys());
  const auto apart = call("exec", arguments_of(script, R"(,"stderr":false)"));
  EXPECT_EQ("1\n3\n", apart.string("output"));
}

TEST_F(tools_process, output_is_plain_where_there_is_no_terminal) {
  const char* script = R"(printf '\033[1;31mred\033[0m 10%%\r20%%\r100%%\nend\r\n')";
  EXPECT_EQ("100%\nend\r\n", call("exec", arguments_of(script)).string("output"));
  const auto alone = call("exec", arguments_of(script, R"(,"stderr":false)"));
  EXPECT_EQ("100%\nend\r\n", alone.string("output"));
  const auto failed = call("exec", arguments_of(std::string(script) + "; exit 3"));
  EXPECT_EQ("100%\nend\r\n", failed.string("output"));
  const auto started = call("startProcess", arguments_of(script, R"(,"waitMs":60000)"));
  EXPECT_EQ("100%\nend\r\n", started.string("output"));
  const auto shown = call("startProcess", arguments_of(script, R"(,"waitMs":60000,"tty":true)"));
  EXPECT_THAT(shown.string("output"), HasSubstr("\x1b[1;31mred")); // the control
  mcp::workspace_options base{.confinement = confinement_policy::best_effort()};
  serve(base);
  const auto all = call("exec", R"({"command":"sh","args":["-c",)" + json_string(script) +
                                    R"(],"env":{},"cwd":".","stdout":true,"stderr":true})");
  EXPECT_EQ("\x1b[1;31mred\x1b[0m 10%\r20%\r100%\nend\r\n", all.string("output")); // another
}

TEST_F(tools_process, what_is_plain) {
  constexpr std::pair<std::string_view, std::string_view> cases[] = {
      {"a\tb\n", "a\tb\n"},
      {"\x1b[0;32mok\x1b[m\n", "ok\n"},
      {"\x1b[2K\x1b[1Gone\n", "one\n"},
      {"\x1b]0;title\aone\x1b]8;;http://a\x1b\\two\n", "onetwo\n"},
      {"\x1b(B\x1b=x\n", "x\n"},
      {"1/9\r2/9\r\n", "2/9\r\n"},
      {"1/9\r2/9\r", "2/9"},
      {"one\r\ntwo\r\n", "one\r\ntwo\r\n"},
      {"\r\n\r", "\r\n"},
      {"\x1b]no end\nx\n", "\x1b]no end\nx\n"}, // no sequence: nothing is taken out
      {"\x1b\x1b[1mx\x1b[3\x1b[m", "x"},
      // DCS, SOS, OSC, PM and APC with their strings, up to ST
      {"a\x1bPq#0;2;0\x1b\\b\n", "ab\n"},
      {"a\x1bXs\x1b\\b\x1b^p\x1b\\c\x1b_Gf=24;AA\x1b\\d\n", "abcd\n"},
      {"a\x1bPq-\n-\n\x1b\\b\n", "ab\n"},                 // lines of it, too
      {"a\x1bPq\a(\x1b\\b\n", "ab\n"},                    // BEL ends an OSC alone
      {"a\x1bPtmux;\x1b\x1b]52;c;YQ\a\x1b\\b\n", "ab\n"}, // ESC begins the next sequence
      {"a\x1bPq\x18-\x1b]0;t\x1a-\n", "a--\n"},           // CAN and SUB break off
      {"a\x1bP\nb\n\x1b[1mc\n", "a\x1bP\nb\nc\n"},        // no ST: the lines stay
      {"a\x1bP\nb\n", "a\x1bP\nb\n"},
      {"a\x1b]0;\u201ct\u201d\ab\n", "ab\n"}, // in UTF-8, these have the byte of an 8-bit ST
      {"a\u009b1m-\u009d0;t\u009cb\u0090q\x1b\\c\n", "a-bc\n"}, // C1 controls
      {"a\u0085\u00a9\u0091\n", "a\u0085\u00a9\u0091\n"},
      {"cut \x1b", "cut "}, // by the end of the output
      {"cut \x1b[1", "cut "},
      {"cut \u009b1", "cut "},
      {"cut \x1b]0;ti", "cut "},
      {"cut \x1bPq#0", "cut "},
      {"cut \x1bPq#0\x1b", "cut "},
  };
  for (const auto& [written, shown] : cases)
    EXPECT_EQ(shown,
              call("exec", R"({"command":"printf","args":["%s",)" + json_string(written) + "]}")
                  .string("output"));
}

TEST_F(tools_process, output_is_counted_as_it_is_sent) {
  const std::string line = "\"a\"\t\\\n"; // 6 bytes, and 11 in JSON
  std::string expected;
  for (int i = 0; i < 4'000; ++i)
    expected += line;
  const char* script = R"(i=0; while [ $i -lt 4000 ]; do printf '"a"\t\\\n'; i=$((i+1)); done)";
  const auto ran = call("exec", arguments_of(script));
  const std::string output = ran.string("output");
  EXPECT_LE(json_string(output).size(), 30'100U);
  EXPECT_GT(json_string(output).size(), 29'000U);
  const auto cut = output.find("[... ");
  ASSERT_NE(cut, std::string::npos);
  const auto rest = with("readProcess", ran.string("process"));
  EXPECT_EQ(expected, output.substr(0, cut) + rest.string("output"));
  const std::string bar =
      "i=0; while [ $i -lt 20000 ]; do printf '%s/20000\\r' $i; i=$((i+1)); done";
  const auto overwritten = call("exec", arguments_of(bar));
  EXPECT_EQ("19999/20000", overwritten.string("output"));
  EXPECT_EQ("output", overwritten.keys()); // nothing is missing
}

TEST_F(tools_process, processes_have_short_names) {
  const std::string id = call("startProcess", arguments_of("true")).string("process");
  EXPECT_THAT(id, MatchesRegex("[0-9a-f]{8}"));
}

TEST_F(tools_process, what_exec_cuts_is_kept) {
  for (const char* end : {"", "; exit 4"}) {
    SCOPED_TRACE(end);
    const auto ran = call("exec", arguments_of(std::string("seq 1 20000; echo last >&2") + end));
    const std::string shown = ran.string("output");
    EXPECT_LE(shown.size(), 30'200U);
    EXPECT_THAT(shown, AllOf(StartsWith("1\n2\n"), EndsWith("20000\nlast\n"),
                             HasSubstr(" bytes left out; readProcess has them, from ")));
    const auto cut = shown.find("[... ");
    ASSERT_NE(cut, std::string::npos);
    EXPECT_EQ('\n', shown[cut - 1]); // at lines
    std::string all = shown.substr(0, cut);
    const std::string id = ran.string("process");
    for (int count = 0; count < 10; ++count) {
      const auto page = with("readProcess", id); // goes on behind the beginning
      EXPECT_EQ(static_cast<std::int64_t>(all.size()), page.integer("from"));
      all += page.string("output");
    }
    std::string expected;
    for (int i = 1; i <= 20000; ++i)
      expected += std::to_string(i) + "\n";
    EXPECT_TRUE(all == expected + "last\n");
  }
  EXPECT_EQ("output", call("exec", arguments_of("seq 1 100")).keys()); // the control: nothing is
}

TEST_F(tools_process, what_is_too_much_to_keep_is_told) {
  mcp::workspace_options options{.tools = mcp::toolset::coding,
                                 .limits = mcp::limits_of(mcp::toolset::coding),
                                 .confinement = confinement_policy::best_effort()};
  options.limits->memory_bytes_max = 128ULL << 20; // a part of it is for what processes write
  serve(options);
  const auto ran = call("exec", arguments_of("seq 1 400000"));
  const std::string shown = ran.string("output");
  const std::string_view words = "; readProcess has those from ";
  const auto told = shown.find(words);
  ASSERT_NE(told, std::string::npos) << shown.substr(shown.find("[..."), 200);
  EXPECT_THAT(shown, HasSubstr(" on, those before are gone ...]"));
  const std::int64_t from = std::stoll(shown.substr(told + words.size()));
  const auto page = with("readProcess", ran.string("process"), ",\"from\":" + std::to_string(from));
  EXPECT_EQ(from, page.integer("from"));
  EXPECT_EQ(0, page.integer("dropped"));
  const auto before =
      with("readProcess", ran.string("process"), ",\"from\":" + std::to_string(from - 1));
  EXPECT_EQ(1, before.integer("dropped")); // the control
  const auto next = with("readProcess", ran.string("process"), R"(,"from":0)");
  EXPECT_EQ(from, next.integer("dropped"));
}

/// As of a minified file: it uses what there is room for, at whole characters.
TEST_F(tools_process, what_exec_cuts_of_one_line_is_kept_too) {
  for (const char* one : {"x", "\xE6\x96\x87", "\\001"}) {
    SCOPED_TRACE(one);
    const auto ran = call("exec", arguments_of("yes \"$(printf '" + std::string(one) +
                                               "')\" | head -n 60000 | tr -d '\\n'"));
    const std::string shown = ran.string("output");
    EXPECT_LE(json_string(shown).size(), 30'200U);
    EXPECT_GT(json_string(shown).size(), 27'000U);
    EXPECT_TRUE(detail::is_valid_utf8(shown));
    const auto cut = shown.find("\n[... ");
    ASSERT_NE(cut, std::string::npos);
    EXPECT_THAT(shown.substr(cut), HasSubstr(" bytes left out; readProcess has them, from " +
                                             std::to_string(cut) + " on ...]\n"));
  }
}

TEST_F(tools_process, a_line_is_waited_for_without_being_told_how_long) {
  const std::string id = id_of(start("read gate; sleep 0.3; echo up; read gate"));
  EXPECT_FALSE(with("writeProcess", id, R"(,"text":"\n")").failed);
  const auto read = with("readProcess", id, R"(,"until":"up")");
  EXPECT_EQ("up\n", read.string("output")) << read.json;
}

TEST_F(tools_process, without_its_reader_nothing_is_kept) {
  mcp::workspace_options options{.confinement = confinement_policy::best_effort()};
  options.omit = {"readProcess"};
  serve_coding(options);
  const auto ran = call("exec", arguments_of("seq 1 20000"));
  EXPECT_EQ("output", ran.keys());
  EXPECT_THAT(ran.string("output"), HasSubstr(" bytes left out ...]"));
}

// --- what they change
// -----------------------------------------------------------------------------

TEST_F(tools_process, what_a_process_changes_is_by_exec) {
  if (!history::have_history()) GTEST_SKIP() << "built without xxHash";
  const temp_tree stores;
  auto opened = root::open(tree.path());
  ASSERT_TRUE(opened);
  auto store = history::store::open(std::make_shared<const root>(*std::move(opened)),
                                    {.directory = stores / "h"});
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->read_in());
  mcp::workspace_options options{.confinement = confinement_policy::best_effort()};
  options.history = *store;
  serve_coding(options);
  const std::string id = id_of(start("echo x > while; echo up; read gate; echo x > late",
                                     R"(,"until":"up","waitMs":60000)"));
  EXPECT_THAT(call("listChanges", "{}").json,
              HasSubstr(R"("path":"while","kind":"created","by":"exec")"));
  EXPECT_FALSE(with("writeProcess", id, R"(,"text":"\n")").failed);
  EXPECT_EQ("exited",
            with("readProcess", id, R"(,"until":"never","waitMs":60000)").string("state"));
  (void)call("listProcesses", "{}"); // any call notices the end
  tree.file("mine", "x\n");          // by somebody else, when it had ended
  const std::string changes = call("listChanges", "{}").json;
  EXPECT_THAT(changes, HasSubstr(R"("path":"late","kind":"created","by":"exec")"));
  EXPECT_THAT(changes, HasSubstr(R"("path":"mine","kind":"created","by":"other")"));
}

} // namespace
} // namespace paddock::test
