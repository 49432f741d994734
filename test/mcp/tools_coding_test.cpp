// SPDX-License-Identifier: MIT

// What the tools of base do otherwise in the coding set.

#include "support/mcp/tool_fixture.hpp"

namespace paddock::test {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class tools_coding : public coding_fixture {
protected:
  std::string content(std::string_view arguments) {
    const tool_answer got = call("readTextFile", arguments);
    return got.failed ? got.error() : got.string("content");
  }
};

// The hashes are what `sha256sum` says, as far as 16 digits.
constexpr std::string_view abc_hash = "880553fca8fcea94";      // "a\nb\nc\n"
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

TEST_F(tools_coding, a_set_brings_its_limits) {
  const std::string text =
      R"({"path":"f","text":")" + std::string(limits{}.write_characters_max + 1, 'x') + "\"}";
  EXPECT_FALSE(call("writeTextFile", text).failed);
  serve({}); // base
  EXPECT_EQ("invalid_argument", call("writeTextFile", text).error());
  serve({.tools = mcp::toolset::coding, .limits = limits{}});
  EXPECT_EQ("invalid_argument", call("writeTextFile", text).error());
}

/// What is behind the last newline is no line, but for `from` and `to`, which base has.
TEST_F(tools_coding, a_newline_ends_its_line) {
  mcp::workspace_options small{.limits = mcp::limits_of(mcp::toolset::coding)};
  small.limits->edit_file_bytes_max = 2; // so that the lines are read by themselves
  for (const bool is_streamed : {false, true}) {
    if (is_streamed) serve_coding(small);
    tree.file("f", "a\nb\nc\n");
    EXPECT_EQ("c", content(R"({"path":"f","firstLine":-1,"lastLine":-1})"));
    EXPECT_EQ("c\n", content(R"({"path":"f","firstLine":-1})"));
    EXPECT_EQ("b\nc", content(R"({"path":"f","firstLine":2,"lastLine":3})"));
    EXPECT_EQ("b\nc", content(R"({"path":"f","firstLine":2,"lastLine":9})"));
    EXPECT_EQ("a\nb", content(R"({"path":"f","lastLine":-2})"));
    EXPECT_EQ("", content(R"({"path":"f","firstLine":4})"));
    EXPECT_EQ("1\ta\n2\tb\n3\tc\n", content(R"({"path":"f","numbered":true})"));
    EXPECT_EQ("3\tc\n", content(R"({"path":"f","firstLine":3,"numbered":true})"));
    EXPECT_EQ(3, call("readTextFile", R"({"path":"f","firstLine":-1})").integer("totalLines"));
    for (const char* arguments : {R"({"path":"f"})", R"({"path":"f","numbered":true})"}) {
      const auto whole = call("readTextFile", arguments);
      EXPECT_EQ(3, whole.integer("totalLines")) << arguments;
      EXPECT_EQ(3, whole.integer("to")) << arguments;
    }
    EXPECT_EQ(4, call("readTextFile", R"({"path":"f","from":0})").integer("totalLines"));
    for (const char* arguments : {R"({"path":"f","firstLine":4})", R"({"path":"f","from":9})"})
      EXPECT_THAT(call("readTextFile", arguments).string("notice"),
                  StartsWith("no such lines: the file has "))
          << arguments;
    EXPECT_EQ("firstLine 3 is after lastLine 2",
              call("readTextFile", R"({"path":"f","firstLine":3,"lastLine":2})").message());
    EXPECT_EQ("invalid_argument", content(R"({"path":"f","firstLine":-1,"lastLine":-2})"));
    EXPECT_EQ("", content(R"({"path":"f","from":3})")); // the control: the seed's lines
    EXPECT_EQ("c\n", content(R"({"path":"f","from":-2})"));
    EXPECT_EQ("a\nb\nc\n", content(R"({"path":"f"})"));
    tree.file("f", "a\n\nb\n");
    EXPECT_EQ("1\ta\n2\t", content(R"({"path":"f","lastLine":2,"numbered":true})"));
    tree.file("f", "");
    EXPECT_EQ("", content(R"({"path":"f","numbered":true})"));
    EXPECT_EQ("", content(R"({"path":"f","firstLine":-1})"));
  }
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
  EXPECT_EQ(20'000, page.integer("totalLines"));
  EXPECT_EQ("true", page["truncated"].text());
  const auto next = page.integer("to") + 1;
  EXPECT_THAT(page.string("notice"), HasSubstr("firstLine " + std::to_string(next)));
  std::string joined = first;
  for (std::int64_t from = next; from <= 20'000;) { // lines have the same page
    const auto more = call("readTextFile", R"({"path":"long","firstLine":)" + std::to_string(from) +
                                               R"(,"lastLine":20000})");
    ASSERT_FALSE(more.failed) << more.json;
    EXPECT_LE(more.string("content").size(), 64U * 1024);
    joined += "\n" + more.string("content");
    from = more.integer("to") + 1;
    EXPECT_EQ(from <= 20'000, more["truncated"].exists());
    EXPECT_EQ(from <= 20'000,
              more.string("notice") == "read on with firstLine " + std::to_string(from));
  }
  EXPECT_TRUE(text == joined + "\n");
  const std::string line = std::string(100'000, 'a') + "end";
  for (const std::string& other : {line, line + "\nlast\n"}) {
    tree.file("wide", "one\n" + other);
    for (const char* lines :
         {R"({"path":"wide","firstLine":2,"lastLine":2})", R"({"path":"wide","firstLine":2})"}) {
      const auto cut = call("readTextFile", lines);
      EXPECT_EQ("line 2 is cut off after 65536 bytes; " +
                    std::string(other == line ? "" : "the next line is firstLine 3; ") +
                    "if exec is offered, it shows the rest: sed -n 2p wide | tail -c +65537",
                cut.string("notice"));
      EXPECT_EQ(line.substr(0, 65536), cut.string("content"));
    }
    EXPECT_EQ(other, content(R"({"path":"wide","from":1})")); // the control: as base has it
  }
  const std::string exact(65'536, 'a');
  tree.file("exact", exact + "\nlast\n");
  const auto whole = call("readTextFile", R"({"path":"exact"})");
  EXPECT_EQ(exact, whole.string("content"));
  EXPECT_EQ("read on with firstLine 2", whole.string("notice"));
  tree.file("short", "x\n"); // the control
  EXPECT_EQ("path content from to totalLines hash", call_path("readTextFile", "short").keys());
  serve({}); // base knows no page
  EXPECT_TRUE(text == call_path("readTextFile", "long").string("content"));
}

TEST_F(tools_coding, paths_in_results_are_relative) {
  const auto told = [&](const char* tool, const std::string& arguments, const char* member) {
    const auto answer = call(tool, arguments);
    EXPECT_FALSE(answer.failed) << answer.json;
    return answer.string(member);
  };
  const auto tell_all = [&](const std::string& where, const std::string& own) {
    EXPECT_EQ(where + "d/e", told("createDirectory", R"({"path":"d/e"})", "path"));
    EXPECT_EQ(where + "d/f", told("writeTextFile", R"({"path":"./d/f","text":"x"})", "path"));
    EXPECT_EQ(where + "d/f", told("appendTextFile", R"({"path":"d/f","text":"y"})", "path"));
    EXPECT_EQ(where + "d/f",
              told("editTextFile", R"({"path":"d/f","oldText":"x","newText":"z"})", "path"));
    const std::string move = R"({"source":"d/f","destination":"d/g"})";
    EXPECT_EQ(where + "d/g", told("moveFile", move, "destination"));
    EXPECT_EQ(own, told("listDirectory", R"({"path":"."})", "path"));
    EXPECT_EQ(tree.path() + "/d/g", told("getFileInfo", R"({"path":"d/g"})", "absolutePath"));
    EXPECT_EQ(where + "d/g", told("deleteFile", R"({"path":"d/g"})", "path"));
    EXPECT_EQ(where + "d", told("deleteDirectory", R"({"path":"d","recursive":true})", "path"));
    tree.file("p.pdf", "%PDF-1.4");
    EXPECT_EQ(tree.path() + "/p.pdf", told("readPdfFile", R"({"path":"p.pdf"})", "path"));
  };
  tell_all("", ".");
  serve({.results = mcp::result_detail::brief}); // the control: base has absolute ones
  tell_all(tree.path() + "/", tree.path());
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

/// ASCII with a mark and NULs between.
std::string utf16_of(std::string_view text) {
  std::string out = "\xFE\xFF";
  for (const char c : text)
    out += {'\0', c};
  return out;
}

TEST_F(tools_coding, utf16_is_read_as_the_same_text_in_utf8) {
  for (const std::string& text : {""s, "\n"s, "a"s, "a\r\nb\n\nc"s, "a\nb\nc\n"s}) {
    tree.file("narrow", text);
    tree.file("wide", utf16_of(text));
    const auto compare = [&](const std::string& range) {
      const auto narrow = call("readTextFile", R"({"path":"narrow")" + range + "}");
      const auto wide = call("readTextFile", R"({"path":"wide")" + range + "}");
      ASSERT_FALSE(wide.failed) << wide.json;
      for (const char* key : {"from", "to"})
        EXPECT_EQ(narrow.integer(key), wide.integer(key)) << text << range;
      EXPECT_EQ(narrow.string("content"), wide.string("content")) << text << range;
      EXPECT_THAT(wide.string("notice"), HasSubstr("UTF-16 (big endian)"));
      EXPECT_NE(narrow.string("hash"), wide.string("hash"));
    };
    compare("");
    compare(R"(,"numbered":true)");
    for (int from = -6; from <= 6; ++from) {
      compare(R"(,"from":)" + std::to_string(from));
      compare(R"(,"to":)" + std::to_string(from));
      for (int to = -6; to <= 6; ++to)
        compare(R"(,"from":)" + std::to_string(from) + R"(,"to":)" + std::to_string(to));
    }
  }
  tree.file("le", "\xFF\xFE\xE9\0\x3D\xD8\x00\xDE"s);
  EXPECT_EQ("\xC3\xA9\xF0\x9F\x98\x80", content(R"({"path":"le"})"));
}

TEST_F(tools_coding, utf16_is_read_page_by_page_and_bounded) {
  serve({.tools = mcp::toolset::coding,
         .limits = limits{.read_bytes_max = 20, .read_page_bytes_max = 12}});
  tree.file("wide", utf16_of("1234\n6789\nbcde\nghij\nlmno\n"));
  const auto page = call_path("readTextFile", "wide");
  EXPECT_EQ("1234\n6789", page.string("content")); // not 12 bytes
  EXPECT_EQ("true", page["truncated"].text());
  EXPECT_EQ(5, page.integer("totalLines"));
  EXPECT_THAT(page.string("notice"), AllOf(HasSubstr("UTF-16"), HasSubstr("firstLine 3")));
  EXPECT_EQ("bcde\nghij", content(R"({"path":"wide","firstLine":3})"));
  EXPECT_EQ("bcde\nghij\nlmno\n", content(R"({"path":"wide","from":2})"));
  EXPECT_EQ("too_large", content(R"({"path":"wide","from":0})"));
}

TEST_F(tools_coding, another_encoding_is_named_by_its_line) {
  tree.file("latin", "one\ncaf\xE9\n");
  EXPECT_THAT(call_path("readTextFile", "latin").message(),
              AllOf(HasSubstr("offset 7 (line 2); "), HasSubstr("iconv")));
}

TEST_F(tools_coding, utf16_that_is_damaged_is_refused_by_name) {
  tree.file("odd", "\xFF\xFE\x41"s);
  tree.file("half", "\xFF\xFE\x41\0\0\xD8"s);
  tree.file("utf32", "\xFF\xFE\0\0\x41\0\0\0"s);
  const auto refused = [&](const char* path, const char* words) {
    const auto answer = call_path("readTextFile", path);
    EXPECT_EQ("not_text", answer.error()) << path;
    EXPECT_THAT(answer.message(), AllOf(HasSubstr(words), HasSubstr("offset"))) << path;
  };
  refused("odd", "odd number of bytes");
  refused("half", "surrogate");
  refused("utf32", "UTF-32");
}

struct utf16_case {
  const char* name;
  const char* tool;
  const char* arguments; ///< behind the path
  std::string before, after;
};

TEST_F(tools_coding, files_stay_utf16_however_they_are_changed) {
  const std::string little = "\xFF\xFE", big = "\xFE\xFF";
  const std::string wide = little + "a\0\n\0"s;
  const utf16_case table[] = {
      {"control: UTF-8", "appendTextFile", R"("text":"é")", "a\n", "a\né"},
      {"control: UTF-8 with a mark", "writeTextFile", R"("text":"é")",
       "\xEF\xBB\xBF"
       "a",
       "é"},
      {"added", "appendTextFile", R"("text":"é")", wide, wide + "\xE9\0"s},
      {"added, the other byte first", "appendTextFile", R"("text":"é")", big + "\0a"s,
       big + "\0a\0\xE9"s},
      {"nothing added", "appendTextFile", R"("text":"")", wide, wide},
      {"written", "writeTextFile", R"("text":"é\n")", wide, little + "\xE9\0\n\0"s},
      {"written, the other byte first", "writeTextFile", R"("text":"é")", big + "\0a"s,
       big + "\0\xE9"s},
      {"cleared", "writeTextFile", R"("text":"")", wide, ""},
      {"edited", "editTextFile", R"("oldText":"a\n","newText":"é\n")", wide,
       little + "\xE9\0\n\0"s},
      {"edited at the line end that it has", "editTextFile", R"("oldText":"a","newText":"b\nc")",
       wide.substr(0, 4) + "\r\0\n\0"s, little + "b\0\r\0\n\0c\0\r\0\n\0"s},
  };
  for (const utf16_case& each : table)
    for (const bool has_hash : {false, true}) {
      SCOPED_TRACE(each.name + (has_hash ? ", with its hash"s : ""s));
      tree.file("f", each.before);
      const std::string hash = call_path("readTextFile", "f").string("hash");
      const auto got = call(each.tool, R"({"path":"f",)"s + each.arguments +
                                           (has_hash ? R"(,"ifHash":")" + hash + "\"}" : "}"));
      EXPECT_FALSE(got.failed) << got.json;
      EXPECT_EQ(each.after, tree.content("f"));
      EXPECT_EQ(call_path("readTextFile", "f").string("hash"), got.string("hash"));
      if (got["bytes"].exists()) {
        EXPECT_EQ(static_cast<std::int64_t>(each.after.size()), got.integer("bytes"));
      }
    }
}

TEST_F(tools_coding, what_is_no_utf16_in_spite_of_its_mark_is_left_alone) {
  const std::string odd = "\xFF\xFE"
                          "abc";
  for (const char* arguments : {R"(appendTextFile{"path":"f","text":"x"})",
                                R"(editTextFile{"path":"f","oldText":"a","newText":"x"})"}) {
    SCOPED_TRACE(arguments);
    tree.file("f", odd);
    const std::string_view both(arguments);
    const auto got = call(both.substr(0, both.find('{')), both.substr(both.find('{')));
    EXPECT_EQ("not_text", got.error());
    EXPECT_THAT(got.message(), HasSubstr("odd number of bytes"));
    EXPECT_EQ(odd, tree.content("f"));
  }
  tree.file("f", "\xFF\xFE"
                 "a\0"s);
  EXPECT_EQ("no_match",
            call("editTextFile", R"({"path":"f","oldText":"b","newText":"x"})").error());
}

TEST_F(tools_coding, files_that_are_moved_or_deleted_by_their_hash_are_read_as_far_as_the_limit) {
  tree.file("f", "hello");
  const std::string hash = call_path("readTextFile", "f").string("hash");
  mcp::workspace_options options;
  options.tools = mcp::toolset::coding;
  options.limits = mcp::limits_of(options.tools);
  options.limits->edit_file_bytes_max = 4;
  serve(std::move(options));
  const std::string move = R"({"source":"f","destination":"g")";
  const std::string if_hash = R"(,"ifHash":")" + hash + "\"}";
  EXPECT_EQ("too_large", call("moveFile", move + if_hash).error());
  EXPECT_EQ("too_large", call("deleteFile", R"({"path":"f")" + if_hash).error());
  EXPECT_EQ("(no error)", call("moveFile", move + "}").error()); // the control
  EXPECT_EQ("hello", tree.content("g"));
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
  EXPECT_EQ(abc_hash, edited.string("hash"));
  EXPECT_EQ("a\nb\nc\n", tree.content("f"));
}

TEST_F(tools_coding, the_hash_is_of_the_bytes_that_are_shown) {
  constexpr int reads = 200;
  const std::string contents[] = {"hello", std::string(50'000, 'x') + "\n"};
  tree.file("f", contents[0]);
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (std::size_t i = 0; !done; ++i) {
      tree.file("new", contents[i % 2]);
      std::filesystem::rename(tree / "new", tree / "f");
    }
  });
  std::set<std::string> seen;
  for (int i = 0; i < reads || (seen.size() < 2 && i < 100'000); ++i) {
    const auto got = call_path("readTextFile", "f");
    if (got.failed) continue; // it was replaced while it was read
    const bool is_hello = got.string("content") == contents[0];
    EXPECT_EQ(is_hello, got.string("hash") == hash_of_hello);
    seen.insert(got.string("hash"));
  }
  done = true;
  other.join();
  EXPECT_EQ(2U, seen.size()); // the control: both were met
}

TEST_F(tools_coding, a_link_is_told_with_where_it_leads) {
  tree.directory("dir");
  tree.file("dir/target", "x");
  tree.link("link", "dir/target");
  tree.link("dir/up", "..");
  tree.link("again", "link");
  struct link_case {
    const char* path;
    const char* leads_to; ///< empty: it is none
  };
  constexpr link_case cases[] = {{"link", "dir/target"},
                                 {"again", "dir/target"},
                                 {"dir/target", ""},
                                 {"dir", ""},
                                 {".", ""},
                                 {"dir/up/link", "dir/target"},
                                 {"dir/up/dir/target", ""},
                                 {"./dir/../link", "dir/target"}};
  for (const link_case& each : cases) {
    SCOPED_TRACE(each.path);
    const auto told = call_path("getFileInfo", each.path);
    ASSERT_FALSE(told.failed) << told.json;
    EXPECT_EQ(each.leads_to, told["linkTo"].exists() ? told.string("linkTo") : "");
  }
  EXPECT_EQ(call_path("getFileInfo", "dir/up").string("type"), "directory");
  serve({}); // the control: base has no such member
  EXPECT_FALSE(call_path("getFileInfo", "link")["linkTo"].exists());
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
  EXPECT_LE(json_string(long_one).size(), 30'100U);
  EXPECT_GT(json_string(long_one).size(), 29'000U);
  EXPECT_THAT(long_one, AllOf(StartsWith("1\n2\n"), HasSubstr(" bytes left out"),
                              EndsWith("\n19999\n20000\n")));
  const std::string both = output("seq 1 20000; seq 1 20000 >&2");
  EXPECT_LE(json_string(both).size(), 30'200U);
  EXPECT_EQ(both.find("left out"), both.rfind("left out"));  // one text
  serve({.confinement = confinement_policy::best_effort()}); // base wants all of them
  EXPECT_EQ("invalid_argument", call("exec", R"({"command":"true"})").error());
}

TEST_F(tools_coding, exec_alone_can_be_a_task) {
  for (const mcp::tool& each : server().tools())
    EXPECT_EQ(each.name == "exec", each.tasks == mcp::task_support::optional) << each.name;
  const auto told = [&](std::string_view method, std::string_view params) {
    return server().handle_line(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) +
                                R"(","params":)" + std::string(params) + "}");
  };
  (void)told("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  const std::string list = told("tools/list", "{}").at(0);
  EXPECT_THAT(list, HasSubstr(R"("execution":{"taskSupport":"optional"})"));
  EXPECT_LE(list.size(), 26'000U);
  const std::string begun =
      told("tools/call", R"({"name":"exec","arguments":{"command":"true"},"task":{}})").at(0);
  EXPECT_THAT(begun, HasSubstr(R"("status":"working")"));
}

} // namespace
} // namespace paddock::test
