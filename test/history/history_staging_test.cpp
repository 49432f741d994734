// SPDX-License-Identifier: MIT

// A process of the agent takes what a restore makes ready in the workspace, at whichever of its
// system calls: all is restored or nothing, and the next try restores it.

#include "support/campaign.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/history/history_fixture.hpp"

#include <linux/fs.h>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

enum class thief : unsigned char {
  moves_directory,
  removes_directory,
  replaces_directory,
  moves_files,
  removes_files
};
struct staging_case {
  const char* name;
  thief does;
  bool is_apart; ///< the history lies on another file system
};

class HistoryStaging : public test::history_fixture,
                       public testing::WithParamInterface<staging_case> {
protected:
  [[nodiscard]] std::shared_ptr<history::store> changed() {
    shell("rm -rf * .[a-zA-Z]*; rm -rf ../state/*");
    taken_ = 0;
    write("a.c", "one");
    write("p.txt", "old");
    write("gone", "was");
    write("d/f", "moved");
    write("sub/.envrc", "theirs");
    shell("find * -exec touch -h -d 2001-01-01 {} +");
    auto store = begun();
    run(*store,
        "echo two > a.c; echo new > p.txt; rm gone; mv d e; mkdir n; echo n > n/f; ln -s n l");
    shell("echo person > p.txt");
    return store;
  }
  [[nodiscard]] std::string seen() const {
    std::istringstream rows(now());
    std::string all;
    for (std::string row; std::getline(rows, row);)
      if (!row.empty() && !row.starts_with("/taken")) all += row + '\n';
    return all;
  }
  [[nodiscard]] std::vector<fs::path> staged() const {
    std::vector<fs::path> found;
    for (const auto& top : fs::directory_iterator(workspace())) {
      if (!top.path().filename().string().starts_with(".paddock-tmp-")) continue;
      if (GetParam().does < thief::moves_files) return {top.path()};
      std::error_code gone;
      for (const auto& each : fs::directory_iterator(top.path(), gone))
        found.push_back(each.path());
    }
    return found;
  }
  [[nodiscard]] bool has_prey() const { return !staged().empty(); }
  void steal() {
    std::error_code gone;
    for (const fs::path& each : staged()) {
      const fs::path aside = workspace() + "/taken" + std::to_string(taken_++);
      const bool is_removed =
          GetParam().does == thief::removes_directory || GetParam().does == thief::removes_files;
      is_removed ? (void)fs::remove_all(each, gone) : fs::rename(each, aside, gone);
      if (GetParam().does == thief::replaces_directory) fs::create_directory(each, gone);
    }
  }
  /// Whether what the person wrote is somewhere: in the workspace, or in the history.
  [[nodiscard]] bool has_persons(history::store& of) const {
    for (const auto& each : fs::recursive_directory_iterator(workspace()))
      if (each.is_regular_file() &&
          tree.content(each.path().string().substr(tree.path().size() + 1)) == "person\n")
        return true;
    for (const history::checkpoint& each : of.checkpoints())
      if (of.restore({.to = each.number, .paths = {"p.txt"}, .force = true}) &&
          tree.content("ws/p.txt") == "person\n")
        return true;
    return false;
  }

private:
  unsigned taken_ = 0;
};

TEST_P(HistoryStaging, AllOrNothingAndTheNextTryWorks) {
  const history::restore_request request{.force = true};
  std::string after;
  {
    const auto store = changed();
    ASSERT_THAT(store->restore(request), IsOk());
    after = seen();
  }
  const std::size_t step = (GetParam().is_apart ? 7 : 1) * test::campaign_step();
  std::size_t at = 1, failed = 0;
  for (;; at += step) {
    const auto store = changed();
    const std::string before = seen();
    std::size_t chances = 0;
    unsigned renames = 0;
    const auto errno_of = [&](std::string_view name) {
      const bool is_meant = GetParam().is_apart && name == "renameat2" &&
                            test::injection::rename_flags() == RENAME_NOREPLACE;
      return is_meant && ++renames == 1 ? EXDEV : 0;
    };
    const auto disturb = [&](std::size_t) {
      if (has_prey() && ++chances == at) steal();
    };
    test::injection injected({.os_errno_of = errno_of, .before = disturb});
    const auto back = store->restore(request);
    injected.end();
    if (chances < at) break;
    failed += back ? 0U : 1U;
    const std::string why = back ? "" : explain(back.error());
    // What was set aside is in reach on another file system: what is taken there is named.
    const bool is_told = GetParam().is_apart && why.find("look at ") != why.npos;
    if (!is_told) {
      EXPECT_EQ(seen(), back ? after : before) << "at " << at << ": " << why;
    }
    if (!back && !is_told) {
      EXPECT_NE(why.find("nothing was restored; try again"), why.npos) << why;
    }
    EXPECT_THAT(store->restore(request), IsOk());
    EXPECT_EQ(seen(), after) << "the next try, at " << at << ": " << why;
    EXPECT_TRUE(GetParam().does == thief::removes_directory ||
                GetParam().does == thief::removes_files || has_persons(*store))
        << at << ": " << why;
    if (HasFailure()) break;
  }
  // The control. One that replaces an empty directory is in nobody's way.
  EXPECT_GT(GetParam().does == thief::replaces_directory ? at - 1 : failed, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    , HistoryStaging,
    testing::Values(staging_case{"MovesTheDirectory", thief::moves_directory, false},
                    staging_case{"MovesTheDirectoryApart", thief::moves_directory, true},
                    staging_case{"RemovesTheDirectory", thief::removes_directory, false},
                    staging_case{"RemovesTheDirectoryApart", thief::removes_directory, true},
                    staging_case{"ReplacesTheDirectory", thief::replaces_directory, false},
                    staging_case{"ReplacesTheDirectoryApart", thief::replaces_directory, true},
                    staging_case{"MovesFilesApart", thief::moves_files, true},
                    staging_case{"RemovesFilesApart", thief::removes_files, true}),
    [](const auto& each) { return each.param.name; });

} // namespace
