// SPDX-License-Identifier: MIT

// One client does not stop the program: whatever its calls ask for, they end by their deadline,
// they hold no more memory than all may together, and meanwhile others are answered.

#include "support/files/temp_tree.hpp"
#include "support/load/line_peer.hpp"
#include "support/mcp/request_lines.hpp"

#include <paddock/mcp/json.hpp>

#include <time.h>

namespace paddock {
namespace {

using test::era;
using test::json_string;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t mib = std::size_t{1024} * 1024;

struct reply {
  std::string error = "none"; ///< wire name, "ok", or "none" when there was no answer
  std::string message;
  std::string content;
  std::string ended_by; ///< of searches
  bool is_diff_left_out = false;
};

class bounded_work : public testing::Test {
protected:
  void serve(std::vector<std::string> options = {}) {
    if (!std::ranges::count(options, "--exec"))
      options.insert(options.end(), {"--exec", "best-effort"});
    adapter.emplace(tree.path(), options);
  }
  void put(const std::string& id, std::string_view tool, const std::string& arguments) {
    adapter->peer.put(test::call_line(era::modern, json_string(id), tool, arguments));
  }
  void put_ping(const std::string& id) {
    adapter->peer.put(test::request_line(era::legacy, json_string(id), "ping"));
  }
  /// The answer to one request; those to others are kept.
  reply answer(const std::string& id) {
    while (!answers.contains(id)) {
      const auto line = adapter->peer.receive();
      if (!line) return {};
      mcp::json_document message;
      const auto parsed = message.parse(*line);
      if (!parsed) return {};
      keep(*parsed);
    }
    return answers[id];
  }
  reply ask(std::string_view tool, const std::string& arguments) {
    const std::string id = "ask-" + std::to_string(++asked);
    put(id, tool, arguments);
    return answer(id);
  }
  void put_skill() const {
    tree.directory(".agents/skills/s");
    tree.file(".agents/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n");
  }
  /// What became of the request of a host for a part of that skill.
  std::string ask_host(std::string_view method, std::string_view part) {
    const std::string id = "host-" + std::to_string(++asked);
    adapter->peer.put(test::request_line(era::legacy, json_string(id), method,
                                         R"("uri":"skill://s/)" + std::string(part) + '"'));
    return answer(id).error;
  }
  bool serves_hosts() {
    return ask_host("resources/directory/read", "").find("ethod") == std::string::npos;
  }
  /// What somebody else would want to know meanwhile.
  void expect_others_are_answered() {
    put_ping("ping");
    put("health", "healthCheck", "{}");
    put("small", "readTextFile", R"({"path":"small.txt"})");
    EXPECT_EQ("ok", answer("ping").error);
    EXPECT_EQ("ok", answer("health").error);
    EXPECT_EQ("small\n", answer("small").content);
  }
  /// A file whose every byte has to be looked at.
  void dense(const std::string& name, std::size_t bytes, std::string_view line = "line\r\nline\n") {
    std::string chunk;
    while (chunk.size() < mib)
      chunk += line;
    std::ofstream out(tree / name, std::ios::binary);
    for (std::size_t written = 0; written < bytes; written += chunk.size())
      out << chunk;
  }
  void SetUp() override { tree.file("small.txt", "small\n"); }

  test::temp_tree tree;
  std::optional<test::adapter_program> adapter;
  std::size_t asked = 0;

private:
  void keep(mcp::json_view message) {
    reply r{.error = "ok"};
    const auto result = message["result"];
    mcp::json_document text;
    result["content"].for_each_element([&](mcp::json_view block) {
      if (!text.parse(block["text"].string().value_or("{}"))) ADD_FAILURE();
    });
    const auto object = text.root();
    if (result["isError"].boolean().value_or(false)) {
      r.error = object["error"].string().value_or("?");
      r.message = object["message"].string().value_or("");
    }
    r.content = object["content"].string().value_or("");
    r.ended_by = object["endedBy"].string().value_or("");
    r.is_diff_left_out = object["diffTruncated"].boolean().value_or(false);
    if (const auto refused = message["error"]; !result.exists())
      r.error = refused["code"].text() + " " + refused["message"].text();
    answers[std::string(message["id"].string().value_or(""))] = r;
  }
  std::map<std::string, reply> answers;
};

TEST_F(bounded_work, reading_the_end_of_a_file_that_is_one_large_hole) {
  constexpr off_t size = off_t{15} << 40;
  tree.file("holes", "first\n");
  if (::truncate((tree / "holes").c_str(), size) != 0) GTEST_SKIP() << "file system too small";
  std::fstream(tree / "holes", std::ios::in | std::ios::out).seekp(size - 5) << "\nlast";
  ASSERT_EQ(size, static_cast<off_t>(std::filesystem::file_size(tree / "holes")));
  serve();
  constexpr int calls = 40;
  for (int i = 0; i < calls; ++i)
    put("hole-" + std::to_string(i), "readTextFile", R"({"path":"holes","from":-1})");
  expect_others_are_answered();
  for (int i = 0; i < calls; ++i)
    EXPECT_EQ("last", answer("hole-" + std::to_string(i)).content);
}

TEST_F(bounded_work, every_tool_that_may_take_long_ends_by_its_deadline) {
  dense("dense", 32 * mib);
  tree.directory("many");
  for (int i = 0; i < 3'000; ++i)
    tree.file("many/" + std::to_string(i));
  const auto before = std::filesystem::file_size(tree / "dense");
  struct slow_call {
    const char* tool;
    const char* arguments;
    const char* advice;
  };
  constexpr slow_call calls[] = {
      {"readTextFile", R"({"path":"dense","from":-1})", "from and to"},
      {"readTextFile", R"({"path":"dense","from":6000000,"to":6000001})", "from and to"},
      {"editTextFile", R"({"path":"dense","oldText":"line\nabsent","newText":"x"})", "unchanged"},
      {"editTextFile", R"({"path":"dense","oldText":"line\nline","newText":"x"})", "unchanged"},
      {"listDirectory", R"({"path":"many"})", "further down"},
      {"deleteDirectory", R"({"path":"many","recursive":true})", "call again to delete the rest"},
  };
  serve({"--limit", "tool-ms=1"});
  for (const auto& each : calls) {
    SCOPED_TRACE(std::string(each.tool) + each.arguments);
    const auto got = ask(each.tool, each.arguments);
    EXPECT_EQ("timed_out", got.error);
    EXPECT_THAT(got.message, AllOf(HasSubstr("deadline"), HasSubstr(each.advice)));
  }
  expect_others_are_answered();
  EXPECT_EQ(before, std::filesystem::file_size(tree / "dense"));
  // The control: the same calls are not refused for anything else.
  serve({"--limit", "tool-ms=0"});
  for (const auto& each : calls) {
    SCOPED_TRACE(std::string(each.tool) + each.arguments);
    EXPECT_NE("timed_out", ask(each.tool, each.arguments).error);
  }
  EXPECT_FALSE(std::filesystem::exists(tree / "many"));
}

TEST_F(bounded_work, a_record_of_changes_that_a_command_has_written_is_no_work) {
  tree.file("sparse", "");
  if (::truncate((tree / "sparse").c_str(), off_t{1} << 40U) != 0) {
    GTEST_SKIP() << "file system too small";
  }
  const std::string record = "paddock changes 2 passing\ncreate sparse - " + std::string(32, 'a') +
                             " - " + std::to_string(std::uint64_t{1} << 40U) + " 1 0 - 0\n";
  tree.file(".paddock-changes", record);
  serve({"--tools", "coding"});
  EXPECT_EQ("ok", ask("applyChanges", R"({"changes":[{"path":"small.txt","edits":)"
                                      R"([{"oldText":"small","newText":"small"}]}]})")
                      .error);
  EXPECT_EQ(record, tree.content(".paddock-changes"));
}

TEST_F(bounded_work, changes_of_a_large_file_end_by_their_deadline_and_change_nothing) {
  dense("dense", 32 * mib);
  const auto before = std::filesystem::last_write_time(tree / "dense");
  struct slow_change {
    const char* tool;
    const char* arguments;
  };
  constexpr slow_change changes[] = {
      {"editFile", R"({"path":"dense","edits":[{"oldText":"nowhere","newText":"x"}]})"},
      {"applyChanges",
       R"({"changes":[{"path":"dense","edits":[{"oldText":"nowhere","newText":"x"}]}]})"},
      {"applyChanges", R"({"patch":"--- a/dense\n+++ b/dense\n@@ -1 +1 @@\n-nowhere\n+x\n"})"},
      {"applyChanges", R"({"changes":[{"path":"small.txt","text":"x"}],)"
                       R"("patch":"--- a/dense\n+++ b/dense\n@@ -1 +1 @@\n-nowhere\n+x\n"})"},
  };
  serve({"--tools", "coding", "--limit", "tool-ms=1"});
  for (const auto& [tool, arguments] : changes) {
    EXPECT_EQ("timed_out", ask(tool, arguments).error) << arguments;
    expect_others_are_answered();
  }
  EXPECT_EQ(before, std::filesystem::last_write_time(tree / "dense"));
  serve({"--tools", "coding", "--limit", "tool-ms=0"}); // the control: with time, each says more
  EXPECT_EQ("no_match", ask(changes[1].tool, changes[1].arguments).error);
}

TEST_F(bounded_work, reading_of_skills_keeps_to_the_limits_too) {
  dense("dense.md", 32 * mib);
  for (int i = 0; i < 300; ++i) {
    const std::string id = "s" + std::to_string(i);
    tree.directory(".agents/skills/" + id);
    tree.file(".agents/skills/" + id + "/SKILL.md", "---\nname: " + id + "\ndescription: d\n---\n");
  }
  const std::string file = R"({"path":"dense.md"})";
  const auto pages = [&](std::string_view method, std::string_view member) {
    std::size_t count = 0;
    std::size_t skills = 0;
    std::string cursor;
    do {
      adapter->peer.put(test::request_line(era::legacy, json_string("page"), method,
                                           cursor.empty() ? "" : "\"cursor\":" + cursor));
      mcp::json_document message;
      const auto line = adapter->peer.receive();
      if (!line || !message.parse(*line)) return std::pair(count, skills);
      skills += message.root()["result"][member].size();
      cursor = message.root()["result"]["nextCursor"].text();
      ++count;
    } while (!cursor.empty() && count < 1'000);
    return std::pair(count, skills);
  };
  serve({"--skills", "--limit", "read-bytes=100000000", "--limit", "tool-ms=1"});
  const auto late = ask("ReadFile", file);
  EXPECT_EQ("timed_out", late.error);
  EXPECT_THAT(late.message, HasSubstr("deadline"));
  const auto short_pages = pages("skills/list", "skills");
  // The control: with time, two pages of at most 250.
  serve({"--skills", "--limit", "read-bytes=100000000", "--limit", "tool-ms=0"});
  EXPECT_NE("timed_out", ask("ReadFile", file).error);
  EXPECT_EQ("ok", ask("ReadFile", R"({"path":".agents/skills/s1/SKILL.md"})").error);
  const auto long_pages = pages("skills/list", "skills");
  EXPECT_EQ(short_pages.second, long_pages.second);
  if (long_pages.second > 0) { // built with libyaml
    EXPECT_EQ(300U, long_pages.second);
    EXPECT_EQ(2U, long_pages.first);
    EXPECT_GT(short_pages.first, 2U);
  }
  serve({"--skills", "--limit", "read-bytes=100000000", "--limit",
         "memory-bytes=" + std::to_string(mib)});
  EXPECT_EQ("too_large", ask("ReadFile", file).error);
}

/// What hosts ask for is no tool: an error of the protocol says what ended it.
TEST_F(bounded_work, skills_that_hosts_read_keep_to_the_limits_too) {
  put_skill();
  dense(".agents/skills/s/large.md", 15 * mib);
  const auto ended = [&](const testing::Matcher<std::string>& how) {
    EXPECT_THAT(ask_host("skills/get", "SKILL.md"), how);
    EXPECT_THAT(ask_host("resources/read", "large.md"), how);
  };
  serve({"--skills", "--limit", "tool-ms=1"});
  if (!serves_hosts()) GTEST_SKIP() << "built without libyaml";
  ended(AllOf(HasSubstr("-32602 "), HasSubstr("skill://s/"), HasSubstr("deadline")));
  serve({"--skills", "--limit", "memory-bytes=" + std::to_string(2 * mib)});
  ended(AllOf(HasSubstr("-32602 "), HasSubstr("--limit memory-bytes")));
  EXPECT_EQ("ok", ask_host("resources/read", "SKILL.md"));
  serve({"--skills", "--limit", "tool-ms=0", "--limit",
         "message-out-bytes=100000000"}); // the control
  ended("ok");
}

/// A command holds room for its output as long as it runs: here all that there is.
TEST_F(bounded_work, skills_share_the_memory_with_the_tools) {
  put_skill();
  ASSERT_EQ(0, ::mkfifo((tree / "started").c_str(), 0666));
  serve({"--skills", "--limit", "memory-bytes=" + std::to_string(4 * mib), "--limit",
         "exec-output-bytes=" + std::to_string(mib), "--limit", "tool-ms=100"});
  if (!serves_hosts()) GTEST_SKIP() << "built without libyaml";
  const auto ask_all = [&](const testing::Matcher<std::string>& how) {
    for (const char* method : {"skills/get", "resources/read"})
      EXPECT_THAT(ask_host(method, "SKILL.md"), how) << method;
    EXPECT_THAT(ask("ReadFile", R"({"path":".agents/skills/s/SKILL.md"})").error,
                testing::AnyOf(how, "too_many"));
  };
  put("long", "exec",
      R"({"command":"sh","args":["-c","echo >started; sleep 600"],"env":{},"cwd":".",)"
      R"("stdout":true,"stderr":true})");
  put_ping("sent");
  EXPECT_EQ("ok", answer("sent").error);
  std::ifstream(tree / "started").get(); // it runs
  // That others hold it is no fault of the question.
  ask_all(AllOf(HasSubstr("-32603 "), HasSubstr("--limit memory-bytes")));
  adapter->peer.put(test::cancel_line(era::modern, json_string("long")));
  while (ask("ReadFile", R"({"path":".agents/skills/s/SKILL.md"})").error == "too_many") {
  }
  ask_all("ok"); // the control
}

/// Lines of which a deterministic automaton makes ever new states,
std::string slow_lines() {
  std::string lines;
  for (std::uint32_t random = 1; lines.size() < mib;) {
    random = random * 1'664'525 + 1'013'904'223;
    lines += lines.size() % 4'000 == 3'999 ? '\n' : "ab"[random >> 31];
  }
  return lines;
}
/// and a search that takes minutes in a dozen MiB of them.
constexpr const char* slow_search = R"({"pattern":"[ab]*a[ab]{150}c|few"})";

TEST_F(bounded_work, more_searches_than_threads_leave_a_thread_to_others) {
  constexpr int calls = 100;
  dense("dense", 12 * mib, slow_lines());
  serve({"--tools", "coding", "--limit", "tool-ms=0"});
  for (int i = 0; i < calls; ++i)
    put("slow-" + std::to_string(i), "searchText", slow_search);
  expect_others_are_answered();
  for (int i = 0; i < calls; ++i)
    adapter->peer.put(test::cancel_line(era::modern, json_string("slow-" + std::to_string(i))));
  EXPECT_EQ("ok", ask("findFiles", R"({"glob":"*"})").error); // none keeps its turn
}

/// A search that would take minutes holds the memory that an edit waits for.
TEST_F(bounded_work, a_search_ends_when_it_is_cancelled_or_time_is_up) {
  dense("dense", 12 * mib, slow_lines());
  tree.file("few", "ab\n");
  const std::string slow = slow_search;
  const std::vector<std::string> base{"--tools", "coding", "--limit", "memory-bytes=20000000"};
  auto patient = base, hurried = base;
  patient.insert(patient.end(), {"--limit", "tool-ms=0"});
  hurried.insert(hurried.end(), {"--limit", "tool-ms=200"});
  serve(patient);
  put("slow", "searchText", slow);
  put("edit", "editTextFile", R"({"path":"dense","oldText":"absent","newText":"x"})");
  expect_others_are_answered();
  adapter->peer.put(test::cancel_line(era::modern, json_string("slow")));
  EXPECT_EQ("no_match", answer("edit").error);
  EXPECT_EQ("ok", ask("searchText", R"({"pattern":"ab","path":"few"})").error); // the control
  serve(hurried);
  const auto late = ask("searchText", slow);
  EXPECT_EQ("ok", late.error);
  EXPECT_EQ("timed_out", late.ended_by);
}

TEST_F(bounded_work, every_search_ends_by_its_deadline_with_what_it_has) {
  dense("dense", 32 * mib);
  tree.directory("many");
  for (int i = 0; i < 6'000; ++i)
    tree.file("many/" + std::to_string(i));
  struct slow_search {
    const char* tool;
    const char* arguments;
  };
  constexpr slow_search searches[] = {
      {"searchText", R"({"pattern":"absent","literal":true})"},
      {"searchText", R"({"pattern":"line","literal":true,"output":"counts"})"},
      {"findFiles", R"({"glob":"*","sort":"modified"})"},
      {"findFiles", R"({"glob":"*","type":"file"})"},
      {"mapDirectory", R"({"path":"many"})"},
  };
  for (const bool hurried : {true, false}) { // the second is the control
    serve({"--tools", "coding", "--limit", hurried ? "tool-ms=1" : "tool-ms=0"});
    for (const auto& each : searches) {
      SCOPED_TRACE(std::string(each.tool) + each.arguments);
      const auto got = ask(each.tool, each.arguments);
      EXPECT_EQ("ok", got.error);
      EXPECT_EQ(hurried ? "timed_out" : "", got.ended_by);
    }
    expect_others_are_answered();
  }
}

TEST_F(bounded_work, a_deleted_part_is_counted) {
  tree.directory("many");
  for (int i = 0; i < 3'000; ++i)
    tree.file("many/" + std::to_string(i));
  serve({"--limit", "tool-ms=5"});
  reply got;
  std::size_t left = 3'000;
  do {
    got = ask("deleteDirectory", R"({"path":"many","recursive":true})");
    std::size_t now = 0;
    if (std::filesystem::exists(tree / "many"))
      for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(tree / "many"))
        ++now;
    if (got.error == "timed_out" && now < left) {
      EXPECT_THAT(got.message, HasSubstr(std::to_string(left - now) + " entr"));
    }
    left = now;
  } while (got.error == "timed_out");
  EXPECT_EQ("ok", got.error);
  EXPECT_FALSE(std::filesystem::exists(tree / "many"));
}

TEST_F(bounded_work, edits_of_large_files_share_the_memory) {
  constexpr std::size_t file_bytes = 12 * mib;
  constexpr int calls = 10;
  for (int i = 0; i < calls; ++i)
    dense("f" + std::to_string(i), file_bytes);
  serve({"--limit", "memory-bytes=" + std::to_string(3 * file_bytes), "--exec", "off"});
  for (int i = 0; i < calls; ++i)
    put("edit-" + std::to_string(i), "editTextFile",
        R"({"path":"f)" + std::to_string(i) + R"(","oldText":"line\nabsent","newText":"x"})");
  expect_others_are_answered();
  std::size_t kib = 0;
  for (int i = 0; i < calls; ++i) {
    EXPECT_EQ("no_match", answer("edit-" + std::to_string(i)).error);
    kib = std::max(kib, adapter->view().resident_kib());
  }
  if (test::instrumented) return;
  EXPECT_LT(kib, (3 * file_bytes + 32 * mib) / 1024);
}

/// Each part looks through the whole file, however little it changes.
TEST_F(bounded_work, a_patch_may_not_name_a_large_file_again_and_again) {
  dense("large", 30 * mib, "first" + std::string(995, ' ') + "\n");
  tree.file("little", "first\n");
  const auto patch_of = [](const std::string& file, std::size_t parts) {
    const std::string line = "first" + std::string(file == "large" ? 995 : 0, ' ') + "\n";
    std::string patch;
    for (std::size_t i = 0; i < parts; ++i)
      patch += "--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-" + line + "+" + line;
    return R"({"dryRun":true,"diff":"none","patch":)" + json_string(patch) + "}";
  };
  serve({"--tools", "coding", "--limit", "tool-ms=0"});
  const auto refused = ask("applyChanges", patch_of("large", 10));
  EXPECT_EQ("too_large", refused.error);
  EXPECT_THAT(refused.message, AllOf(HasSubstr("one part"), HasSubstr("nothing was changed")));
  EXPECT_EQ("ok", ask("applyChanges", patch_of("large", 3)).error); // the controls
  EXPECT_EQ("ok", ask("applyChanges", patch_of("little", 1000)).error);
}

TEST_F(bounded_work, listings_that_each_fit_all_end) {
  constexpr int calls = 6;
  tree.directory("many");
  for (int i = 0; i < 20'000; ++i)
    tree.file("many/" + std::to_string(i));
  const std::string arguments = R"({"path":"many","limit":1})";
  for (const char* deadline : {"600000", "0"}) {
    SCOPED_TRACE(deadline);
    serve({"--limit", "memory-bytes=5000000", "--limit", std::string("tool-ms=") + deadline});
    EXPECT_EQ("ok", ask("listDirectory", arguments).error);
    for (int i = 0; i < calls; ++i)
      put(deadline + std::to_string(i), "listDirectory", arguments);
    for (int i = 0; i < calls; ++i)
      EXPECT_EQ("ok", answer(deadline + std::to_string(i)).error);
  }
  expect_others_are_answered();
  // The control: they do need that much.
  serve({"--limit", "memory-bytes=4000000"});
  EXPECT_EQ("too_large", ask("listDirectory", arguments).error);
}

TEST_F(bounded_work, one_call_that_needs_more_than_all_may_hold_is_told_so) {
  dense("dense", 4 * mib);
  const std::string edit = R"({"path":"dense","oldText":"line\nabsent","newText":"x"})";
  serve({"--limit", "memory-bytes=" + std::to_string(mib)});
  const auto got = ask("editTextFile", edit);
  EXPECT_EQ("too_large", got.error);
  EXPECT_THAT(got.message, HasSubstr("--limit memory-bytes"));
  EXPECT_EQ("small\n", ask("readTextFile", R"({"path":"small.txt"})").content);
  serve({"--limit", "memory-bytes=" + std::to_string(16 * mib)});
  EXPECT_EQ("no_match", ask("editTextFile", edit).error);
}

/// A change holds what it has read while it reads the next file, and the first once more.
TEST_F(bounded_work, a_change_that_needs_more_than_all_may_hold_does_not_wait_for_itself) {
  for (const char* name : {"one", "two", "three"})
    dense(name, 8 * mib, std::string(999, 'x') + "\n");
  const auto removal_of = [](std::string_view paths) {
    return R"({"diff":"none","dryRun":true,"changes":[{"delete":true,"paths":[)" +
           std::string(paths) + "]}]}";
  };
  const std::string two = removal_of(R"("one","two")");
  serve({"--tools", "coding", "--limit", "memory-bytes=20000000", "--limit", "tool-ms=20000"});
  for (const auto& arguments : {two, removal_of(R"("one","two","three")")}) {
    const auto got = ask("applyChanges", arguments);
    EXPECT_EQ("too_large", got.error);
    EXPECT_THAT(got.message, AllOf(HasSubstr("--limit memory-bytes"), HasSubstr("smaller part"),
                                   testing::Not(HasSubstr(": : "))));
  }
  serve({"--tools", "coding", "--limit", "memory-bytes=26000000"}); // the control
  EXPECT_EQ("ok", ask("applyChanges", two).error);
}

TEST_F(bounded_work, lines_take_memory_too) {
  tree.file("lines", "a" + std::string(1'200'000, '\n'));
  tree.file("more", "a" + std::string(100'000, '\n'));
  const std::string patch = R"({"diff":"none","dryRun":true,"patch":)"
                            R"("--- a/lines\n+++ b/lines\n@@ -1 +1 @@\n-a\n+b\n"})";
  const auto edit = [&](const std::string& path) {
    return ask("editFile", R"({"dryRun":true,"path":")" + path +
                               R"(","edits":[{"oldText":"a","newText":"b"}]})");
  };
  serve({"--tools", "coding", "--limit", "memory-bytes=20000000"});
  const auto got = ask("applyChanges", patch);
  EXPECT_EQ("too_large", got.error);
  EXPECT_THAT(got.message, HasSubstr("--limit memory-bytes"));
  EXPECT_TRUE(edit("lines").is_diff_left_out);
  EXPECT_FALSE(edit("more").is_diff_left_out); // the controls
  serve({"--tools", "coding"});
  EXPECT_EQ("ok", ask("applyChanges", patch).error);
  EXPECT_TRUE(edit("lines").is_diff_left_out); // more than are compared
}

TEST_F(bounded_work, commands_with_more_variables_than_anybody_needs) {
  std::string variables;
  for (int i = 0; i < 300'000; ++i)
    variables += (i == 0 ? "\"V" : ",\"V") + std::to_string(i) + "\":\"\"";
  serve();
  constexpr int calls = 33;
  for (int i = 0; i < calls; ++i)
    put("exec-" + std::to_string(i), "exec",
        R"({"command":"true","args":[],"env":{)" + variables +
            R"(},"cwd":".","stdout":true,"stderr":true})");
  expect_others_are_answered();
  for (int i = 0; i < calls; ++i) {
    const auto got = answer("exec-" + std::to_string(i));
    EXPECT_EQ("too_large", got.error);
    EXPECT_THAT(got.message, AllOf(HasSubstr("300000"), HasSubstr("1000")));
  }
}

/// Processor time that the program has used so far.
std::int64_t used_ns(pid_t id) {
  clockid_t clock{};
  timespec used{};
  EXPECT_EQ(0, ::clock_getcpuclockid(id, &clock));
  EXPECT_EQ(0, ::clock_gettime(clock, &used));
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

TEST_F(bounded_work, a_cancelled_call_stops_working) {
  dense("dense", test::instrumented ? 32 * mib : 128 * mib); // longer than it takes to cancel
  serve({"--limit", "tool-ms=0"});
  const std::string arguments = R"({"path":"dense","from":-1})";
  const std::int64_t idle = used_ns(adapter->id());
  EXPECT_EQ("ok", ask("readTextFile", arguments).error);
  const std::int64_t before = used_ns(adapter->id());
  constexpr int calls = 200; // many more than there are threads
  for (int i = 0; i < calls; ++i)
    put("slow-" + std::to_string(i), "readTextFile", arguments);
  for (int i = 0; i < calls; ++i)
    adapter->peer.put(test::cancel_line(era::modern, json_string("slow-" + std::to_string(i))));
  expect_others_are_answered();
  const std::int64_t for_one = before - idle;
  EXPECT_LT(used_ns(adapter->id()) - before, calls / 2 * for_one);
}

} // namespace
} // namespace paddock
