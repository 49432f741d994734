// SPDX-License-Identifier: MIT

// Weaknesses that were found and published in programs of this kind, each as a test of its own that
// bears their name. The tools are asked through a server in this process.

#include "support/files/canary.hpp"
#include "support/mcp/tool_client.hpp"

#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/lexical_path.hpp>

#include <linux/fs.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace paddock::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

class advisory : public testing::Test {
protected:
  void SetUp() override {
    serve(canary_.ws());
    tree.directory("ws/sub");
    tree.file("ws/f", "inside");
  }
  void TearDown() override { EXPECT_EQ(outside_, canary_.describe_outside()); }

  void serve(const std::string& workspace) {
    auto opened = root::open(workspace);
    ASSERT_TRUE(opened);
    auto tools = mcp::workspace_tools(std::make_shared<const root>(*std::move(opened)),
                                      {.exec_helper = PADDOCK_TEST_HELPER});
    ASSERT_TRUE(tools);
    server_.emplace(mcp::server_options{}, *std::move(tools));
  }

  tool_reply call(std::string_view tool, const std::string& arguments) {
    auto lines = server_->handle_line(tool_call_line(tool, arguments));
    EXPECT_FALSE(lines.empty());
    auto reply = read_tool_reply(lines.empty() ? "" : std::move(lines.back()));
    EXPECT_THAT(reply.line, Not(HasSubstr(std::string(outside_mark)))) << tool;
    return reply;
  }
  static std::string quoted(std::string_view text) {
    return mcp::json_writer().string(encode_name(text)).take();
  }
  tool_reply with_path(std::string_view tool, std::string_view path, std::string more = "") {
    return call(tool, R"({"path":)" + quoted(path) + more + "}");
  }
  tool_reply read(std::string_view path) { return with_path("readTextFile", path); }
  tool_reply write(std::string_view path) {
    return with_path("writeTextFile", path, R"(,"text":"new")");
  }
  tool_reply move(std::string_view source, std::string_view destination) {
    return call("moveFile", R"({"source":)" + quoted(source) + R"(,"destination":)" +
                                quoted(destination) + "}");
  }
  tool_reply exec(std::string_view command, const std::vector<std::string>& args,
                  std::string_view cwd = ".") {
    mcp::json_writer list;
    list.begin_array();
    for (const auto& each : args)
      list.string(each);
    return call("exec", R"({"command":)" + quoted(command) + R"(,"args":)" +
                            list.end_array().take() +
                            R"(,"env":{},"stdout":true,"stderr":true,"cwd":)" + quoted(cwd) + "}");
  }
  /// What every tool that takes a path says of this one.
  std::vector<std::string> every_tool(const std::string& path) {
    return {read(path).outcome(),
            write(path).outcome(),
            with_path("appendTextFile", path, R"(,"text":"x")").outcome(),
            with_path("editTextFile", path, R"(,"oldText":"O","newText":"x")").outcome(),
            with_path("getFileInfo", path).outcome(),
            with_path("listDirectory", path).outcome(),
            with_path("readImageFile", path).outcome(),
            with_path("readPdfFile", path).outcome(),
            exec("pwd", {}, path).outcome()};
  }
  /// And those that make, move and remove.
  std::vector<std::string> every_change(const std::string& path) {
    return {with_path("createDirectory", path).outcome(), with_path("deleteFile", path).outcome(),
            with_path("deleteDirectory", path, R"(,"recursive":true)").outcome(),
            move(path, "here").outcome(), move("f", path).outcome()};
  }

  canary_tree canary_;
  const temp_tree& tree = canary_.tree();

private:
  std::string outside_ = canary_.describe_outside();
  std::optional<mcp::server> server_;
};

TEST_F(advisory, CVE_2025_53110_sibling_with_the_same_prefix) {
  for (const std::string& workspace :
       std::vector<std::string>{canary_.ws(), canary_.ws() + "/", canary_.ws() + "//."}) {
    serve(workspace);
    for (const auto& path : {canary_.ws() + "-evil/f", std::string("../ws-evil/f"),
                             canary_.ws() + "-evil", canary_.ws() + "x"}) {
      EXPECT_THAT(every_tool(path), Each("escapes_root")) << path;
      EXPECT_THAT(every_change(path), Each("escapes_root")) << path;
    }
  }
}

TEST_F(advisory, CVE_2025_54794_prefix_of_the_working_directory) {
  EXPECT_THAT(every_tool(canary_.ws() + "/../ws-evil/f"), Each("escapes_root"));
  EXPECT_EQ("escapes_root", exec("pwd", {}, canary_.ws() + "-evil").outcome());
}

TEST_F(advisory, CVE_2025_53109_link_whose_check_fails) {
  tree.link("ws/file", canary_.out() + "/secret");
  tree.link("ws/directory", canary_.out());
  tree.link("ws/proc", "/proc/self/root" + canary_.out() + "/secret");
  tree.link("ws/dev", "/dev/fd/0");
  tree.link("ws/again", "file");
  for (const char* path : {"file", "directory", "directory/secret", "proc", "dev", "again"})
    EXPECT_THAT(every_tool(path), Each("absolute_symlink")) << path;
  tree.link("ws/relative", "../out/secret");
  EXPECT_THAT(every_tool("relative"), Each("escapes_root"));
  tree.link("ws/ping", "pong");
  tree.link("ws/pong", "ping");
  EXPECT_THAT(every_tool("ping"), Each("symlink_loop"));
  // A check that fails in the middle is a refusal and no reason to look at the parent instead.
  tree.directory("ws/closed");
  tree.link("ws/closed/l", "../../out/secret");
  tree.link("ws/through", "closed/l");
  ASSERT_EQ(0, ::chmod((tree / "ws/closed").c_str(), 0));
  EXPECT_THAT(every_tool("through"), Each(::geteuid() == 0 ? "escapes_root" : "permission_denied"));
  ASSERT_EQ(0, ::chmod((tree / "ws/closed").c_str(), 0755));
}

TEST_F(advisory, servers_filesystem_check_then_use) {
  constexpr int rounds = 1'500; // of some tools each
  tree.directory("ws/d");
  tree.file("ws/d/f", "inside");
  tree.link("ws/x", "../out");
  std::atomic<bool> done{false};
  std::thread attacker([&] {
    const std::string a = tree / "ws/d";
    const std::string b = tree / "ws/x";
    while (!done)
      (void)::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
  });
  for (int i = 0; i < rounds; ++i) { // every answer is looked through for what is outside
    (void)read("d/f");
    (void)write("d/f");
    (void)write("d/new");
    (void)with_path("listDirectory", "d");
    (void)with_path("createDirectory", "d/made");
    (void)with_path("deleteDirectory", "d/made");
    (void)move("d/new", "d/moved");
    (void)with_path("deleteFile", "d/moved");
  }
  done = true;
  attacker.join();
}

TEST_F(advisory, rust_mcp_filesystem_91_dotdot_after_what_does_not_exist) {
  for (const std::string& path :
       std::vector<std::string>{"nonexist/../../out/secret", "nonexist/../../../../etc/passwd",
                                "sub/nonexist/../../../out/new"}) {
    for (const auto& spelled : {path, canary_.ws() + "/" + path}) {
      EXPECT_THAT(every_tool(spelled), Not(testing::Contains("ok"))) << spelled;
      EXPECT_THAT(every_change(spelled), Not(testing::Contains("ok"))) << spelled;
    }
  }
  EXPECT_FALSE(tree.exists("ws/nonexist"));
}

TEST_F(advisory, rust_mcp_filesystem_91_second_path_of_a_call) {
  for (const auto& path :
       {std::string("../out/new"), canary_.out() + "/new", std::string("/new")}) {
    EXPECT_EQ("escapes_root", move("f", path).outcome()) << path;
    EXPECT_EQ("escapes_root", exec("touch", {"new"}, path).outcome()) << path;
  }
  tree.link("ws/out", "../out");
  EXPECT_EQ("escapes_root", move("f", "out/new").outcome());
  EXPECT_EQ("escapes_root", exec("touch", {"new"}, "out").outcome());
  EXPECT_TRUE(tree.exists("ws/f"));
}

TEST_F(advisory, CVE_2025_11489_new_name_below_a_link) {
  tree.link("ws/linkdir", "../out");
  tree.link("ws/dangling", "../out/new");
  tree.link("ws/absolute", canary_.out() + "/new");
  EXPECT_EQ("escapes_root", write("linkdir/newfile").outcome());
  EXPECT_EQ("escapes_root", write("linkdir/a/b/newfile").outcome());
  EXPECT_EQ("escapes_root", with_path("createDirectory", "linkdir/a/b").outcome());
  EXPECT_EQ("escapes_root", write("dangling").outcome());
  EXPECT_EQ("absolute_symlink", write("absolute").outcome());
  EXPECT_EQ("already_exists", with_path("createDirectory", "dangling").outcome());
}

TEST_F(advisory, CVE_2025_11490_command_line_tricks_are_only_arguments) {
  // There is no list of forbidden commands that a spelling could get around, and no shell.
  for (const char* argument : {"$(touch made)", "`touch made`", "; touch made", "| touch made",
                               "&& touch made", "<(touch made)", "\ntouch made", "*"}) {
    EXPECT_EQ(std::string(argument) + "\n", exec("echo", {argument}).string("output"));
    EXPECT_EQ("not_found", exec("echo " + std::string(argument), {}).outcome()) << argument;
  }
  EXPECT_FALSE(tree.exists("ws/made"));
}

TEST_F(advisory, CVE_2025_68144_names_with_a_leading_dash_are_names) {
  for (const char* name : {"-rf", "--output=x", "-", "--"}) {
    EXPECT_EQ("ok", write(name).outcome()) << name;
    EXPECT_EQ("new", read(name).string("content")) << name;
    EXPECT_EQ("ok", move(name, "moved").outcome()) << name;
    EXPECT_EQ("ok", with_path("deleteFile", "moved").outcome()) << name;
  }
  EXPECT_FALSE(tree.exists("ws/x"));
  EXPECT_EQ("inside", tree.content("ws/f"));
}

TEST_F(advisory, CVE_2025_68145_confinement_is_there_without_being_asked_for) {
  const auto got = exec("cat", {canary_.out() + "/secret"});
  if (got.failed && got.string("error") == "confinement_unavailable")
    GTEST_SKIP() << "this machine confines no commands";
  EXPECT_EQ("command_failed", got.outcome());
  EXPECT_EQ("command_failed", exec("sh", {"-c", "echo x > ../out/new"}).outcome());
  EXPECT_THAT(every_change(canary_.out() + "/dir"), Each("escapes_root"));
}

TEST_F(advisory, CVE_2025_6514_what_others_say_is_never_a_command) {
  tree.file("ws/$(touch made)", "inside");
  EXPECT_EQ("inside", read("$(touch made)").string("content"));
  EXPECT_EQ("ok", exec("ls", {}, ".").outcome());
  EXPECT_FALSE(tree.exists("ws/made"));
}

TEST_F(advisory, servers_filesystem_fifos_block_no_worker) {
  for (int i = 0; i < 5; ++i) {
    const std::string name = "fifo" + std::to_string(i);
    ASSERT_EQ(0, ::mkfifo((canary_.ws() + "/" + name).c_str(), 0666));
    EXPECT_EQ("not_regular", read(name).outcome());
    EXPECT_EQ("not_regular", write(name).outcome());
    EXPECT_EQ("not_regular", with_path("readImageFile", name).outcome());
  }
  EXPECT_EQ("inside", read("f").string("content"));
}

TEST_F(advisory, servers_filesystem_large_files_cost_no_memory) {
  constexpr long extra_kib_max = 128L * 1024;
  ASSERT_EQ(0, ::truncate((canary_.ws() + "/f").c_str(), 200L * 1024 * 1024));
  rusage before{};
  rusage after{};
  EXPECT_EQ(0, ::getrusage(RUSAGE_SELF, &before));
  EXPECT_EQ("too_large", read("f").outcome());
  EXPECT_EQ("unsupported_type", with_path("readImageFile", "f").outcome());
  EXPECT_EQ(0, ::getrusage(RUSAGE_SELF, &after));
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, extra_kib_max);
}

TEST_F(advisory, servers_filesystem_names_forge_no_rows) {
  const std::string forged = "a\n[DIR] fake";
  tree.file("ws/" + forged, "inside");
  const auto listed = with_path("listDirectory", ".");
  EXPECT_EQ(3U, listed["items"].size());
  EXPECT_THAT(listed.line, Not(HasSubstr("\n")));
  EXPECT_EQ("inside", read(forged).string("content"));
}

TEST_F(advisory, servers_filesystem_names_that_are_no_text_are_reached) {
  tree.file("ws/caf\xe9", "inside");
  std::string name;
  with_path("listDirectory", ".")["items"].for_each_element([&](mcp::json_view item) {
    if (item["name"].string()->starts_with("caf")) name = *item["name"].string();
  });
  EXPECT_EQ("inside",
            call("readTextFile", R"({"path":)" + mcp::json_writer().string(name).take() + "}")
                .string("content"));
}

TEST_F(advisory, servers_filesystem_an_empty_path_is_none) {
  EXPECT_THAT(every_tool(""), Each("invalid_argument"));
  EXPECT_THAT(every_change(""), Each("invalid_argument"));
}

TEST_F(advisory, servers_filesystem_edits_keep_the_other_bytes) {
  const auto edit = [&](const char* from, const char* to) {
    return with_path("editTextFile", "f",
                     R"(,"oldText":)" + quoted(from) + R"(,"newText":)" + quoted(to))
        .outcome();
  };
  tree.file("ws/f", "one\r\ntwo\r\nthree\r\n");
  EXPECT_EQ("ok", edit("two", "TWO"));
  EXPECT_EQ("one\r\nTWO\r\nthree\r\n", tree.content("ws/f"));
  EXPECT_EQ("ok", edit("one\nTWO", "1\n2"));
  EXPECT_EQ("1\r\n2\r\nthree\r\n", tree.content("ws/f"));
  tree.file("ws/f", "caf\xe9 one two\n");
  EXPECT_EQ("ok", edit("one", "ONE"));
  EXPECT_EQ("caf\xe9 ONE two\n", tree.content("ws/f"));
}

TEST_F(advisory, exec_children_have_no_share_in_the_protocol) {
  EXPECT_EQ("Command executed successfully, but produced no output.",
            exec("cat", {}).string("output"));
}

TEST_F(advisory, exec_environments_tell_no_secrets) {
  ASSERT_EQ(0, ::setenv("PADDOCK_TEST_TOKEN", "hunter2", 1));
  const auto shown = exec("env", {});
  EXPECT_EQ("ok", shown.outcome());
  EXPECT_THAT(shown.line, Not(HasSubstr("hunter2")));
  ::unsetenv("PADDOCK_TEST_TOKEN");
}

/// What P72 of the corpus asks of programs that make links.
TEST_F(advisory, no_tool_makes_links) {
  for (const auto name : mcp::workspace_tool_names())
    EXPECT_EQ(std::string::npos, std::string(name).find("ink")) << name;
  tree.link("ws/l", "f");
  (void)write("l");
  (void)with_path("createDirectory", "sub/new");
  (void)move("l", "sub/l");
  (void)move("f", "sub/f");
  std::vector<std::string> links;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(canary_.ws())) {
    struct stat s{};
    EXPECT_EQ(0, ::lstat(entry.path().c_str(), &s));
    if (S_ISLNK(s.st_mode)) links.push_back(entry.path().filename());
    EXPECT_TRUE(!S_ISREG(s.st_mode) || s.st_nlink == 1) << entry.path();
  }
  EXPECT_THAT(links, testing::ElementsAre("l"));
}

} // namespace
} // namespace paddock::test
