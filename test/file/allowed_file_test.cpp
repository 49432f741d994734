// SPDX-License-Identifier: MIT
#include "support/files/canary.hpp"
#include "support/matchers.hpp"

#include <paddock/file/allowed_file.hpp>

namespace paddock {
namespace {

using test::HoldsValue;
using test::IsError;
using enum error_code;

class AllowedFile : public testing::Test {
protected:
  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
  const root r = test::open_root(canary.ws(), resolver::automatic);
  void file(std::string_view name, std::string_view content) const {
    t.file("ws/" + std::string(name), content);
  }
};

TEST_F(AllowedFile, TheListDecidesByTheLastExtension) {
  struct row {
    std::string_view name;
    bool allowed;
  };
  for (const auto& [name, allowed] : {
           row{"a.md", true},
           row{"a.cs", true},
           row{"a.py", true},
           row{"a.txt", true},
           row{"a.json", true},
           row{"a.yml", true},
           row{"a.yaml", true},
           row{"A.MD", true},
           row{"a.tar.md", true},
           row{"a.md.exe", false},
           row{"a.mdx", false},
           row{"a.", false},
           row{"a", false},
           row{".md", false},
           row{"a.env", false},
           row{"a.md ", false},
       }) {
    file(name, "x\n");
    if (allowed)
      EXPECT_THAT(read_allowed_file(r, name), HoldsValue("x\n")) << name;
    else
      EXPECT_THAT(read_allowed_file(r, name), IsError(unsupported_type)) << name;
  }
}

TEST_F(AllowedFile, TheListCanBeAnother) {
  file("a.md", "x");
  file("a.Rs", "y");
  const allowed_file_options rust{.extensions = {".rs"}};
  EXPECT_THAT(read_allowed_file(r, "a.Rs", rust), HoldsValue("y"));
  EXPECT_THAT(read_allowed_file(r, "a.md", rust), IsError(unsupported_type));
  EXPECT_THAT(read_allowed_file(r, "a.md", {.extensions = {}}), IsError(unsupported_type));
}

TEST_F(AllowedFile, ARefusedExtensionSaysNothingAboutTheFile) {
  for (const char* path : {"absent.exe", "../outside.exe", "/etc/passwd"})
    EXPECT_THAT(read_allowed_file(r, path), IsError(unsupported_type)) << path;
}

TEST_F(AllowedFile, ErrorsOfPaths) {
  t.directory("ws/folder.md");
  ASSERT_EQ(0, ::mkfifo((canary.ws() + "/pipe.md").c_str(), 0600));
  EXPECT_THAT(read_allowed_file(r, "absent.md"), IsError(not_found));
  EXPECT_THAT(read_allowed_file(r, "../absent.md"), IsError(escapes_root));
  EXPECT_THAT(read_allowed_file(r, "folder.md"), IsError(is_a_directory));
  EXPECT_THAT(read_allowed_file(r, "pipe.md"), IsError(not_regular));
  EXPECT_THAT(read_allowed_file(r, ""), IsError(unsupported_type));
}

TEST_F(AllowedFile, LinksDoNotWidenTheList) {
  file("plain.md", "plain");
  file("secret.env", "secret");
  t.file("outside.md", "outside");
  t.link("ws/good.md", "plain.md");
  t.link("ws/renamed.md", "secret.env");
  t.link("ws/escape.md", "../outside.md");
  EXPECT_THAT(read_allowed_file(r, "good.md"), HoldsValue("plain"));
  EXPECT_THAT(read_allowed_file(r, "renamed.md"), IsError(unsupported_type));
  EXPECT_THAT(read_allowed_file(r, "escape.md"), IsError(escapes_root));
}

TEST_F(AllowedFile, TextOnly) {
  file("utf8.md", "\xEF\xBB\xBFgrüß 技能\r\n");
  file("latin.md", "caf\xE9\n");
  file("utf16.md", std::string_view("\xFF\xFEh\0", 4));
  file("nul.md", std::string_view("a\0b", 3));
  file("empty.md", "");
  EXPECT_THAT(read_allowed_file(r, "utf8.md"), HoldsValue("\xEF\xBB\xBFgrüß 技能\r\n"));
  EXPECT_THAT(read_allowed_file(r, "empty.md"), HoldsValue(""));
  for (const char* name : {"latin.md", "utf16.md", "nul.md"})
    EXPECT_THAT(read_allowed_file(r, name), IsError(not_text)) << name;
}

TEST_F(AllowedFile, TheBoundIsInclusive) {
  file("a.md", "12345");
  EXPECT_THAT(read_allowed_file(r, "a.md", {.bytes_max = 5}), HoldsValue("12345"));
  EXPECT_THAT(read_allowed_file(r, "a.md", {.bytes_max = 4}), IsError(too_large));
}

} // namespace
} // namespace paddock
