// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"

#include <paddock/search/glob.hpp>

#include <ostream>

using paddock::error_code;
using paddock::glob;

namespace {

struct match_case {
  const char* glob;
  const char* path;
  bool matches;
};

void PrintTo(const match_case& c, std::ostream* os) {
  // Reports are UTF-8, and a path any bytes.
  *os << testing::PrintToString(std::string(c.glob)) << " on "
      << testing::PrintToString(std::string(c.path));
}

class Glob : public testing::TestWithParam<match_case> {};

TEST_P(Glob, Matches) {
  const auto compiled = glob::compile(GetParam().glob);
  ASSERT_TRUE(compiled) << compiled.error().operation;
  EXPECT_EQ(GetParam().matches, compiled->matches(GetParam().path));
}

constexpr match_case match_cases[] = {
    // names, at any depth
    {"*.cpp", "a.cpp", true},
    {"*.cpp", "src/deep/a.cpp", true},
    {"*.cpp", "a.cpp.orig", false},
    {"a?c", "x/abc", true},
    {"a?c", "x/ac", false},
    {"Makefile", "lib/Makefile", true},
    {"Makefile", "lib/makefile", false},
    {".*", "src/.clang-format", true},
    {"*", "anything", true},
    {"**", "a/b/c", true},
    // the whole path
    {"src/*.cpp", "src/a.cpp", true},
    {"src/*.cpp", "src/x/a.cpp", false},
    {"src/*.cpp", "lib/src/a.cpp", false},
    {"/a.cpp", "a.cpp", true},
    {"./src/*.cpp", "src/a.cpp", true},
    {"./a.cpp", "a.cpp", true},
    {"./a.cpp", "src/a.cpp", false},
    {"././*.cpp", "src/a.cpp", false},
    {"./{a,b}.cpp", "src/b.cpp", false},
    {"src/./a.cpp", "src/a.cpp", true},
    {"src/././a.cpp", "src/a.cpp", true},
    {"./..a", "..a", true},
    {"src/**/*.cpp", "src/a.cpp", true},
    {"src/**/*.cpp", "src/x/y/a.cpp", true},
    {"src/**", "src/x/y", true},
    {"src/**", "src", false},
    {"**/test/*", "test/a", true},
    {"**/test/*", "a/b/test/c", true},
    {"**/test/*", "a/test/b/c", false},
    {"a/**/b/**/c", "a/b/c", true},
    {"a/**/b/**/c", "a/x/b/y/z/c", true},
    {"a/**/b/**/c", "a/x/c", false},
    {"a**/b", "axx/b", true}, // not a whole component: like one star
    {"a**/b", "ax/x/b", false},
    // contents of directories
    {"build/", "build/x", true},
    {"build/", "lib/build/x/y", true},
    {"build/", "build", false},
    {"lib/build/", "lib/build/x", true},
    {"lib/build/", "a/lib/build/x", false},
    // sets
    {"[a-c].h", "b.h", true},
    {"[!a-c].h", "b.h", false},
    {"[^a-c].h", "d.h", true},
    {"[]x].h", "].h", true},
    {"[a-].h", "-.h", true},
    {"[[:digit:]x]", "7", true},
    {"[[:digit:]x]", "x", true},
    {"[[:upper:]]*", "lower", false},
    {"a[/]b", "a/b", false},
    // characters, not bytes
    {"?.md", "中.md", true},
    {"??.md", "中.md", false},
    {"[äöü].txt", "ö.txt", true},
    {"[!a].txt", "ö.txt", true},
    {"[一-龥]*", "文档.md", true},
    {"?", "\xFF", true}, // a byte that is no character counts as one
    {"*\xFF", "a\xFF", true},
    // braces
    {"*.{c,h}", "a/b.h", true},
    {"*.{c,h}", "a/b.hpp", false},
    {"*.{c,h}{,pp}", "b.hpp", true},
    {"{src,lib}/**/*.{ts,tsx}", "lib/x/y.tsx", true},
    {"{*.md,docs/*}", "a/b.md", true},
    {"{*.md,docs/*}", "docs/x", true},
    {"{a{b,c},d}", "ac", true},
    {"{a{b,c},d}", "a", false},
    {"[{]a,b}", "{a,b}", true},
    {"[[:a]{b,c}:]]", "ab:]", false}, // no class: the set ends at the first bracket
    {"[[:a]{b,c}:]]", "ab:]]", true},
    {"[a-[:x:]{b,c}]", ":b]", true}, // nor behind a dash
    {"\\{a,b}", "{a,b}", true},
    {"a}", "a}", true},
    {"{1..3}", "1..3", true},
    // escapes
    {"\\*.c", "*.c", true},
    {"\\*.c", "a.c", false},
    {"[\\]].c", "].c", true},
};

INSTANTIATE_TEST_SUITE_P(Table, Glob, testing::ValuesIn(match_cases));

struct refused_case {
  std::string name;
  std::string glob;
  error_code code;
};

/// As many as a glob may have.
std::string many_of(std::string_view part) {
  std::string text;
  while (text.size() + part.size() <= glob::bytes_max)
    text += part;
  return text;
}

TEST(GlobText, IsRefusedWithAReason) {
  std::string many;
  for (int i = 0; i < 20; ++i)
    many += "{a,b}";
  const refused_case cases[] = {
      {"empty", "", error_code::invalid_argument},
      {"leads out", "../*", error_code::invalid_argument},
      {"leads out further down", "a/{b,..}/c", error_code::invalid_argument},
      {"open bracket", "[a-", error_code::invalid_argument},
      {"open brace", "*.{c,h", error_code::invalid_argument},
      {"backslash last", "a\\", error_code::invalid_argument},
      {"unknown class", "[[:nonsense:]]", error_code::invalid_argument},
      {"a million alternatives", many, error_code::too_many},
      {"too long", std::string(glob::bytes_max + 1, 'a'), error_code::too_large},
      {"many braces", std::string(glob::bytes_max, '{'), error_code::invalid_argument},
      {"many brackets", many_of("["), error_code::invalid_argument},
      {"many classes that never end", many_of("[:"), error_code::invalid_argument},
      {"the same before one that does", many_of("[:").substr(4) + "a:]",
       error_code::invalid_argument},
  };
  for (const refused_case& each : cases) {
    const auto compiled = glob::compile(each.glob);
    ASSERT_FALSE(compiled) << each.name;
    EXPECT_EQ(each.code, compiled.error().code) << each.name;
    EXPECT_NE(std::string_view(), compiled.error().operation) << each.name;
  }
}

/// What a pattern of `a`, `/`, `?`, `*` and whole `**` means, spelled out: all ways are tried.
bool obviously_matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  const auto rest = [](std::string_view of, std::size_t n) { return of.substr(n); };
  if (pattern.starts_with("**/")) {
    if (obviously_matches(rest(pattern, 3), path)) return true;
    const std::size_t slash = path.find('/');
    return slash != std::string_view::npos && obviously_matches(pattern, rest(path, slash + 1));
  }
  if (pattern == "**") return true;
  if (pattern.front() == '*') {
    if (obviously_matches(rest(pattern, 1), path)) return true;
    return !path.empty() && path.front() != '/' && obviously_matches(pattern, rest(path, 1));
  }
  if (path.empty()) return false;
  const bool fits = pattern.front() == '?' ? path.front() != '/' : pattern.front() == path.front();
  return fits && obviously_matches(rest(pattern, 1), rest(path, 1));
}

/// All sequences of up to `count` of `parts`, joined by `separator`.
void for_each_sequence(const std::vector<std::string>& parts, std::string_view separator, int count,
                       const std::function<void(const std::string&)>& visit,
                       const std::string& begin = {}) {
  for (const std::string& part : parts) {
    const std::string next = begin.empty() ? part : begin + std::string(separator) + part;
    visit(next);
    if (count > 1) for_each_sequence(parts, separator, count - 1, visit, next);
  }
}

TEST(GlobPaths, MatchLikeAllWaysTried) {
  std::vector<std::string> paths;
  for_each_sequence({"a", "b", "ab", "ba"}, "/", 4,
                    [&](const std::string& path) { paths.push_back(path); });
  std::size_t matched = 0;
  for_each_sequence({"a", "*", "**", "a*", "?", "*b*"}, "/", 4, [&](const std::string& text) {
    if (text.find('/') == std::string::npos) return; // about names
    const auto compiled = glob::compile(text);
    ASSERT_TRUE(compiled) << text;
    for (const std::string& path : paths) {
      const bool wanted = obviously_matches(text, path);
      matched += wanted;
      ASSERT_EQ(wanted, compiled->matches(path)) << text << " on " << path;
    }
  });
  EXPECT_GT(matched, 10'000u);
}

TEST(GlobPaths, AreToldWithoutTheRoot) {
  const struct {
    const char *text, *root;
    std::optional<std::string> relative;
  } cases[] = {
      {"/ws/src/*.c", "/ws", "src/*.c"},
      {"/ws", "/ws", "**"},
      {"/ws/", "/ws", "**"},
      {"/wsx/a", "/ws", std::nullopt},
      {"/src/*.c", "/ws", std::nullopt},
      {"ws/a", "/ws", std::nullopt},
      {"/hostname", "/", std::nullopt},
      {"/", "/", std::nullopt},
  };
  for (const auto& each : cases)
    EXPECT_EQ(each.relative, paddock::without_root(each.text, each.root)) << each.text;
}

// Would take longer than the universe if stars were tried in all ways.
TEST(GlobPaths, ManyStarsAreNoTrouble) {
  std::string stars, crossing;
  for (int i = 0; i < 500; ++i) {
    stars += "*a";
    crossing += "**/a/";
  }
  const std::string name(5'000, 'a');
  std::string path;
  for (int i = 0; i < 2'000; ++i)
    path += "a/";
  EXPECT_FALSE(glob::compile(stars + "b")->matches(name));
  EXPECT_FALSE(glob::compile(crossing + "b")->matches(path + "c"));
  EXPECT_TRUE(glob::compile(crossing + "c")->matches(path + "c"));
}

} // namespace
