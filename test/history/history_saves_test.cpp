// SPDX-License-Identifier: MIT

// What a person saves while a tool of the agent works stays the person's: at whichever system call
// of the tool.

#include "support/campaign.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/mcp/tool_fixture.hpp"

#include <paddock/history/history.hpp>

namespace paddock::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view original = "one\ntwo\n", persons = "one\ntwo\na person's\n";

struct tool_case {
  std::string_view name, tool, arguments;
  std::string_view saved = "d/a"; ///< where the person saves
  bool is_replacing = true;       ///< what is there goes
  std::string_view moved_to{};    ///< where it may have gone by then
};

void PrintTo(const tool_case& each, std::ostream* out) {
  *out << each.name;
}

class HistorySaves : public coding_fixture, public testing::WithParamInterface<tool_case> {
protected:
  void SetUp() override {
    if (!history::have_history()) GTEST_SKIP() << "built without xxHash";
  }
  void make_anew() {
    for (const auto& each : fs::directory_iterator(tree.path()))
      fs::remove_all(each.path());
    fs::remove_all(stores.path() + "/h");
    tree.directory("d");
    tree.file("d/a", original);
    tree.file("d/b", "another\n");
    auto opened = root::open(tree.path());
    auto made = history::store::open(std::make_shared<const root>(*std::move(opened)),
                                     {.directory = stores / "h"});
    ASSERT_TRUE(made) << explain(made.error());
    ASSERT_TRUE((*made)->read_in());
    serve_coding({.history = *std::move(made)});
  }
  /// As editors do. False: there was no such directory any more.
  [[nodiscard]] bool save(const std::string& path) const {
    const std::string beside = tree / "persons-own";
    tree.file("persons-own", persons);
    const bool is_saved = std::rename(beside.c_str(), (tree / path).c_str()) == 0;
    if (!is_saved) fs::remove(beside);
    return is_saved;
  }
  [[nodiscard]] std::string now() const {
    std::string out;
    for (const auto& each : fs::recursive_directory_iterator(tree.path()))
      if (each.is_regular_file())
        out += each.path().string() + ": " +
               tree.content(fs::relative(each.path(), tree.path()).string()) + '\n';
    return out;
  }
  temp_tree stores;
};

TEST_P(HistorySaves, StayThePersons) {
  const tool_case& each = GetParam();
  const std::string path(each.saved);
  std::size_t saved = 0, replaced = 0;
  for (std::size_t at = 1;; at += campaign_step()) {
    make_anew();
    bool is_reached = false, is_saved = false;
    injection injected({.before = [&](std::size_t call) {
      if (call != at) return;
      is_reached = true;
      is_saved = save(path);
    }});
    (void)call(each.tool, each.arguments);
    injected.end();
    if (!is_reached) {
      // The control: where nobody interferes all of it is the agent's.
      (void)call("restore");
      EXPECT_EQ(tree.content("d/a"), original);
      break;
    }
    if (!is_saved) continue;
    ++saved;
    if (!fs::exists(tree / path) || tree.content(path) != persons) ++replaced;
    const std::string left = now();
    const auto back = call("restore");
    const bool is_moved = !each.moved_to.empty() && fs::exists(tree / each.moved_to) &&
                          tree.content(each.moved_to) == persons;
    EXPECT_EQ(tree.content(is_moved ? each.moved_to : path), persons)
        << "at " << at << " after\n"
        << left << "restored: " << back.json;
    if (HasFailure()) return;
  }
  EXPECT_GT(saved, 10 / campaign_step());
  // The control: there was something to lose.
  if (each.is_replacing) {
    EXPECT_GT(replaced, 10 / campaign_step());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tools, HistorySaves,
    testing::Values(
        tool_case{"edit", "editFile",
                  R"({"path":"d/a","edits":[{"oldText":"two","newText":"2"}]})"},
        tool_case{"edit_that_fails", "editFile",
                  R"({"path":"d/a","edits":[{"oldText":"none","newText":"2"}]})", "d/a", false},
        tool_case{"write", "writeTextFile", R"({"path":"d/a","text":"the agent's\n"})"},
        tool_case{"write_new", "writeTextFile", R"({"path":"d/n","text":"the agent's\n"})", "d/n",
                  false},
        tool_case{"append", "appendTextFile", R"({"path":"d/a","text":"more\n"})"},
        tool_case{"remove", "deleteFile", R"({"path":"d/a"})"},
        tool_case{"move", "moveFile", R"({"source":"d/a","destination":"d/n"})", "d/a", true,
                  "d/n"},
        tool_case{"move_onto", "moveFile", R"({"source":"d/a","destination":"d/n"})", "d/n", false},
        tool_case{"remove_directory", "deleteDirectory", R"({"path":"d","recursive":true})"},
        tool_case{"move_directory", "moveFile", R"({"source":"d","destination":"e"})"},
        tool_case{"changes", "applyChanges",
                  R"({"changes":[{"path":"d/a","text":"the agent's\n"},)"
                  R"({"path":"d/b","text":"the agent's\n"}]})"},
        tool_case{"changes_remove", "applyChanges",
                  R"({"changes":[{"path":"d/a","delete":true},{"path":"d/n","text":"new\n"}]})"},
        tool_case{"changes_move", "applyChanges",
                  R"({"changes":[{"path":"d/a","moveTo":"d/n","edits":[)"
                  R"({"oldText":"two","newText":"2"}]}]})"}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace paddock::test
