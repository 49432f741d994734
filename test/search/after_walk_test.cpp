// SPDX-License-Identifier: MIT

// What is done with what a walk has met keeps to the bounds, too. The walk has a copy of them, so
// bounds that change at one of its system calls count for what comes after it alone.

#include "support/fault/faulty_sys.hpp"
#include "support/files/temp_tree.hpp"

#include <paddock/search/find_files.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/search/tree_map.hpp>

#include <time.h>

namespace {

/// The clock that is a second later each time it is looked at.
std::optional<clockid_t> leaping_clock;

} // namespace

// The reserved names are the linker's.
// NOLINTBEGIN
extern "C" int __real_clock_gettime(clockid_t clock, timespec* now);
extern "C" int __wrap_clock_gettime(clockid_t clock, timespec* now);
extern "C" int __wrap_clock_gettime(clockid_t clock, timespec* now) {
  static std::atomic<time_t> leaps = 0;
  const int done = __real_clock_gettime(clock, now);
  if (leaping_clock == clock) now->tv_sec += ++leaps;
  return done;
}
// NOLINTEND

namespace paddock {
namespace {

using test::injection;

class after_walk : public testing::Test {
protected:
  void SetUp() override {
    tree.directory("a/in");
    tree.directory("b");
    for (const char* name : {"a/in/f", "a/g", "b/f"})
      tree.file(name, "x");
  }
  result<tree_map> map(const std::function<void(work_bounds&)>& change) {
    const auto where = root::open(tree.path());
    map_options how{.threads_max = 1};
    const injection meanwhile({.before = [&](std::size_t) { change(how.bounds); }});
    return map_tree(*where, ".", how);
  }
  result<found_files> find(const std::function<void(work_bounds&)>& change) {
    const auto where = root::open(tree.path());
    find_options how{.threads_max = 1};
    const injection meanwhile({.before = [&](std::size_t) { change(how.bounds); }});
    return find_files(*where, ".", *glob::compile("*"), how);
  }
  void file_in(const std::string& directory, const std::string& name, std::string_view text) {
    std::filesystem::create_directories(tree / directory);
    tree.file(directory + "/" + name, text);
  }
  static std::string told(const result<tree_map>& map) {
    std::string text = map ? "" : "error " + std::string(wire_name(map.error().code));
    if (map)
      for (const map_line& line : map->lines)
        (text += text_of(line)) += '\n';
    return text;
  }
  static void nothing(work_bounds&) {}
  static void late(work_bounds& bounds) { bounds.deadline_ms = 0; }

  test::temp_tree tree;
  const std::atomic<bool> cancelled = true;
};

TEST_F(after_walk, a_map_shows_the_first_level_when_time_is_up) {
  const auto whole = map(nothing); // the control
  EXPECT_EQ("a/\n  in/\n    f 1 B\n  g 1 B\nb/\n  f 1 B\n", told(whole));
  EXPECT_FALSE(whole->truncated);
  const auto some = map(late);
  EXPECT_EQ("a/ 2 files, 2 B\nb/ 1 file, 1 B\n", told(some));
  ASSERT_TRUE(some);
  EXPECT_TRUE(some->truncated);
  EXPECT_EQ(error_code::timed_out, some->coverage.ended_early);
}

TEST_F(after_walk, a_list_of_files_says_that_time_is_up) {
  const auto whole = find(nothing); // the control
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->coverage.ended_early);
  const auto some = find(late);
  ASSERT_TRUE(some);
  EXPECT_EQ(whole->paths, some->paths);
  EXPECT_EQ(error_code::timed_out, some->coverage.ended_early);
}

TEST_F(after_walk, nobody_works_on_what_is_cancelled) {
  const auto cancel = [&](work_bounds& bounds) { bounds.cancelled = &cancelled; };
  EXPECT_EQ("error cancelled", told(map(cancel)));
  const auto found = find(cancel);
  ASSERT_FALSE(found);
  EXPECT_EQ(error_code::cancelled, found.error().code);
}

/// Cancelled at any of its system calls, a walk makes few others: what was begun is ended, and
/// nothing is begun.
TEST_F(after_walk, what_is_cancelled_ends_after_a_few_calls) {
  constexpr std::size_t calls_after_max = 24;
  for (int i = 0; i < 40; ++i) {
    tree.directory("many/d" + std::to_string(i));
    for (int f = 0; f < 4; ++f)
      tree.file("many/d" + std::to_string(i) + "/f" + std::to_string(f), "needle\n");
  }
  tree.file("many/.gitignore", "*.o\n");
  const auto where = root::open(tree.path());
  const glob all = *glob::compile("*");
  const auto word = text_pattern::compile("needle", {.syntax = pattern_syntax::literal});
  using run = std::function<error_code(const work_bounds&)>;
  const auto code_of = [](const auto& got) { return got ? error_code{} : got.error().code; };
  const std::pair<const char*, run> walks[] = {
      {"search",
       [&](const work_bounds& bounds) {
         return code_of(search_text(*where, ".", *word, {.threads_max = 1, .bounds = bounds}));
       }},
      {"find",
       [&](const work_bounds& bounds) {
         return code_of(find_files(*where, ".", all, {.threads_max = 1, .bounds = bounds}));
       }},
      {"map",
       [&](const work_bounds& bounds) {
         return code_of(map_tree(*where, ".", {.threads_max = 1, .bounds = bounds}));
       }},
  };
  for (const auto& [name, walk] : walks) {
    SCOPED_TRACE(name);
    const auto calls_when = [&](std::size_t at, error_code& code) {
      std::atomic<bool> stop = false;
      const injection meanwhile({.before = [&](std::size_t call) { stop = stop || call == at; }});
      code = walk({.cancelled = &stop});
      return injection::calls();
    };
    error_code code{};
    const std::size_t whole = calls_when(0, code); // the control: nobody cancels
    EXPECT_EQ(error_code{}, code);
    EXPECT_GT(whole, 5 * calls_after_max);
    for (std::size_t at = 1; at + calls_after_max < whole; ++at) {
      ASSERT_LE(calls_when(at, code), at + calls_after_max) << at;
      ASSERT_EQ(error_code::cancelled, code) << at;
    }
  }
}

/// A link is what it leads to; one that leads nowhere, or out, is a file.
TEST_F(after_walk, links_are_found_as_what_they_lead_to) {
  tree.file(".gitignore", "left*\n");
  for (const char* name : {"left", "b-file", "b/.file", "z"})
    tree.file(name, "x");
  const std::pair<const char*, const char*> links[] = {
      {"to-file", "b-file"},  {"to-dir", "b"},         {"to-link", "to-file"}, {"to-left", "left"},
      {"b/up", "../b-file"},  {"b/dot", ".file"},      {"to-gone", "gone"},    {"to-out", "/tmp"},
      {"to-self", "to-self"}, {"to-slash", "b-file/"}, {"to-here", "."},       {"a/above", ".."}};
  for (const auto& [name, target] : links)
    tree.link(name, target);
  for (const unsigned threads : {1U, 4U}) {
    const auto where = root::open(tree.path());
    const auto found = [&](wanted_kind kind) {
      return find_files(*where, ".", *glob::compile("{to-*,up,dot,above}"),
                        {.kind = kind, .threads_max = threads})
          ->paths;
    };
    EXPECT_EQ(found(wanted_kind::file),
              (std::vector<std::string>{"b/dot", "b/up", "to-file", "to-gone", "to-left", "to-link",
                                        "to-out", "to-self", "to-slash"}));
    EXPECT_EQ(found(wanted_kind::directory),
              (std::vector<std::string>{"a/above", "to-dir", "to-here"}));
  }
}

/// Most links lead to a file beside them: to follow each would take ten times as long.
TEST_F(after_walk, links_to_files_beside_them_take_a_call_each) {
  constexpr std::size_t links = 200;
  const auto where = root::open(tree.path());
  const auto calls = [&] {
    const injection counted({});
    EXPECT_TRUE(find_files(*where, ".", *glob::compile("*"),
                           {.kind = wanted_kind::file, .threads_max = 1}));
    return injection::calls();
  };
  const std::size_t without = calls();
  for (std::size_t i = 0; i < links; ++i)
    tree.link("b/l" + std::to_string(i), "f");
  EXPECT_LE(calls(), without + links + 4);
}

/// A page in the middle is what it is in the whole.
TEST_F(after_walk, pages_are_parts_of_the_whole) {
  tree.directory("a-b");
  tree.directory("c/d/e");
  for (const char* name : {"a-b/x", "a.c", "c/d/e/f", "c/d-e"})
    tree.file(name, "");
  const auto where = root::open(tree.path());
  const glob all = *glob::compile("*");
  for (const found_order order : {found_order::path, found_order::modified}) {
    const auto whole = find_files(*where, ".", all, {.order = order});
    ASSERT_TRUE(whole);
    ASSERT_EQ(14U, whole->paths.size());
    if (order == found_order::path) {
      EXPECT_TRUE(std::ranges::is_sorted(whole->paths));
    }
    for (std::uint64_t offset = 0; offset <= 15; ++offset)
      for (std::uint64_t limit = 0; limit <= 15; ++limit) {
        const auto page =
            find_files(*where, ".", all, {.order = order, .offset = offset, .limit = limit});
        const std::span all_paths(whole->paths);
        const auto rest = all_paths.subspan(std::min<std::size_t>(14, offset));
        const auto want = rest.first(std::min<std::size_t>(rest.size(), limit));
        EXPECT_EQ(std::vector(want.begin(), want.end()), page->paths) << offset << ' ' << limit;
      }
  }
}

/// Whatever thread meets them, and though `a-b` is met before what is in `a`.
TEST_F(after_walk, paths_are_given_in_their_order) {
  for (const std::string name :
       {"a b", "a", "a-b", "a-", "a.c", "a0", "aaaaaaaa", "aaaaaaaa-b", "aaaaaaa"})
    for (const char* below : {"", "/a", "/a-b", "/a/a-b", "/aa"})
      for (const char* file : {"a.c", "a+b", "a00000000"}) {
        file_in("deep/" + name + below, file, "x");
        file_in("alike/beginning-" + name + below, file, "x");
      }
  std::vector<std::string> expected;
  for (const auto& each : std::filesystem::recursive_directory_iterator(tree.path()))
    expected.push_back(std::filesystem::relative(each.path(), tree.path()));
  std::ranges::sort(expected);
  const auto where = root::open(tree.path());
  const glob all = *glob::compile("**");
  for (const unsigned threads : {1U, 2U, 8U}) {
    std::vector<std::string> given;
    const auto found = find_files(*where, ".", all, {.threads_max = threads},
                                  [&](std::string_view path) { given.emplace_back(path); });
    ASSERT_TRUE(found);
    EXPECT_EQ(expected, given) << threads;
    EXPECT_EQ(expected.size(), found->total);
    EXPECT_TRUE(found->paths.empty());
  }
}

/// What is counted by rule is told after the directories with the rules were freed.
TEST_F(after_walk, rules_of_many_directories_are_counted) {
  for (int i = 0; i < 50; ++i) {
    const std::string directory = "d" + std::to_string(i) + "/in";
    file_in(directory, ".gitignore", "*.o\n");
    file_in(directory, "x.o", "x");
    file_in(directory + "/below", "y.o", "x");
  }
  const auto where = root::open(tree.path());
  const auto found = find_files(*where, ".", *glob::compile("*.o"), {.threads_max = 4});
  ASSERT_TRUE(found);
  EXPECT_EQ(0U, found->total);
  EXPECT_EQ(100U, found->coverage.ignored);
  ASSERT_FALSE(found->coverage.ignored_by.empty());
  for (const ignoring_rule& rule : found->coverage.ignored_by) {
    EXPECT_EQ("*.o", rule.rule);
    EXPECT_EQ(2U, rule.entries);
  }
}

TEST_F(after_walk, a_pattern_is_slow_by_the_processor_time_it_takes) {
  if (!have_regular_expressions()) GTEST_SKIP() << "built without RE2";
  tree.file("long", std::string(300'000, 'x') + "needle\n");
  tree.file("lines",
            std::string(10'000, 'x') + "\nneedle\n" + std::string(300'000, 'x') + "needle");
  const auto where = root::open(tree.path());
  const auto matches_with = [&](clockid_t clock, const char* pattern) {
    leaping_clock = clock;
    const auto found = search_text(*where, ".", *text_pattern::compile(pattern));
    leaping_clock.reset();
    return found ? std::to_string(found->total_matches) + (found->exact ? "" : " at least") : "";
  };
  for (const char* pattern : {"[a-z]eedle", "[n-z]e{2}.l.$"}) {        // with and without a literal
    EXPECT_EQ("3", matches_with(CLOCK_MONOTONIC, pattern)) << pattern; // others had the processor
    EXPECT_EQ("1 at least", matches_with(CLOCK_THREAD_CPUTIME_ID, pattern)) << pattern;
  }
}

} // namespace
} // namespace paddock
