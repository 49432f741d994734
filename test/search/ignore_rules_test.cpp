// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"

#include <paddock/search/ignore_rules.hpp>
#include <paddock/search/ignore_tree.hpp>

using paddock::entry_kind;
using paddock::ignore_rules;
using paddock::ignore_source;
using paddock::ignore_tree;
using paddock::ignore_verdict;

namespace {

constexpr auto ignored = ignore_verdict::ignored;
constexpr auto included = ignore_verdict::included;
constexpr auto unmatched = ignore_verdict::unmatched;

struct rule_case {
  std::string_view text;
  const char* path; ///< with a slash at the end: a directory
  ignore_verdict verdict;
};

class IgnoreRules : public testing::TestWithParam<rule_case> {};

TEST_P(IgnoreRules, Decide) {
  std::string_view path = GetParam().path;
  const entry_kind kind = path.ends_with('/') ? entry_kind::directory : entry_kind::file;
  if (path.ends_with('/')) path.remove_suffix(1);
  EXPECT_EQ(GetParam().verdict, ignore_rules(GetParam().text).match(path, kind).verdict)
      << GetParam().text;
}

using namespace std::string_view_literals;
constexpr rule_case rule_cases[] = {
    {"target", "target", ignored},
    {"target", "a/target", ignored},
    {"target/", "target", unmatched},
    {"target/", "target/", ignored},
    {"/target", "a/target", unmatched},
    {"a/target", "a/target", ignored},
    {"a/target", "b/a/target", unmatched},
    {"*.o", "a/b.o", ignored},
    {"*.o", "a/b.o.c", unmatched},
    {"*.o\n!keep.o", "keep.o", included},
    {"!keep.o\n*.o", "keep.o", ignored},
    {"*.o\n!*.o\n*.o/", "a.o", included},
    {"*.o\n!*.o\n*.o/", "a.o/", ignored},
    {"# no rule", "# no rule", unmatched},
    {"\\#name", "#name", ignored},
    {"\\!name", "!name", ignored},
    {"name   ", "name", ignored},
    {"name\\ ", "name ", ignored},
    {"name\\ ", "name", unmatched},
    {"name\r\nother\r\n", "name", ignored},
    {"\xEF\xBB\xBFname", "name", ignored},
    {"a\0b"sv, "a", ignored},
    {"**/foo", "a/b/foo", ignored},
    {"foo/**", "foo/a", ignored},
    {"foo/**", "foo/", unmatched},
    {"a/**/b", "a/b", ignored},
    {"a/**/b", "a/x/y/b", ignored},
    {"/**", "a/b", ignored},
    {"foo**//", "foo/", ignored}, // `**/` at the end may be nothing
    {"a**/b", "a/x/b", ignored},  // as git has it: what has no wildcard is compared apart
    {"[a-c]x", "bx", ignored},
    {"[a", "[a", unmatched},
    {"a\\", "a\\", unmatched},
    {"?", "\xC3\xA9", unmatched}, // bytes
    {"??", "\xC3\xA9", ignored},
    {"!", "!", unmatched},
    {"/", "a", unmatched},
    {"", "a", unmatched},
};

INSTANTIATE_TEST_SUITE_P(Table, IgnoreRules, testing::ValuesIn(rule_cases));

TEST(IgnoreRulesOfAFile, AreNamedWithTheirLines) {
  const ignore_rules rules("# first\n\n*.o\n  \n!keep.o  \nbuild/\n");
  ASSERT_EQ(3u, rules.rules().size());
  EXPECT_EQ("*.o", rules.rules()[0].text);
  EXPECT_EQ(3u, rules.rules()[0].line_number);
  EXPECT_EQ("!keep.o", rules.rules()[1].text);
  EXPECT_TRUE(rules.rules()[1].negated);
  EXPECT_EQ(6u, rules.rules()[2].line_number);
  EXPECT_TRUE(rules.rules()[2].directories_only);
  const auto found = rules.match("x/keep.o", entry_kind::file);
  ASSERT_NE(nullptr, found.rule);
  EXPECT_EQ(5u, found.rule->line_number);
}

std::string decided(const ignore_tree& tree, std::string_view path,
                    entry_kind kind = entry_kind::file) {
  const auto found = tree.match(path, kind);
  if (found.rule == nullptr) return "";
  const std::string mark = found.verdict == included ? "+" : "-";
  return mark + found.file() + ':' + std::to_string(found.rule->line_number);
}

TEST(IgnoreTree, TheNearestFileDecides) {
  ignore_tree tree;
  tree.add("", ignore_source::gitignore, "*.log\n");
  tree.add("a/b", ignore_source::gitignore, "!*.log\n");
  EXPECT_EQ("-.gitignore:1", decided(tree, "x.log"));
  EXPECT_EQ("-.gitignore:1", decided(tree, "a/x.log"));
  EXPECT_EQ("+a/b/.gitignore:1", decided(tree, "a/b/x.log"));
  EXPECT_EQ("+a/b/.gitignore:1", decided(tree, "a/b/c/x.log"));
  EXPECT_EQ("", decided(tree, "a/b/x.txt"));
}

TEST(IgnoreTree, WhatIsInAnIgnoredDirectoryStaysIgnored) {
  ignore_tree tree;
  tree.add("", ignore_source::gitignore, "build/\n!build/keep\n");
  tree.add("build", ignore_source::gitignore, "!*\n");
  EXPECT_EQ("-.gitignore:1", decided(tree, "build/keep"));
  EXPECT_EQ("-.gitignore:1", decided(tree, "build/deep/er/x"));
}

TEST(IgnoreTree, KindsOfFilesHaveAnOrder) {
  ignore_tree tree;
  tree.add("", ignore_source::info_exclude, "x\ny\nz\n");
  tree.add("", ignore_source::gitignore, "!x\n!y\n");
  tree.add("", ignore_source::dot_ignore, "x\n");
  tree.add("a", ignore_source::gitignore, "!x\n");
  EXPECT_EQ("-.ignore:1", decided(tree, "x"));
  EXPECT_EQ("-.ignore:1", decided(tree, "a/x"));
  EXPECT_EQ("+.gitignore:2", decided(tree, "y"));
  EXPECT_EQ("-.git/info/exclude:3", decided(tree, "a/z"));
}

TEST(IgnoreTree, ARepositoryEndsTheRulesOfTheOneAround) {
  ignore_tree tree;
  tree.add("", ignore_source::gitignore, "x\n");
  tree.add("", ignore_source::dot_ignore, "y\n");
  EXPECT_EQ("-.gitignore:1", decided(tree, "sub/x")); // the control
  tree.add_repository("sub");
  EXPECT_EQ("", decided(tree, "sub/x"));
  EXPECT_EQ("-.ignore:1", decided(tree, "sub/y"));
  EXPECT_EQ("-.gitignore:1", decided(tree, "other/x"));
}

} // namespace
