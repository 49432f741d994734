// SPDX-License-Identifier: MIT

// Whatever is in a tree, a search of it ends when it should and counts what it holds.

#include "support/files/temp_tree.hpp"

#include <paddock/search/find_files.hpp>
#include <paddock/search/ignore_rules.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/search/tree_map.hpp>

#include <malloc.h>

using namespace paddock;

namespace {

constexpr std::size_t mib = std::size_t{1024} * 1024;

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string all;
  while (all.size() + text.size() <= bytes)
    all += text;
  return all;
}

std::string code_of(const error& e) {
  return std::string(wire_name(e.code)) + " " + e.operation;
}

class SearchBounds : public testing::TestWithParam<unsigned> {
protected:
  result<found_files> find(std::string_view wanted, find_options options = {},
                           const root_options& how = {}) {
    const auto where = root::open(tree.path(), how);
    if (!where) return where.error();
    options.threads_max = GetParam();
    return find_files(*where, ".", *glob::compile(wanted), options);
  }

  test::temp_tree tree;
};

INSTANTIATE_TEST_SUITE_P(, SearchBounds, testing::Values(1u, 8u));

/// A rule file of 1 MiB whose rules are asked one by one for thousands of names takes minutes.
TEST_P(SearchBounds, RulesAreAskedAsLongAsThereIsTime) {
  const std::string name(200, 'a');
  for (int i = 0; i < 3'000; ++i)
    tree.file(name + std::to_string(i));
  tree.file(".gitignore", "*\n" + repeated("*a?b\n", mib - 2));
  const auto late = find("*", {.bounds = {.deadline_ms = deadline_in(100)}});
  ASSERT_TRUE(late);
  EXPECT_EQ(error_code::timed_out, late->coverage.ended_early);
  EXPECT_EQ(0u, late->total);                // what no rule was asked about is not told
  tree.file(".gitignore", "*\n*a?b\n!*7\n"); // the control
  const auto whole = find("*", {.bounds = {.deadline_ms = deadline_in(600'000)}});
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->coverage.ended_early);
  EXPECT_EQ(300u, whole->total);
}

TEST_P(SearchBounds, RulesOfTheDirectoriesAboveAreAskedAsLongAsThereIsTime) {
  std::string path;
  for (int i = 0; i < 12; ++i) {
    tree.directory(path += std::string(i == 0 ? "" : "/") + std::string(250, 'a'));
    tree.file(path + "/.gitignore", repeated("*a?b\n", mib));
  }
  const auto where = root::open(tree.path());
  ASSERT_TRUE(where);
  const auto late = find_files(*where, path, *glob::compile("*"),
                               {.threads_max = GetParam(), .bounds = {.deadline_ms = 0}});
  ASSERT_TRUE(late);
  EXPECT_EQ(error_code::timed_out, late->coverage.ended_early);
}

TEST_P(SearchBounds, RulesAreCountedInTheBudget) {
  tree.directory("d");
  tree.file("d/.gitignore", repeated("*a?\n", mib));
  tree.file("d/f");
  memory_budget small(8 * mib), large(512 * mib);
  const auto refused = find("f", {.bounds = {.memory = &small}});
  ASSERT_FALSE(refused);
  EXPECT_EQ("too_large memory budget", code_of(refused.error()));
  EXPECT_EQ(0u, small.held());
  EXPECT_TRUE(find("f", {.bounds = {.memory = &large}}));
  tree.file("d/.gitignore", "*a?\n"); // the control
  EXPECT_TRUE(find("f", {.bounds = {.memory = &small}}));
}

/// Of a search that keeps to a budget: the outcome, or "ok".
std::string within(std::uint64_t bytes, const root& where, std::string_view pattern,
                   search_options options) {
  memory_budget budget(bytes);
  options.bounds = {.memory = &budget};
  const auto found = search_text(where, ".", *text_pattern::compile(pattern), options);
  EXPECT_EQ(0u, found ? 0u : budget.held());
  if (!found) return code_of(found.error());
  // What had no room was not searched, so nobody may take the count for the whole.
  EXPECT_EQ(found->exact, found->no_memory == 0);
  EXPECT_EQ(found->too_large, found->no_memory);
  return "ok, too large: " + std::to_string(found->too_large);
}

TEST_P(SearchBounds, LinesBeforeAPageAreCountedInTheBudget) {
  tree.file("f", repeated("x\n", 4 * mib));
  const auto where = root::open(tree.path());
  ASSERT_TRUE(where);
  search_options far{.offset = 2'000'000, .limit = 10, .threads_max = GetParam()};
  EXPECT_EQ("too_large memory budget", within(32 * mib, *where, "x", far));
  EXPECT_EQ("ok, too large: 0", within(1024 * mib, *where, "x", far));
  far.offset = 10; // the control
  EXPECT_EQ("ok, too large: 0", within(32 * mib, *where, "x", far));
}

TEST_P(SearchBounds, DecodedTextIsCountedInTheBudget) {
  tree.file("f", "\xFF\xFE" + repeated("\x2D\x4E", 8 * mib));
  const auto where = root::open(tree.path());
  ASSERT_TRUE(where);
  const search_options options{.threads_max = GetParam()};
  EXPECT_EQ("ok, too large: 1", within(12 * mib, *where, "x", options));
  EXPECT_EQ("ok, too large: 0", within(32 * mib, *where, "x", options));
  tree.file("f", repeated("\x2D\x4E", 8 * mib)); // the control
  EXPECT_EQ("ok, too large: 0", within(16 * mib, *where, "x", options));
}

TEST_P(SearchBounds, PathsAreCountedInTheBudgetAsLongAsTheyAre) {
  const auto held_by = [&](std::string deep) {
    test::temp_tree names;
    for (int i = 0; i < 12 && !deep.empty(); ++i)
      deep += "/" + std::string(250, 'd');
    for (int i = 0; i < 4'000; ++i)
      names.directory((deep.empty() ? "" : deep + "/") + std::to_string(i));
    const auto where = root::open(names.path());
    memory_budget budget(8 * mib);
    const auto found = find_files(*where, ".", *glob::compile("absent"),
                                  {.threads_max = GetParam(), .bounds = {.memory = &budget}});
    return found ? std::string("ok") : code_of(found.error());
  };
  EXPECT_EQ("too_large memory budget", held_by("d"));
  EXPECT_EQ("ok", held_by("")); // the control
}

TEST_P(SearchBounds, HiddenIgnoreFilesHaveNoEffect) {
  tree.directory("d");
  for (const char* file : {".ignore", ".gitignore", "d/.ignore", "d/.gitignore"})
    tree.file(file, "secret\n");
  tree.file("secret");
  tree.file("d/secret");
  const auto names = [&](const root_options& how) {
    const auto found = find("secret", {}, how);
    return found ? std::pair(found->total, found->coverage.ignored_by.size())
                 : std::pair(std::uint64_t{99}, std::size_t{99});
  };
  const protected_name ignore{".ignore", protection::hidden}, git{".gitignore", protection::hidden};
  EXPECT_EQ(std::pair(std::uint64_t{0}, std::size_t{2}), names({})); // the control
  EXPECT_EQ(std::pair(std::uint64_t{0}, std::size_t{2}), names({.protected_names = {ignore}}));
  EXPECT_EQ(std::pair(std::uint64_t{2}, std::size_t{0}), names({.protected_names = {ignore, git}}));
  const auto where = root::open(tree.path(), {.protected_names = {ignore, git}});
  ASSERT_TRUE(where);
  const auto below = find_files(*where, "d", *glob::compile("secret"));
  ASSERT_TRUE(below);
  EXPECT_EQ(1u, below->total);
  // Also not under another name.
  const auto held = root::open(tree.path(), {.protected_names = {ignore}});
  ASSERT_TRUE(held);
  for (const char* file : {".gitignore", "d/.ignore", "d/.gitignore"})
    ASSERT_EQ(0, ::unlink((tree / file).c_str()));
  ASSERT_EQ(0, ::rename((tree / ".ignore").c_str(), (tree / ".gitignore").c_str()));
  const auto renamed = find_files(*held, ".", *glob::compile("secret"));
  ASSERT_TRUE(renamed);
  EXPECT_EQ(2u, renamed->total);
}

/// Lines that a slow pattern takes long for.
TEST_P(SearchBounds, LinesAreSearchedAsLongAsThereIsTime) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  std::string line, text; // of which a deterministic automaton makes ever new states
  for (std::uint32_t random = 1; text.size() < 12 * mib;) {
    random = random * 1'664'525 + 1'013'904'223;
    line += static_cast<char>('a' + (random >> 24) % 26);
    if (line.size() == 79) text += std::exchange(line, "") + '\n';
  }
  tree.file("f", text);
  const auto where = root::open(tree.path());
  const auto slow = text_pattern::compile("[a-m][a-z]{60}[0-9]");
  ASSERT_TRUE(where && slow);
  const auto late = search_text(
      *where, ".", *slow, {.threads_max = GetParam(), .bounds = {.deadline_ms = deadline_in(300)}});
  ASSERT_TRUE(late);
  EXPECT_EQ(error_code::timed_out, late->coverage.ended_early);
  EXPECT_FALSE(late->exact);
  tree.file("f", text.substr(0, 800) + text.substr(0, 70) + "1\n"); // the control
  const auto all = search_text(*where, ".", *slow, {.threads_max = GetParam()});
  ASSERT_TRUE(all);
  EXPECT_EQ(1u, all->total_matches);
}

/// Which is given less at once.
TEST_P(SearchBounds, ALargeProgramIsSearchedAsLongAsThereIsTime) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  tree.file("f", repeated(std::string(2'000, 'a') + "\n", 4 * mib));
  const auto where = root::open(tree.path());
  const auto large = text_pattern::compile("(.?){1000}y");
  ASSERT_TRUE(where && large);
  const auto late =
      search_text(*where, ".", *large,
                  {.threads_max = GetParam(), .bounds = {.deadline_ms = deadline_in(300)}});
  ASSERT_TRUE(late);
  EXPECT_EQ(error_code::timed_out, late->coverage.ended_early);
  tree.file("f", std::string(2'000, 'a') + "y\n"); // the control
  const auto all = search_text(*where, ".", *large, {.threads_max = GetParam()});
  ASSERT_TRUE(all);
  EXPECT_EQ(1u, all->total_matches);
}

TEST_P(SearchBounds, GlobsAreAskedAsLongAsThereIsTime) {
  std::string path, wanted = "{a";
  for (int i = 0; i < 1'000; ++i)
    path += "a/";
  tree.directory(path);
  for (int i = 1; i < 900; ++i)
    wanted += ",a";
  wanted += "}/**" + repeated("/a", 1'000) + "/b";
  const auto late = find(wanted, {.bounds = {.deadline_ms = deadline_in(200)}});
  ASSERT_TRUE(late);
  EXPECT_EQ(error_code::timed_out, late->coverage.ended_early);
  const auto whole = find("a/**/a/a"); // the control
  ASSERT_TRUE(whole);
  EXPECT_EQ(998u, whole->total);
}

/// What the allocator has given out.
std::size_t allocated() {
  const auto all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
}

TEST(RulesInMemory, AreAsLargeAsTheAllocatorSays) {
  const struct {
    const char* name;
    std::string text;
  } cases[] = {
      {"wildcards", repeated("*a?\n", mib)},
      {"names", repeated("n\n", mib)},
      {"extensions", repeated("*.c\n", mib)},
      {"one long pattern", repeated("a?", mib)},
      {"sets", repeated("[ab]c/\n", mib)},
      {"many components", repeated("a/", mib)},
      {"long names", repeated(std::string(100, 'n') + "\n", mib)},
      {"no rule", repeated("# comment\n\n", mib)},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const std::size_t before = allocated();
    const ignore_rules rules(each.text);
    const std::size_t held = allocated() - before;
    if (before == 0) GTEST_SKIP() << "this allocator does not tell";
    EXPECT_LE(held, rules.held_bytes() * 2 + 4096);
    EXPECT_GE(held * 3 / 2 + 4096, rules.held_bytes());
    EXPECT_LE(held, ignore_rules::held_bytes_max(each.text) + 4096);
  }
}

} // namespace
