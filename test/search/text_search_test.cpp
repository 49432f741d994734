// SPDX-License-Identifier: MIT
#include "support/campaign.hpp"
#include "support/files/temp_tree.hpp"

#include <paddock/search/text_search.hpp>

#include <limits>
#include <ostream>

using namespace paddock;

namespace {

/// The matches as a person would see them: path, line, text; `-` instead of `:` beside a match.
std::string told(const text_matches& found) {
  std::string out;
  for (const file_matches& file : found.files) {
    if (file.lines.empty()) out += file.path + ' ' + std::to_string(file.count) + '\n';
    for (const found_line& line : file.lines) {
      const char mark = line.context ? '-' : ':';
      out += file.path + mark + std::to_string(line.line_number) + mark + line.text + '\n';
    }
  }
  return out;
}

/// Every back end: openat2 and the walker, one thread and many.
struct back_end {
  const char* name;
  resolver with;
  unsigned threads;
};

class Search : public testing::TestWithParam<back_end> {
protected:
  void SetUp() override {
    if (GetParam().with == resolver::openat2 &&
        !root::open(tree.path(), {.resolver = GetParam().with}))
      GTEST_SKIP() << "no openat2";
  }
  result<text_matches> search(std::string_view pattern, search_options options = {},
                              const pattern_options& how = {}, std::string_view path = ".") {
    const auto where = root::open(tree.path(), {.resolver = GetParam().with});
    const auto compiled = text_pattern::compile(pattern, how);
    EXPECT_TRUE(compiled) << pattern;
    if (!where || !compiled) return error{};
    options.threads_max = GetParam().threads;
    return search_text(*where, path, *compiled, options);
  }
  std::string found(std::string_view pattern, const search_options& options = {},
                    const pattern_options& how = {}, std::string_view path = ".") {
    const auto matches = search(pattern, options, how, path);
    return matches ? told(*matches) : "error " + std::string(wire_name(matches.error().code));
  }

  test::temp_tree tree;
};

INSTANTIATE_TEST_SUITE_P(, Search,
                         testing::Values(back_end{"openat2", resolver::openat2, 1},
                                         back_end{"openat2_2", resolver::openat2, 2},
                                         back_end{"openat2_8", resolver::openat2, 8},
                                         back_end{"walker_2", resolver::walker, 2}),
                         [](const auto& with) { return std::string(with.param.name); });

TEST_P(Search, FindsLinesInOrderOfPaths) {
  tree.directory("a/b");
  tree.directory("a-b");
  tree.file("a/b/x", "one\nneedle\n");
  tree.file("a/y", "needle");
  tree.file("a-b/z", "\r\nthe needle \r\nno\n");
  tree.file("b", "nothing\n");
  EXPECT_EQ("a-b/z:2:the needle \na/b/x:2:needle\na/y:1:needle\n", found("needle"));
  EXPECT_EQ("a/b/x:2:needle\na/y:1:needle\n", found("needle", {}, {}, "a"));
  EXPECT_EQ("a/y:1:needle\n", found("needle", {}, {}, "a/y"));
  EXPECT_EQ("", found("needles"));
  EXPECT_EQ("error not_found", found("needle", {}, {}, "c"));
  EXPECT_EQ("error escapes_root", found("needle", {}, {}, ".."));
}

TEST_P(Search, FindsEachEntryOnceInOrderOfPaths) {
  for (const char* name : {"d/in", "d-/in", "d1/in", "e"})
    tree.directory(name);
  for (const char* name : {"d!", "d-.x", "d.x", "d/-", "d1.x", "e-", "e0"})
    tree.file(name, "");
  const auto where = root::open(tree.path(), {.resolver = GetParam().with});
  ASSERT_TRUE(where);
  const auto found =
      find_files(*where, ".", *glob::compile("*"), {.threads_max = GetParam().threads});
  ASSERT_TRUE(found);
  const std::vector<std::string> paths = {"d",    "d!", "d-",   "d-.x",  "d-/in", "d.x", "d/-",
                                          "d/in", "d1", "d1.x", "d1/in", "e",     "e-",  "e0"};
  EXPECT_EQ(paths, found->paths);
}

TEST_P(Search, CountsWhatItDoesNotReturn) {
  for (const char* name : {"a", "b", "c", "d"})
    tree.file(name, "x\nx\nno\nx\n");
  const auto page = search("x", {.offset = 4, .limit = 3});
  ASSERT_TRUE(page);
  EXPECT_EQ("b:2:x\nb:4:x\nc:1:x\n", told(*page));
  EXPECT_EQ(12u, page->total_matches);
  EXPECT_EQ(4u, page->total_files);
  EXPECT_EQ(4u, page->searched);
  EXPECT_TRUE(page->exact);
  const auto files = search("x", {.output = search_output::files, .offset = 1, .limit = 2});
  ASSERT_TRUE(files);
  EXPECT_EQ("b 3\nc 3\n", told(*files));
  constexpr auto all = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ("d:2:x\nd:4:x\n", found("x", {.offset = 10, .limit = all}));
  EXPECT_EQ("d 3\n", found("x", {.output = search_output::files, .offset = 3, .limit = all}));
}

TEST_P(Search, ShowsContextOnce) {
  tree.file("f", "1\n2\nx3\n4\nx5\n6\n7\n8\nx9\n");
  EXPECT_EQ("f-2-2\nf:3:x3\nf-4-4\nf:5:x5\nf-6-6\nf-8-8\nf:9:x9\n",
            found("x", {.before = 1, .after = 1}));
  EXPECT_EQ("f-4-4\nf:5:x5\nf-6-6\n",
            found("x", {.before = 1, .after = 1, .offset = 1, .limit = 1}));
}

TEST_P(Search, ShowsMoreOnOneSide) {
  tree.file("f", "1\n2\nx3\n4\n5\nx6\n7\n");
  EXPECT_EQ("f-2-2\nf:3:x3\nf-5-5\nf:6:x6\n", found("x", {.before = 1}));
  EXPECT_EQ("f:3:x3\nf-4-4\nf:6:x6\nf-7-7\n", found("x", {.after = 1}));
  EXPECT_EQ("f-5-5\nf:6:x6\n", found("x", {.before = 1, .offset = 1}));
}

TEST_P(Search, TakesTheOtherLines) {
  constexpr auto others = wanted_lines::not_matching;
  tree.file("a", "x1\n2\n\nx4\n5");
  tree.file("b", "x\nx\n");
  EXPECT_EQ("a:2:2\na:3:\na:5:5\n", found("x", {.lines = others}));
  EXPECT_EQ("a:2:2\na:3:\n", found("x", {.lines = others, .limit = 2}));
  EXPECT_EQ("a 3\n", found("x", {.output = search_output::counts, .lines = others}));
  EXPECT_EQ("a-1-x1\na:2:2\na:3:\na-4-x4\na:5:5\n", found("x", {.lines = others, .before = 1}));
  EXPECT_EQ("b:1:x\nb:2:x\n", found("[1-5]|^$", {.lines = others})); // the control
}

TEST_P(Search, RespectsIgnoreFilesAndSaysSo) {
  tree.directory(".git/info");
  tree.directory("build/deep");
  tree.directory(".github");
  tree.file(".git/config", "needle");
  tree.file(".git/info/exclude", "local\n");
  tree.file(".gitignore", "build/\n*.log\n");
  tree.file("local", "needle");
  tree.file("build/deep/x", "needle");
  tree.file("build/y", "needle");
  tree.file("a.log", "needle");
  tree.file(".github/ci", "needle");
  const auto matches = search("needle");
  ASSERT_TRUE(matches);
  EXPECT_EQ(".github/ci:1:needle\n", told(*matches));
  EXPECT_EQ(3u, matches->coverage.ignored);
  const std::vector<ignoring_rule> rules = {{"local", ".git/info/exclude", 1, 1},
                                            {"build/", ".gitignore", 1, 1},
                                            {"*.log", ".gitignore", 2, 1}};
  EXPECT_EQ(rules, matches->coverage.ignored_by);
  EXPECT_EQ(".github/ci:1:needle\na.log:1:needle\nbuild/deep/x:1:needle\nbuild/"
            "y:1:needle\nlocal:1:needle\n",
            found("needle", {.ignored = ignore_files::disregard}));
  // What is named is searched though it is ignored, as are those in it.
  EXPECT_EQ("build/deep/x:1:needle\nbuild/y:1:needle\n", found("needle", {}, {}, "build"));
  EXPECT_EQ("a.log:1:needle\n", found("needle", {}, {}, "a.log"));
}

TEST_P(Search, TakesGlobs) {
  tree.directory("src/sub");
  tree.file("src/a.c", "x");
  tree.file("src/sub/b.c", "x");
  tree.file("src/b.h", "x");
  tree.file("c.c", "x");
  const std::vector<glob> include = {*glob::compile("*.c")}, exclude = {*glob::compile("sub")};
  EXPECT_EQ("c.c:1:x\nsrc/a.c:1:x\nsrc/sub/b.c:1:x\n", found("x", {.include = include}));
  EXPECT_EQ("c.c:1:x\nsrc/a.c:1:x\nsrc/b.h:1:x\n", found("x", {.exclude = exclude}));
  const auto rule = [](std::string_view text, bool leaves_out = false) {
    return glob_rule{*glob::compile(text), leaves_out};
  };
  const std::vector<glob_rule> some = {rule("src/*.c"), rule("b.*"), rule("*.h", true)},
                               others = {rule("*.c", true), rule("b.c")};
  EXPECT_EQ("src/a.c:1:x\nsrc/sub/b.c:1:x\n", found("x", {.rules = some}));
  EXPECT_EQ("src/a.c:1:x\nsrc/sub/b.c:1:x\n", found("x", {.rules = some}, {}, "src"));
  EXPECT_EQ("src/sub/b.c:1:x\n", found("x", {.rules = others}));
  const std::vector<glob_rule> near{rule("sub/*.c")};
  EXPECT_EQ("src/sub/b.c:1:x\n", found("x", {.rules = near, .rules_from = "src"}));
  EXPECT_EQ("", found("x", {.rules = near})); // the control
}

TEST_P(Search, TellsWhatIsNoText) {
  using namespace std::string_view_literals;
  tree.file("binary", "needle\0"sv);
  tree.file("later", std::string(100'000, 'a') + "\nneedle\n" + '\0');
  tree.file("utf16le", "\xFF\xFEn\0\xE9\0\x3D\xD8\x00\xDE\n\0x\0"sv); // né😀, x
  tree.file("utf16be", "\xFE\xFF\0n\0\xE9\xD8\x3D\n\0"sv.substr(0, 8));
  tree.file("large", std::string(2'000, 'n'));
  tree.file("latin", "n\xE9\n");
  tree.file("bom", "\xEF\xBB\xBFn\n");
  const auto matches = search("^n", {.line_bytes_max = 1'000});
  ASSERT_TRUE(matches);
  EXPECT_EQ("bom:1:n\nlatin:1:n\xE9\nutf16be:1:n\xC3\xA9\xEF\xBF\xBD\nutf16le:1:"
            "n\xC3\xA9\xF0\x9F\x98\x80\n",
            told(*matches));
  EXPECT_EQ(2u, matches->binary);
  EXPECT_EQ(1u, matches->too_large);
  EXPECT_FALSE(matches->exact);
  ASSERT_EQ(1u, matches->coverage.unread.size());
  EXPECT_EQ("large", matches->coverage.unread.front().path);
  EXPECT_EQ(error_code::too_large, matches->coverage.unread.front().why);
  const auto all = search("needle");
  ASSERT_TRUE(all);
  EXPECT_EQ(2u, all->binary);
}

TEST_P(Search, FilesOfAnySizeAreSearchedInPieces) {
  std::string large;
  while (large.size() < test::campaign_part(65u * 1024 * 1024))
    large.append(1023, 'x') += '\n';
  tree.file("large", large + "needle\n");
  const auto found = search("needle");
  ASSERT_TRUE(found);
  EXPECT_EQ(1u, found->total_matches);
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(0u, found->too_large);
}

TEST_P(Search, UTF16InPiecesIsWhatItsTextIs) {
  std::minstd_rand random(7);
  for (const bool is_little : {true, false}) {
    const auto unit = [&](unsigned value) {
      const char high = static_cast<char>(value >> 8), low = static_cast<char>(value & 0xff);
      return is_little ? std::string{low, high} : std::string{high, low};
    };
    std::string wide = unit(0xFEFF), text;
    while (wide.size() < 900'000) { // more than three parts, with halves at their ends
      const auto kind = random() % 40;
      wide += kind == 0 ? unit('\n') : kind < 20 ? unit(0xD83D) + unit(0xDE00) : unit('n');
      text += kind == 0 ? "\n" : kind < 20 ? "\xF0\x9F\x98\x80" : "n";
    }
    tree.file("f", wide);
    const auto decoded = search("nnn", {.limit = 1'000'000});
    tree.file("f", text);
    const auto plain = search("nnn", {.limit = 1'000'000});
    ASSERT_TRUE(decoded && plain);
    EXPECT_GT(plain->total_matches, 1'000u);
    EXPECT_EQ(plain->files, decoded->files);
  }
}

TEST_P(Search, AFileThatIsNamedAndCannotBeSearchedIsAnError) {
  using namespace std::string_view_literals;
  tree.file("binary", "needle\0"sv);
  tree.file("large", std::string(2'000, 'n'));
  tree.file("empty", "");
  EXPECT_EQ("error unsupported_type", found("needle", {}, {}, "binary"));
  EXPECT_EQ("error too_large", found("n", {.line_bytes_max = 1'000}, {}, "large"));
  EXPECT_EQ("", found("n", {}, {}, "empty")); // the control
}

TEST_P(Search, FollowsNoLinkAndWaitsForNothing) {
  tree.directory("real");
  tree.file("real/f", "needle");
  tree.link("link", "real/f");
  tree.link("directory", "real");
  tree.link("out", "/etc");
  ASSERT_EQ(0, ::mkfifo((tree / "fifo").c_str(), 0600));
  EXPECT_EQ("real/f:1:needle\n", found("needle"));
  EXPECT_EQ("real/f:1:needle\n", found("needle", {}, {}, "link")); // named: as reading would
  EXPECT_EQ("error absolute_symlink", found("root", {}, {}, "out"));
}

TEST_P(Search, NeverShowsHiddenEntries) {
  tree.directory(".perstack");
  tree.directory("deep/.perstack");
  tree.file(".perstack/f", "needle");
  tree.file("deep/.perstack/f", "needle");
  tree.file("deep/g", "needle");
  EXPECT_EQ("deep/g:1:needle\n", found("needle", {.ignored = ignore_files::disregard}));
  EXPECT_EQ("error protected", found("needle", {}, {}, ".perstack"));
  // Also not under another name.
  const auto where = root::open(tree.path(), {.resolver = GetParam().with});
  ASSERT_EQ(0, ::rename((tree / ".perstack").c_str(), (tree / "deep/other").c_str()));
  const auto matches = search_text(*where, ".", *text_pattern::compile("needle"));
  ASSERT_TRUE(matches);
  EXPECT_EQ("deep/g:1:needle\n", told(*matches));
}

TEST_P(Search, CutsLongLinesAroundTheMatch) {
  tree.file("f", std::string(1'000, 'a') + "\xC3\xA4needle" + std::string(1'000, 'b'));
  const auto matches = search("needle", {.line_characters_max = 120});
  ASSERT_TRUE(matches);
  const found_line& line = matches->files.at(0).lines.at(0);
  EXPECT_TRUE(line.cut);
  EXPECT_EQ(std::string(99, 'a') + "\xC3\xA4needle" + std::string(14, 'b'), line.text);
}

TEST_P(Search, CutsLinesThatAreNoTextByWhatOneSees) {
  const std::string strays(40'000, '\x80'), ha = "\xE4\xB8\xAD", half = "\xE4\xB8";
  const auto times = [](std::string_view text, int n) {
    std::string all;
    for (; n > 0; --n)
      all += text;
    return all;
  };
  const struct {
    const char* name;
    std::string line, shown;
  } cases[] = {
      {"strays behind", "needle" + strays, "needle" + strays.substr(0, 114)},
      {"strays before", strays + "needle", strays.substr(0, 114) + "needle"},
      {"around", strays + "needle" + strays,
       strays.substr(0, 100) + "needle" + strays.substr(0, 14)},
      {"halves", "needle" + times(half, 200), "needle" + times(half, 57)},
      {"characters", times(ha, 300) + "needle" + times(ha, 300),
       times(ha, 100) + "needle" + times(ha, 14)},
      {"a character and strays", "needle" + ha + strays, "needle" + ha + strays.substr(0, 113)},
  };
  for (const auto& each : cases) {
    tree.file("f", each.line);
    const auto matches = search("needle", {.line_characters_max = 120});
    ASSERT_TRUE(matches && matches->files.size() == 1) << each.name;
    EXPECT_EQ(each.shown, matches->files[0].lines.at(0).text) << each.name;
    EXPECT_TRUE(matches->files[0].lines[0].cut) << each.name;
  }
}

TEST_P(Search, EndsWhenItIsNotWanted) {
  for (int i = 0; i < 50; ++i)
    tree.file("f" + std::to_string(i), "needle\n");
  std::atomic<bool> cancelled = true;
  EXPECT_EQ("error cancelled", found("needle", {.bounds = {.cancelled = &cancelled}}));
  const auto late = search("needle", {.bounds = {.deadline_ms = 0}});
  ASSERT_TRUE(late);
  EXPECT_FALSE(late->exact);
  EXPECT_EQ(error_code::timed_out, late->coverage.ended_early);
  const auto counted = search("needle", {.matches_max = 10});
  ASSERT_TRUE(counted);
  EXPECT_FALSE(counted->exact);
}

struct pattern_case {
  const char* pattern;
  pattern_options how;
  std::string_view text;
  const char* lines; ///< numbers of those that match
};

constexpr pattern_options folded{.letters = letter_case::folded};
constexpr pattern_options literal{.syntax = pattern_syntax::literal};
constexpr pattern_options words{.bounds = match_bounds::whole_words};

const pattern_case pattern_cases[] = {
    {"a.c", {}, "abc\na.c\nac", "1 2 "},
    {"a.c", literal, "abc\na.c\nac", "2 "},
    {"ABC", {.syntax = pattern_syntax::literal, .letters = letter_case::folded}, "xabCx\nab", "1 "},
    {"kelvin", folded,
     "\xE2\x84\xAA"
     "elvin\nKELVIN\nelvin",
     "1 2 "},
    {"task", folded, "ta\xC5\xBFk\nTASK", "1 2 "},
    {"\xC3\x89t\xC3\xA9", folded, "\xC3\xA9t\xC3\x89\nete", "1 "},
    {"\xC3\x89t\xC3\xA9.", {}, "\xC3\x89t\xC3\xA9s\n\xC3\xA9t\xC3\xA9s", "1 "},
    {"foo", words,
     "foo\nfood\n-foo-\n_foo\n\xC3\xA9"
     "foo\nfoo\xE2\x82\xAC\nfoofoo foo",
     "1 3 6 7 "},
    {"foo$", {}, "foo\r\nfoo\nfoo \n", "1 2 "},
    {"[$]x|\\$y|\\Q$\\Ez", {}, "$x\n$y\n$z\nx", "1 2 3 "},
    {"\\Qab\\Qc\\E", {}, "ab\\Qc\nabc\nab\\\\Qc", "1 "}, // in a quote \Q is text
    {"\\Qa\\nb\\E", {}, "a\\nb\nanb", "1 "},
    {"\\Qa$\\Q$\\E$", {}, "a$\\Q$\na$", "1 "},
    {"\\Qa(b", {}, "a(b\nab", "1 "}, // open to the end
    {"^$", {}, "a\n\nb\n", "2 "},
    {"^\\s*$", {}, "\n \n\t\r\nx\n", "1 2 3 "},
    {"a|b", {}, "c\nb\na", "2 3 "},
    {"(foo|bar)baz", {}, "foobaz\nfobaz\nbarbaz", "1 3 "},
    {"x*", {}, "a\n\nb", "1 2 3 "},
    {"[^a]b", {}, "a\nb\nab\ncb", "4 "}, // a class never takes the break
    {"foo[^\\n]*bar", {}, "foobar\nfoo\nbar\nfoo x bar", "1 4 "},
    {"x[^]\\n]y", {}, "x]y\nx\ny\nxay", "4 "},
    {"x[^[:alpha:]\\n$]y", {}, "xay\nx$y\nx1y", "3 "},
    {"a\\\\n", {}, "a\\n\nan", "1 "},
    {"\\p{Han}", {}, "abc\n\xE6\xBC\xA2", "2 "},
    {"(?i)abc", {}, "ABC", "1 "},
    // Each line is a text of its own, whether a literal is looked for first or not.
    {"foo\\z", {}, "foo\nfoox\nfoo", "1 3 "},
    {"o\\z", {}, "foo\nfoox\nfoo", "1 3 "},
    {"\\Afoo", {}, "xfoo\nfoo", "2 "},
    {"(?-m)fo{2}$", {}, "foo\nfoox\nfoo", "1 3 "},
    {"\\Coo", {}, "fx\noo\nfoo", "3 "},
    {"(?i-m:^f)", {}, "xf\nF", "2 "},
    // What is looked for first must not take U+212A for a k, nor U+017F for an s, however named.
    {"[A-Z]+_RESUME", {}, "PM_RESUME\npm_resume\nPM_RE\xC5\xBFUME", "1 "},
    {"[J-L]elvin", {}, "Kelvin\nkelvin\n\xE2\x84\xAA\x65lvin", "1 "},
    {"\xE2\x84\xAA\x65lvin.?", {}, "Kelvin\n\xE2\x84\xAA\x65lvin", "2 "},
    {"\\x{212A}elvin", {}, "Kelvin\n\xE2\x84\xAA\x65lvin", "2 "},
    {"[\\x{2129}-\\x{212B}]elvin", {}, "Kelvin\n\xE2\x84\xAA\x65lvin", "2 "},
    {"ta\\577k", {}, "task\nta\xC5\xBFk", "2 "},
    {"\\p{Lu}elvin", {}, "kelvin\n\xE2\x84\xAA\x65lvin", "2 "},
    {"[^a]elvin", {}, "aelvin\n\xE2\x84\xAA\x65lvin", "2 "},
    {"(?i:k)elvin", {}, "Kelvin\n\xE2\x84\xAA\x65lvin\nELVIN", "1 2 "},
};

TEST(TextPattern, MatchesLines) {
  test::temp_tree tree;
  const auto where = root::open(tree.path());
  ASSERT_TRUE(where);
  for (const pattern_case& each : pattern_cases) {
    const auto compiled = text_pattern::compile(each.pattern, each.how);
    if (!compiled && compiled.error().code == error_code::unsupported &&
        !have_regular_expressions())
      continue;
    ASSERT_TRUE(compiled) << each.pattern << ": " << compiled.error().operation;
    tree.file("f", each.text);
    const auto matches = search_text(*where, ".", *compiled);
    ASSERT_TRUE(matches);
    std::string lines;
    for (const file_matches& file : matches->files)
      for (const found_line& line : file.lines)
        lines += std::to_string(line.line_number) + ' ';
    EXPECT_EQ(each.lines, lines) << each.pattern;
  }
}

TEST(TextPattern, IsRefusedWithAReason) {
  struct refused {
    std::string pattern;
    error_code code;
  };
  const refused cases[] = {
      {"", error_code::invalid_argument},
      {"a\nb", error_code::invalid_argument},
      {"a\\nb", error_code::invalid_argument},
      {"a[\\n]b", error_code::invalid_argument},
      {"[^a]\\n", error_code::invalid_argument},
      {"[^]a]\\n", error_code::invalid_argument},
      {"[]^\\n]", error_code::invalid_argument},
      {"\\Qa\\E\\n", error_code::invalid_argument},
      {"(a", error_code::invalid_argument},
      {"a)", error_code::invalid_argument},
      {"[a", error_code::invalid_argument},
      {"*a", error_code::invalid_argument},
      {"(?=a)", error_code::invalid_argument},
      {"(a)\\1", error_code::invalid_argument},
      {"\xFF", error_code::invalid_argument},
      {"\\pL{100}", error_code::too_large},
      {std::string(5'000, 'a'), error_code::too_large},
  };
  for (const refused& each : cases) {
    const auto compiled = text_pattern::compile(each.pattern);
    ASSERT_FALSE(compiled) << each.pattern;
    if (compiled.error().code == error_code::unsupported && !have_regular_expressions()) continue;
    EXPECT_EQ(each.code, compiled.error().code) << each.pattern;
  }
}

TEST(TextPattern, TakesLargePrograms) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  for (const char* each : {"\\pL\\pL", ".{300}", ".{80,1000}", "\\w{50}", "\\pL{30}",
                           "[\\pL\\pN._-]{1,10}@[\\pL\\pN.-]{1,10}", "(?i)\\pL+_\\pN+"}) {
    const auto compiled = text_pattern::compile(each);
    EXPECT_TRUE(compiled) << each << ": " << compiled.error().operation;
    EXPECT_TRUE(text_pattern::compile(each, {.bounds = match_bounds::whole_words})) << each;
  }
}

/// Lines of many lengths, every so many with the needle, and longer than what is read at once.
std::string many_lines(std::string_view line_break, std::size_t every) {
  std::string text;
  for (std::size_t number = 0; text.size() < 900'000; ++number) {
    text.append(number * 7919 % 211, 'x');
    if (number % every == every - 1) text += "needle";
    text += line_break;
  }
  return text;
}

/// What is to be found in a file named `f`, made line by line.
std::string expected_of(std::string_view text, bool matching, std::size_t around) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto is_match = [&](std::size_t i) {
    return (lines[i].find("needle") != std::string_view::npos) == matching;
  };
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool near = false;
    for (std::size_t j = i - std::min(i, around); j <= i + around && j < lines.size(); ++j)
      near = near || is_match(j);
    if (!near) continue;
    const char mark = is_match(i) ? ':' : '-';
    const std::string_view line = lines[i].substr(0, lines[i].find('\r'));
    out += 'f' + std::string(1, mark) + std::to_string(i + 1) + mark;
    out.append(line) += '\n';
  }
  return out;
}

TEST_P(Search, AFileThatIsReadInPartsIsSearchedAsOne) {
  const struct {
    const char* name;
    std::string text;
  } cases[] = {
      {"many matches", many_lines("\n", 3)},
      {"few matches", many_lines("\n", 5003)},
      {"pairs as line breaks", many_lines("\r\n", 17)},
      {"no line break at the end", many_lines("\n", 29) + "needle"},
      {"a long line",
       many_lines("\n", 31) + std::string(600'000, 'y') + "needle\n" + many_lines("\n", 37)},
      {"one line", std::string(700'000, 'z') + "needle"},
      {"empty lines", std::string(600'000, '\n') + "needle\n"},
  };
  static std::size_t turn = 0; // each back end has others of the cases
  for (const auto& each : cases) {
    tree.file("f", each.text);
    for (const std::size_t around : {0u, 1u, 20u})
      for (const wanted_lines wanted : {wanted_lines::matching, wanted_lines::not_matching}) {
        if (turn++ % test::campaign_step() != 0) continue;
        const search_options options{.lines = wanted,
                                     .before = around,
                                     .after = around,
                                     .limit = 1'000'000,
                                     .line_characters_max = 2'000'000};
        EXPECT_TRUE(expected_of(each.text, wanted == wanted_lines::matching, around) ==
                    found("needle", options))
            << each.name << ", around " << around;
      }
  }
}

TEST_P(Search, TheEndOfALargeFileTellsWhetherItIsText) {
  tree.file("nul", many_lines("\n", 3) + '\0');
  tree.file("mark", "\xEF\xBB\xBF" + many_lines("\n", 1));
  const auto matches = search("^x*needle$", {.output = search_output::counts});
  ASSERT_TRUE(matches);
  EXPECT_EQ(1u, matches->binary);
  ASSERT_EQ(1u, matches->files.size());
  EXPECT_EQ("mark", matches->files[0].path);
  const std::string text = many_lines("\n", 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            static_cast<std::ptrdiff_t>(matches->files[0].count));
}

TEST_P(Search, ALargeFileOfUtf16IsSearched) {
  std::string text = "\xFF\xFE";
  for (const char c : many_lines("\n", 11)) {
    text += c;
    text += '\0';
  }
  tree.file("f", text);
  EXPECT_TRUE(expected_of(many_lines("\n", 11), true, 0) ==
              found("needle", {.limit = 1'000'000, .line_characters_max = 1000}));
}

} // namespace
