// SPDX-License-Identifier: MIT

// What the tools of base do otherwise in the coding set.

#include "support/mcp/tool_fixture.hpp"

#include <gmock/gmock.h>

#include <string>

namespace paddock::test {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class tools_coding : public tool_fixture {
protected:
  void SetUp() override { serve_coding({}); }
  void serve_coding(mcp::workspace_options options) {
    options.tools = mcp::toolset::coding;
    options.limits = mcp::limits_of(options.tools);
    serve(std::move(options));
  }
  std::string content(std::string_view arguments) {
    const tool_answer got = call("readTextFile", arguments);
    return got.failed ? got.error() : got.string("content");
  }
};

// The hashes are what `sha256sum` says, as far as 16 digits.
constexpr std::string_view hash_of_abc = "880553fca8fcea94";   // "a\nb\nc\n"
constexpr std::string_view hash_of_hello = "2cf24dba5fb0a30e"; // "hello"

TEST_F(tools_coding, lines_are_counted_from_one_and_from_the_end) {
  tree.file("f", "a\nb\nc\nd");
  EXPECT_EQ("b\nc", content(R"({"path":"f","firstLine":2,"lastLine":3})"));
  EXPECT_EQ("c\nd", content(R"({"path":"f","firstLine":-2})"));
  EXPECT_EQ("a\nb\nc", content(R"({"path":"f","lastLine":-2})"));
  EXPECT_EQ("d", content(R"({"path":"f","firstLine":-1,"lastLine":-1})"));
  EXPECT_EQ("", content(R"({"path":"f","firstLine":9})"));
  EXPECT_EQ("2\tb\n3\tc", content(R"({"path":"f","firstLine":2,"lastLine":3,"numbered":true})"));
  EXPECT_EQ("1\ta\n2\tb\n3\tc\n4\td", content(R"({"path":"f","numbered":true})"));
  EXPECT_EQ("b", content(R"({"path":"f","from":1,"to":2})")); // as in base
  EXPECT_EQ("invalid_argument", content(R"({"path":"f","firstLine":0})"));
  EXPECT_EQ("invalid_argument", content(R"({"path":"f","firstLine":1,"to":2})"));
  EXPECT_EQ("not_found", content(R"({"path":"g"})"));
}

TEST_F(tools_coding, a_long_file_is_read_page_by_page) {
  std::string text;
  for (int i = 1; i <= 20'000; ++i)
    text += "line " + std::to_string(i) + "\n";
  tree.file("long", text);
  const auto page = call("readTextFile", R"({"path":"long"})");
  const std::string first = page.string("content");
  EXPECT_LE(first.size(), 64U * 1024);
  EXPECT_GT(first.size(), 63U * 1024);
  EXPECT_EQ(20'001, page.integer("totalLines"));
  EXPECT_EQ("true", page["truncated"].text());
  const auto next = page.integer("to") + 1;
  EXPECT_THAT(page.string("notice"), HasSubstr("firstLine " + std::to_string(next)));
  const auto rest = content(R"({"path":"long","firstLine":)" + std::to_string(next) + "}");
  EXPECT_TRUE(text == first + "\n" + rest);
  tree.file("short", "x\n"); // the control
  EXPECT_EQ("path content from to totalLines hash", call_path("readTextFile", "short").keys());
  serve({}); // base knows no page
  EXPECT_TRUE(text == call_path("readTextFile", "long").string("content"));
}

TEST_F(tools_coding, a_page_ends_between_characters) {
  tree.file(
      "wide", "a" + [] {
        std::string text;
        while (text.size() < 100'000)
          text += "\xE4\xB8\xAD";
        return text;
      }());
  const auto page = call_path("readTextFile", "wide");
  ASSERT_FALSE(page.failed) << page.json;
  EXPECT_THAT(page.string("content"), AllOf(StartsWith("a\xE4"), EndsWith("\xB8\xAD")));
}

TEST_F(tools_coding, results_are_brief_and_have_the_hash_of_the_file) {
  const auto written = call("writeTextFile", R"({"path":"f","text":"hello"})");
  EXPECT_EQ("path bytes hash", written.keys());
  EXPECT_EQ(5, written.integer("bytes"));
  EXPECT_EQ(hash_of_hello, written.string("hash"));
  EXPECT_EQ(hash_of_hello, call_path("readTextFile", "f").string("hash"));
  EXPECT_EQ(hash_of_hello, call("readTextFile", R"({"path":"f","firstLine":9})").string("hash"));
  call("writeTextFile", R"({"path":"f","text":"a\nx\n"})");
  const auto appended = call("appendTextFile", R"({"path":"f","text":"c\n"})");
  EXPECT_EQ(6, appended.integer("bytes"));
  EXPECT_EQ(call_path("readTextFile", "f").string("hash"), appended.string("hash"));
  const auto edited = call("editTextFile", R"({"path":"f","oldText":"x","newText":"b"})");
  EXPECT_EQ("path line occurrences hash", edited.keys());
  EXPECT_EQ(2, edited.integer("line"));
  EXPECT_EQ(hash_of_abc, edited.string("hash"));
  EXPECT_EQ("a\nb\nc\n", tree.content("f"));
}

TEST_F(tools_coding, options_choose_in_either_set) {
  serve({.results = mcp::result_detail::brief});
  EXPECT_EQ("path bytes hash", call("writeTextFile", R"({"path":"f","text":"hello"})").keys());
  serve_coding({.results = mcp::result_detail::full});
  EXPECT_EQ("path text", call("writeTextFile", R"({"path":"f","text":"hello"})").keys());
  serve({}); // the control
  EXPECT_EQ("path text", call("writeTextFile", R"({"path":"f","text":"hello"})").keys());
}

TEST_F(tools_coding, larger_texts_are_taken) {
  const auto write = [&](std::size_t size) {
    return call("writeTextFile", R"({"path":"f","text":")" + std::string(size, 'x') + R"("})")
        .failed;
  };
  EXPECT_FALSE(write(1'000'000));
  EXPECT_TRUE(write(1'000'001));
  const auto edit = [&](std::size_t size) {
    tree.file("f", std::string(size, 'x'));
    return call("editTextFile",
                R"({"path":"f","oldText":")" + std::string(size, 'x') + R"(","newText":"y"})")
        .failed;
  };
  EXPECT_FALSE(edit(100'000));
  EXPECT_TRUE(edit(100'001));
  serve({}); // the control
  EXPECT_TRUE(write(1'000'000));
}

TEST_F(tools_coding, pictures_come_with_what_they_are) {
  const std::string png = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"s;
  tree.file("small.png", png);
  tree.file("large.png", png + std::string(5 * 1024 * 1024, 'x'));
  tree.file("no.png", "text");
  const auto small = call_path("readImageFile", "small.png");
  EXPECT_EQ("iVBORw0KGgoAAAANSUhEUg==", small.picture); // as Python's base64 has it
  EXPECT_EQ("image/png", small.picture_type);
  EXPECT_EQ("path mimeType size", small.keys());
  const auto large = call_path("readImageFile", "large.png");
  EXPECT_EQ("", large.picture);
  EXPECT_THAT(large.string("notice"), HasSubstr("too large to be shown"));
  EXPECT_EQ("unsupported_type", call_path("readImageFile", "no.png").error());
  serve({});
  EXPECT_EQ("", call_path("readImageFile", "small.png").picture);
  serve({.images = mcp::image_results::picture});
  EXPECT_EQ(small.picture, call_path("readImageFile", "small.png").picture);
}

TEST_F(tools_coding, a_command_needs_its_name_only) {
  serve_coding({.confinement = confinement_policy::best_effort()});
  EXPECT_EQ("Command executed successfully, but produced no output.",
            call("exec", R"({"command":"true"})").string("output"));
  EXPECT_EQ(
      "out\nerr\n",
      call("exec", R"({"command":"sh","args":["-c","echo out; echo err >&2"]})").string("output"));
  const auto output = [&](std::string_view script) {
    return call("exec", R"({"command":"sh","args":["-c",)" + json_string(script) + "]}")
        .string("output");
  };
  const std::string long_one = output("seq 1 20000");
  EXPECT_LE(long_one.size(), 30'100U);
  EXPECT_GT(long_one.size(), 29'000U);
  EXPECT_THAT(long_one, AllOf(StartsWith("1\n2\n"), HasSubstr(" bytes left out "),
                              EndsWith("\n19999\n20000\n")));
  const std::string both = output("seq 1 20000; seq 1 20000 >&2");
  EXPECT_LE(both.size(), 30'200U);
  EXPECT_EQ(2U, static_cast<std::size_t>(both.find("left out") != both.rfind("left out")) + 1U);
  serve({.confinement = confinement_policy::best_effort()}); // base wants all of them
  EXPECT_EQ("invalid_argument", call("exec", R"({"command":"true"})").error());
}

} // namespace
} // namespace paddock::test
