// SPDX-License-Identifier: MIT

// The tools for files and directories at the edges: text that is none, images and documents by
// content, names that are not UTF-8, listings that are too long.

#include "support/mcp/tool_fixture.hpp"

namespace paddock::test {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

class tools_files : public tool_fixture {
protected:
  void resize(std::string_view name, std::uint64_t size) const {
    ASSERT_EQ(0, ::truncate((tree / name).c_str(), static_cast<off_t>(size)));
  }
};

const std::string png = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"s;
const std::string html = "<!DOCTYPE html><title>no image</title>";

/// Every path of every tool, and the controls: another name, the same name said plainly, and one
/// that exists.
TEST_F(tools_files, a_home_directory_is_no_path) {
  tree.file("x", "text");
  const std::pair<const char*, std::string> calls[] = {
      {"readTextFile", R"({"path":"@"})"},
      {"readImageFile", R"({"path":"@"})"},
      {"readPdfFile", R"({"path":"@"})"},
      {"getFileInfo", R"({"path":"@"})"},
      {"listDirectory", R"({"path":"@"})"},
      {"writeTextFile", R"({"path":"@","text":"x"})"},
      {"appendTextFile", R"({"path":"@","text":"x"})"},
      {"editTextFile", R"({"path":"@","oldText":"a","newText":"b"})"},
      {"deleteFile", R"({"path":"@"})"},
      {"deleteDirectory", R"({"path":"@"})"},
      {"createDirectory", R"({"path":"@"})"},
      {"moveFile", R"({"source":"@","destination":"y"})"},
      {"moveFile", R"({"source":"x","destination":"@"})"},
      {"exec", R"({"command":"true","args":[],"env":{},"cwd":"@","stdout":true,"stderr":true})"}};
  const auto with = [&](const auto& each, std::string_view path) {
    std::string arguments = each.second;
    arguments.replace(arguments.find('@'), 1, path);
    return call(each.first, arguments).message();
  };
  for (const auto& each : calls) {
    for (const char* path : {"~/a", "~"})
      EXPECT_THAT(with(each, path), HasSubstr("~ is not expanded")) << each.first;
    EXPECT_FALSE(std::filesystem::exists(tree / "~")) << each.first;
  }
  EXPECT_THAT(with(calls[0], "~/a/b"), AllOf(HasSubstr("such as a/b,"), HasSubstr("./~/a/b if")));
  for (const char* path : {"~a/b", "a/~", "./~/a"})
    EXPECT_THAT(with(calls[0], path), HasSubstr("no such file")) << path;
  EXPECT_FALSE(call("writeTextFile", R"({"path":"./~/a","text":"it is there"})").failed);
  EXPECT_EQ("it is there", call_path("readTextFile", "~/a").string("content"));
}

// --- reading text --------------------------------------------------------------------------------

TEST_F(tools_files, text_that_is_not_utf8_is_refused_with_its_offset) {
  tree.file("latin1", "one\ntwo caf\xE9\n");
  const auto answer = call_path("readTextFile", "latin1");
  EXPECT_EQ("not_text", answer.error());
  EXPECT_THAT(answer.message(), AllOf(HasSubstr("latin1"), HasSubstr("offset 11"),
                                      HasSubstr("line 1"), HasSubstr("encoding")));
  const auto range = call("readTextFile", R"({"path":"latin1","from":1,"to":2})");
  EXPECT_THAT(range.message(), AllOf(HasSubstr("offset 11"), HasSubstr("line 1")));
  EXPECT_EQ("one", call("readTextFile", R"({"path":"latin1","from":0,"to":1})").string("content"));
}

TEST_F(tools_files, utf16_is_recognised) {
  tree.file("wide", "\xFF\xFEh\0i\0"s);
  const auto answer = call_path("readTextFile", "wide");
  EXPECT_EQ("not_text", answer.error());
  EXPECT_THAT(answer.message(), AllOf(HasSubstr("UTF-16"), HasSubstr("iconv")));
}

TEST_F(tools_files, a_text_of_every_character_arrives_unchanged) {
  std::string all;
  for (int c = 1; c < 128; ++c)
    all += static_cast<char>(c);
  all += "\xC3\xA9 \xF0\x9F\x90\x8E \xE2\x80\xA8 \xEF\xBB\xBF"s + '\0';
  tree.file("all", all);
  EXPECT_EQ(all, call_path("readTextFile", "all").string("content"));
  EXPECT_FALSE(call("writeTextFile", R"({"path":"copy","text":)" + json_string(all) + "}").failed);
  EXPECT_EQ(all, tree.content("copy"));
}

TEST_F(tools_files, a_file_larger_than_one_call_may_return_is_read_in_parts) {
  serve({.limits = limits{.read_bytes_max = 100}});
  tree.file("large", std::string(60, 'a') + "\n" + std::string(60, 'b'));
  const auto refused = call_path("readTextFile", "large");
  EXPECT_EQ("too_large", refused.error());
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("large"), HasSubstr("121 B"), HasSubstr("from")));
  EXPECT_EQ(std::string(60, 'b'),
            call("readTextFile", R"({"path":"large","from":1})").string("content"));
}

TEST_F(tools_files, a_text_that_does_not_fit_into_a_line_is_refused_with_a_hint) {
  serve({.limits = limits{.message_out_bytes_max = 2000}});
  tree.file("quotes", std::string(500, '"'));
  const auto refused = call_path("readTextFile", "quotes");
  EXPECT_EQ("too_large", refused.error());
  EXPECT_THAT(refused.message(), HasSubstr("from and to"));
}

TEST_F(tools_files, reading_something_that_is_no_file_is_refused_without_waiting) {
  ASSERT_EQ(0, ::mkfifo((tree / "fifo").c_str(), 0600));
  for (const char* tool : {"readTextFile", "readImageFile", "readPdfFile"}) {
    SCOPED_TRACE(tool);
    EXPECT_EQ("not_regular", call_path(tool, "fifo").error());
    EXPECT_EQ("is_a_directory", call_path(tool, ".").error());
  }
  EXPECT_EQ("other", call_path("getFileInfo", "fifo").string("type"));
}

// --- images and documents ------------------------------------------------------------------------

struct media_case {
  const char* name;
  const char* tool;
  const char* file;
  std::string content;
  const char* type; ///< the accepted type, or nullptr
  const char* told; ///< what the refusal says the content is
};

const media_case media_cases[] = {
    {"png", "readImageFile", "a.png", png, "image/png", ""},
    {"png named txt", "readImageFile", "a.txt", png, "image/png", ""},
    {"jpeg", "readImageFile", "a", "\xFF\xD8\xFF\xE0"s, "image/jpeg", ""},
    {"gif", "readImageFile", "a.gif", "GIF89a\1\0\1\0"s, "image/gif", ""},
    {"webp", "readImageFile", "a.webp", "RIFF\x10\0\0\0WEBPVP8 "s, "image/webp", ""},
    {"html named png", "readImageFile", "a.png", html, nullptr, "text/html"},
    {"pdf as image", "readImageFile", "a.pdf", "%PDF-1.7\n", nullptr, "application/pdf"},
    {"tiff", "readImageFile", "a.tif", "II*\0\x08\0\0\0"s, nullptr, "image/tiff"},
    {"noise", "readImageFile", "a.png", "\0\1\2\3\xF0\xF1"s, nullptr, "unknown binary data"},
    {"empty", "readImageFile", "a.png", "", nullptr, "empty"},
    {"pdf", "readPdfFile", "a.pdf", "%PDF-1.7\n", "application/pdf", ""},
    {"pdf named txt", "readPdfFile", "a.txt", "%PDF-1.4\n", "application/pdf", ""},
    {"html named pdf", "readPdfFile", "a.pdf", html, nullptr, "text/html"},
    {"empty pdf", "readPdfFile", "a.pdf", "", nullptr, "empty"},
};

TEST_F(tools_files, media_are_judged_by_content) {
  for (const auto& each : media_cases) {
    SCOPED_TRACE(each.name);
    tree.file(each.file, each.content);
    const auto answer = call_path(each.tool, each.file);
    if (each.type != nullptr) {
      EXPECT_EQ("path mimeType size", answer.keys());
      EXPECT_EQ(each.type, answer.string("mimeType"));
      EXPECT_EQ(static_cast<std::int64_t>(each.content.size()), answer.integer("size"));
    } else {
      EXPECT_EQ("unsupported_type", answer.error());
      EXPECT_THAT(answer.message(), AllOf(HasSubstr(each.file), HasSubstr(each.told)));
    }
  }
}

TEST_F(tools_files, media_sizes_are_inclusive_bounds) {
  constexpr std::uint64_t mib = 1024 * 1024;
  tree.file("a.png", png);
  resize("a.png", 15 * mib);
  EXPECT_EQ(15 * mib,
            static_cast<std::uint64_t>(call_path("readImageFile", "a.png").integer("size")));
  resize("a.png", 15 * mib + 1);
  const auto image = call_path("readImageFile", "a.png");
  EXPECT_EQ("too_large", image.error());
  EXPECT_THAT(image.message(), AllOf(HasSubstr("a.png"), HasSubstr("15.00 MB")));
  tree.file("a.pdf", "%PDF-1.7\n");
  resize("a.pdf", 30 * mib);
  EXPECT_FALSE(call_path("readPdfFile", "a.pdf").failed);
  resize("a.pdf", 30 * mib + 1);
  EXPECT_EQ("too_large", call_path("readPdfFile", "a.pdf").error());
}

// --- names ---------------------------------------------------------------------------------------

TEST_F(tools_files, names_that_are_not_utf8_can_be_given_back) {
  const std::string name = "caf\xE9.txt";
  tree.file(name, "latin");
  const auto listing = call_path("listDirectory", ".");
  std::string given;
  listing["items"].for_each_element(
      [&](mcp::json_view item) { given = item["path"].string().value_or(""); });
  ASSERT_FALSE(given.empty());
  EXPECT_NE(name, given);
  EXPECT_EQ("latin", call_path("readTextFile", given).string("content"));
  EXPECT_EQ(given, call_path("getFileInfo", given).string("name"));
  const std::string moved = R"({"source":)" + json_string(given) + R"(,"destination":)" +
                            json_string("sub/" + given) + "}";
  EXPECT_FALSE(call("moveFile", moved).failed);
  EXPECT_TRUE(tree.exists("sub/" + name));
  EXPECT_FALSE(call_path("deleteFile", "sub/" + given).failed);
  EXPECT_FALSE(tree.exists("sub/" + name));
}

// --- information ---------------------------------------------------------------------------------

TEST_F(tools_files, information_has_the_documented_members_in_order) {
  tree.file("dir-less.txt", std::string(1234, 'x'));
  const auto file = call_path("getFileInfo", "./dir-less.txt");
  EXPECT_EQ("exists path absolutePath name directory extension type mimeType size sizeFormatted "
            "created modified accessed permissions",
            file.keys());
  EXPECT_EQ("./dir-less.txt", file.string("path"));
  EXPECT_EQ(tree / "dir-less.txt", file.string("absolutePath"));
  EXPECT_EQ(tree.path(), file.string("directory"));
  EXPECT_EQ(".txt", file.string("extension"));
  EXPECT_EQ("text/plain", file.string("mimeType"));
  EXPECT_EQ("1.21 KB", file.string("sizeFormatted"));
  EXPECT_EQ(false, file["permissions"]["executable"].boolean());

  const auto root = call_path("getFileInfo", ".");
  EXPECT_EQ("directory", root.string("type"));
  EXPECT_TRUE(root["extension"].is(mcp::json_kind::null));
  EXPECT_TRUE(root["mimeType"].is(mcp::json_kind::null));
  EXPECT_EQ(tree.path(), root.string("absolutePath"));
}

TEST_F(tools_files, times_are_written_as_iso_8601) {
  struct time_case {
    std::int64_t seconds;
    long nanoseconds;
    const char* text;
  };
  constexpr time_case cases[] = {{0, 0, "1970-01-01T00:00:00.000Z"},
                                 {1'709'210'096, 123'999'999, "2024-02-29T12:34:56.123Z"},
                                 {-1, 999'000'000, "1969-12-31T23:59:59.999Z"},
                                 {4'107'542'400, 0, "2100-03-01T00:00:00.000Z"}};
  tree.file("f");
  for (const auto& each : cases) {
    const timespec times[] = {{each.seconds, each.nanoseconds}, {each.seconds, each.nanoseconds}};
    ASSERT_EQ(0, ::utimensat(AT_FDCWD, (tree / "f").c_str(), times, 0));
    EXPECT_EQ(each.text, call_path("getFileInfo", "f").string("modified"));
  }
}

// --- listings ------------------------------------------------------------------------------------

std::string names_in(const tool_answer& listing) {
  std::string names;
  listing["items"].for_each_element([&](mcp::json_view item) {
    names.append(names.empty() ? "" : " ").append(item["name"].string().value_or("?"));
  });
  return names;
}

TEST_F(tools_files, listing_shows_kinds_and_hides_what_is_protected) {
  tree.directory(".perstack/inner");
  tree.directory("lib");
  tree.file("index.ts", std::string(256, ' '));
  tree.link("to-lib", "lib");
  tree.link("to-nothing", "nothing");
  const auto listing = call_path("listDirectory", ".");
  EXPECT_EQ("path items", listing.keys());
  EXPECT_EQ(tree.path(), listing.string("path"));
  EXPECT_EQ("index.ts lib to-lib to-nothing", names_in(listing));
  EXPECT_THAT(
      listing.json,
      AllOf(HasSubstr(
                R"({"name":"index.ts","path":"index.ts","type":"file","size":256,"modified":")"),
            HasSubstr(R"({"name":"lib","path":"lib","type":"directory")")));
  listing["items"].for_each_element([&](mcp::json_view item) {
    const bool link = item["name"].string().value_or("").starts_with("to-");
    EXPECT_EQ(link, item["symlink"].boolean().value_or(false)) << item.text();
    const bool directory = item["name"].string().value_or("").ends_with("lib");
    EXPECT_EQ(directory ? "directory" : "file", item["type"].string()) << item.text();
  });
}

/// Whatever an item's path is, other tools take it: as the directory was named, with the name.
TEST_F(tools_files, paths_in_a_listing_are_those_of_other_tools) {
  tree.directory("src/lib");
  tree.file("src/lib/a.txt", "text");
  tree.file("src/lib/caf\xE9.txt", "latin");
  tree.file("src/lib/q\"\\.txt", "quotes");
  tree.link("to-lib", "src/lib");
  struct {
    std::string asked;
    std::string path; ///< of a.txt
  } const cases[] = {
      {"src/lib", "src/lib/a.txt"},     {"src/lib/", "src/lib/a.txt"},
      {"./src/lib", "./src/lib/a.txt"}, {"src/../src/lib", "src/../src/lib/a.txt"},
      {"to-lib", "to-lib/a.txt"},       {tree / "src/lib", tree / "src/lib/a.txt"},
      {"src/lib/.", "src/lib/./a.txt"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.asked);
    const auto listing = call_path("listDirectory", each.asked);
    EXPECT_EQ(tree / "src/lib", listing.string("path"));
    std::vector<std::string> paths;
    listing["items"].for_each_element(
        [&](mcp::json_view item) { paths.emplace_back(item["path"].string().value_or("")); });
    ASSERT_EQ(3U, paths.size());
    EXPECT_EQ(each.path, paths[0]);
    EXPECT_EQ("text", call_path("readTextFile", paths[0]).string("content"));
    EXPECT_EQ("latin", call_path("readTextFile", paths[1]).string("content"));
    EXPECT_EQ("quotes", call_path("readTextFile", paths[2]).string("content"));
  }
  for (const char* top : {".", "./"})
    EXPECT_THAT(call_path("listDirectory", top).json, HasSubstr(R"("path":"src")")) << top;
}

TEST_F(tools_files, listing_in_parts) {
  for (const char* name : {"a", "b", "c", "d", "e"})
    tree.file(name);
  const auto part = [&](std::string_view arguments) {
    return call("listDirectory", R"({"path":".",)" + std::string(arguments) + "}");
  };
  const auto first = part(R"("limit":2)");
  EXPECT_EQ("a b", names_in(first));
  EXPECT_EQ(5, first.integer("total"));
  EXPECT_EQ(true, first["truncated"].boolean());
  EXPECT_EQ("c d", names_in(part(R"("offset":2,"limit":2)")));
  const auto last = part(R"("offset":4,"limit":2)");
  EXPECT_EQ("e", names_in(last));
  EXPECT_FALSE(last["truncated"].exists());
  EXPECT_EQ("", names_in(part(R"("offset":9)")));
  EXPECT_EQ("path items", part(R"("limit":5)").keys());
  EXPECT_EQ("invalid_argument", part(R"("offset":-1)").error());
  EXPECT_EQ("invalid_argument", part(R"("limit":0)").error());
}

TEST_F(tools_files, a_listing_that_exceeds_a_line_is_cut_and_can_be_continued) {
  serve({.limits = limits{.message_out_bytes_max = 40'000}});
  constexpr std::size_t entries = 150;
  for (std::size_t i = 0; i < entries; ++i)
    tree.file(std::string(200, '"') + std::to_string(1000 + i));
  std::size_t seen = 0;
  for (std::size_t calls = 0; seen < entries && calls < entries; ++calls) {
    const auto listing =
        call("listDirectory", R"({"path":".","offset":)" + std::to_string(seen) + "}");
    ASSERT_FALSE(listing.failed) << listing.json;
    EXPECT_GT(listing["items"].size(), 0U);
    seen += listing["items"].size();
    EXPECT_EQ(seen < entries, listing["truncated"].boolean().value_or(false));
    EXPECT_EQ(static_cast<std::int64_t>(entries), listing.integer("total"));
  }
  EXPECT_EQ(entries, seen);
}

// --- changing ------------------------------------------------------------------------------------

TEST_F(tools_files, editing_replaces_the_first_occurrence_and_keeps_line_endings) {
  tree.file("dos.txt", "one\r\ntwo\r\none\r\n");
  const auto answer =
      call("editTextFile", R"({"path":"dos.txt","oldText":"one\ntwo","newText":"1\n$1"})");
  EXPECT_EQ(1, answer.integer("occurrences"));
  EXPECT_EQ("1\r\n$1\r\none\r\n", tree.content("dos.txt"));
}

TEST_F(tools_files, writing_goes_through_links_and_deleting_does_not) {
  tree.file("target", "old");
  tree.link("link", "target");
  EXPECT_FALSE(call("writeTextFile", R"({"path":"link","text":"new"})").failed);
  EXPECT_EQ("new", tree.content("target"));
  EXPECT_FALSE(call_path("deleteFile", "link").failed);
  EXPECT_EQ("new", tree.content("target"));
}

TEST_F(tools_files, deleting_recursively_spares_what_links_lead_to) {
  tree.directory("keep");
  tree.file("keep/a", "kept");
  tree.directory("gone/deep");
  tree.link("gone/deep/link", "../../keep");
  EXPECT_FALSE(call("deleteDirectory", R"({"path":"gone","recursive":true})").failed);
  EXPECT_FALSE(tree.exists("gone"));
  EXPECT_EQ("kept", tree.content("keep/a"));
}

TEST_F(tools_files, a_tree_with_a_reserved_entry_is_not_deleted_by_half) {
  tree.directory("d/sub/.perstack/keys");
  tree.file("d/first", "kept");
  constexpr const char* arguments = R"({"path":"d","recursive":true})";
  const auto answer = call("deleteDirectory", arguments);
  EXPECT_EQ("protected", answer.error());
  EXPECT_THAT(answer.message(),
              AllOf(HasSubstr("reserved"), HasSubstr("nothing was deleted"),
                    HasSubstr("holds d/sub/.perstack"), HasSubstr("--unprotect .perstack")));
  EXPECT_THAT(answer.message(), testing::Not(HasSubstr("keys")));
  EXPECT_EQ("kept", tree.content("d/first"));
  std::filesystem::remove_all(tree / "d/sub/.perstack"); // the control
  EXPECT_FALSE(call("deleteDirectory", arguments).failed);
  EXPECT_FALSE(tree.exists("d"));
}

TEST_F(tools_files, a_file_that_cannot_be_written_is_not_appended_to) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write every file";
  tree.file("fixed", "a");
  ASSERT_EQ(0, ::chmod((tree / "fixed").c_str(), 0400));
  EXPECT_TRUE(call("appendTextFile", R"({"path":"fixed","text":"b"})").failed);
  EXPECT_EQ("a", tree.content("fixed"));
}

TEST_F(tools_files, a_directory_stays_out_of_itself) {
  tree.directory("d/e");
  tree.file("f");
  const auto move = [&](const char* from, const char* to) {
    return call("moveFile",
                R"({"source":")" + std::string(from) + R"(","destination":")" + to + R"("})");
  };
  for (const char* destination : {"d/x", "d/e/x", "d/new/x", "./d/x"}) {
    const auto answer = move("d", destination);
    EXPECT_EQ("invalid_argument", answer.error());
    EXPECT_THAT(answer.message(), testing::HasSubstr("cannot be moved into itself"));
  }
  EXPECT_FALSE(tree.exists("d/new"));
  EXPECT_THAT(move("f", "f/x").message(), testing::Not(testing::HasSubstr("into itself")));
  EXPECT_FALSE(move("d", "dx").failed);
}

TEST_F(tools_files, a_move_to_what_is_there_says_what_would_do) {
  tree.directory("d");
  tree.file("f", "1");
  tree.file("g", "2");
  const auto told = [&](const char* from, const char* to) {
    return call("moveFile",
                R"({"source":")" + std::string(from) + R"(","destination":")" + to + R"("})")
        .message();
  };
  using testing::HasSubstr;
  for (const char* same : {"f", "./f", "d/../f"})
    EXPECT_THAT(told("f", same), HasSubstr("it is the source itself; name another destination"));
  for (const char* directory : {"d", "d/"})
    EXPECT_THAT(told("f", directory), HasSubstr("give the destination d/f"));
  EXPECT_THAT(told("f", "g"), HasSubstr("choose another name")); // the control
  EXPECT_THAT(told("f", "new/"), HasSubstr("leave off the slash at the end to name a file"));
  EXPECT_EQ("1", tree.content("f"));
  EXPECT_EQ("(no error)", call("moveFile", R"({"source":"f","destination":"d/f"})").error());
}

TEST_F(tools_files, what_is_beneath_a_file_names_that_file) {
  tree.directory("d");
  tree.file("d/f", "1");
  const auto arguments = [](std::string_view path) {
    return "{\"path\":" + json_string(path) + ",\"text\":\"x\"}";
  };
  for (const char* path : {"d/f/y", "d/f/y/z", "d/f/", "./d/f/y"})
    EXPECT_THAT(call("writeTextFile", arguments(path)).message(),
                testing::HasSubstr("d/f is a file, not a directory; correct the path"))
        << path;
  for (const char* path : {"new/", "d/new/"})
    EXPECT_THAT(call("writeTextFile", arguments(path)).message(),
                testing::HasSubstr("leave off the slash at the end to name a file"))
        << path;
  EXPECT_THAT(call_path("readTextFile", "d/f/y").message(), testing::HasSubstr("d/f is a file"));
  // The controls: a directory where a file is meant, and a file where a directory is.
  EXPECT_THAT(call("writeTextFile", arguments("d/")).message(),
              testing::HasSubstr("name a file inside it"));
  EXPECT_THAT(call_path("listDirectory", "d/f").message(),
              testing::HasSubstr("a directory was expected"));
}

} // namespace
} // namespace paddock::test
