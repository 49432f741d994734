// SPDX-License-Identifier: MIT

// The other end of an import: the folder that is copied changes while it is read. What arrives is
// the folder's own, and of one folder.

#include "attacks.hpp"
#include "support/matchers.hpp"
#include "support/skill_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>

namespace paddock::test {
namespace {

struct source_attack {
  const char* name;
  const char* a;
  const char* b;
  bool may_be_the_other = false; ///< the source's own name: who names it takes what is there
};

constexpr source_attack source_attacks[] = {
    {"directory_with_link", "src/sub", "stash/x"},
    {"file_with_link", "src/sub/f.txt", "stash/fx"},
    {"directory_with_file", "src/sub", "stash/file"},
    {"file_with_directory", "src/sub/f.txt", "stash/directory"},
    {"source_with_other_source", "src", "other", true},
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class import_source_test
    : public skill_fixture,
      public testing::WithParamInterface<std::tuple<attacker_kind, source_attack>> {
protected:
  import_source_test() {
    for (const auto& [at, mark] : {std::pair("src", "INSIDE"), std::pair("other", "OUTSIDE")}) {
      const std::string top = at;
      t.directory(top + "/sub/deep");
      t.file(top + "/SKILL.md", skill_md("imported", mark));
      for (const char* file : {"/sub/f.txt", "/sub/g.txt", "/sub/deep/h.txt"})
        t.file(top + file, mark);
    }
    t.directory("stash/directory");
    t.file("stash/directory/inner", "INSIDE");
    t.file("stash/file", "INSIDE");
    t.link("stash/x", "../out");
    t.link("stash/fx", "../../out/f");
  }
  static const source_attack& by() { return std::get<1>(GetParam()); }

  /// Every file that has arrived bears the same mark; the number of files.
  int check_arrived() const {
    int files = 0;
    int outside = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(skill_path("imported"))) {
      EXPECT_FALSE(entry.is_symlink()) << entry;
      if (!entry.is_regular_file()) continue;
      ++files;
      outside += content_of(entry.path()).find(outside_mark) != std::string::npos ? 1 : 0;
    }
    EXPECT_TRUE(outside == 0 || (by().may_be_the_other && outside == files));
    return files;
  }
};

INSTANTIATE_TEST_SUITE_P(every, import_source_test,
                         testing::Combine(testing::Values(attacker_kind::thread,
                                                          attacker_kind::process),
                                          testing::ValuesIn(source_attacks)),
                         [](const auto& suite) {
                           const bool process = std::get<0>(suite.param) == attacker_kind::process;
                           return std::string(std::get<1>(suite.param).name) +
                                  (process ? "_by_a_process" : "_by_a_thread");
                         });

TEST_P(import_source_test, only_the_folder_arrives) {
  const char* asked = std::getenv("PADDOCK_RACE_ROUNDS");
  const int rounds = asked != nullptr ? std::max(1, std::atoi(asked) / 2) : 100;
  const auto store = open_store();
  const std::string outside = canary.describe_outside();
  long arrived = 0;
  long swaps = 0;
  {
    const attacker enemy(std::get<0>(GetParam()), t / by().a, t / by().b);
    enemy.wait_for_swaps(1);
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      import_report report;
      const auto made =
          store.import(t / "src", {.id = "imported", .overwrite = overwrite::replace}, &report);
      if (!made) {
        EXPECT_NE(made.error().code, error_code::io) << testing::PrintToString(made);
        continue;
      }
      ++arrived;
      EXPECT_GT(check_arrived(), 0);
    }
    swaps = enemy.swaps();
  }
  EXPECT_EQ(canary.describe_outside(), outside);
  if (arrived > 0) {
    EXPECT_TRUE(hidden().empty());
  }
  std::printf(
      "[ rounds   ] import from a folder, %s: %d rounds, %ld exchanges, 0 escapes; ok %ld\n",
      by().name, rounds, swaps, arrived);
}

/// Negative control: what many programs do, look at each entry and then copy it by its path.
void copy_after_look(const std::filesystem::path& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directory(to, failed);
  for (fs::directory_iterator at(from, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    const auto kind = fs::symlink_status(at->path(), ignored).type();
    if (kind == fs::file_type::directory) copy_after_look(at->path(), to / at->path().filename());
    if (kind == fs::file_type::regular)
      fs::copy_file(at->path(), to / at->path().filename(), ignored);
  }
}

class copy_control : public testing::TestWithParam<attacker_kind> {};

INSTANTIATE_TEST_SUITE_P(every, copy_control,
                         testing::Values(attacker_kind::thread, attacker_kind::process),
                         [](const auto& suite) {
                           return suite.param == attacker_kind::process ? "by_a_process"
                                                                        : "by_a_thread";
                         });

TEST_P(copy_control, look_then_copy_takes_what_is_outside) {
  constexpr int tries_max = 200'000;
  const canary_tree canary;
  const auto& t = canary.tree();
  t.directory("src/sub/deep");
  t.file("src/sub/f", "INSIDE");
  t.directory("stash");
  t.link("stash/x", "../out");
  const attacker enemy(GetParam(), t / "src/sub", t / "stash/x");
  for (int i = 1; i <= tries_max; ++i) {
    copy_after_look(t / "src", t / "copy");
    if (content_of(t / "copy/sub/f").find(outside_mark) != std::string::npos ||
        t.exists("copy/sub/secret")) {
      std::printf("[ control  ] look, then copy: lost in try %d\n", i);
      return;
    }
    std::filesystem::remove_all(t / "copy");
  }
  FAIL() << "the attack never worked, so the other tests prove nothing";
}

} // namespace
} // namespace paddock::test
