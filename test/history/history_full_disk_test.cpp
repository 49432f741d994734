// SPDX-License-Identifier: MIT

// The disk of the store is full from each write on, and at each for once: work goes on, what can no
// longer be undone is told, and the store is whole.

#include "support/fault/faulty_sys.hpp"
#include "support/history/history_fixture.hpp"

using namespace paddock;
using test::IsOk;

namespace {

/// From the write of that number on, counted from 1.
struct full_disk {
  std::size_t from = 0;
  test::lasting lasting = test::lasting::once;
};

/// What a session has told of losses, and what it has done in spite of them.
struct session_outcome {
  bool is_open = false;
  std::vector<std::string> told{}; ///< by each operation, and by the state after it
  bool has_start = false;          ///< from before anything was changed
};

class HistoryFullDisk : public test::history_fixture {
protected:
  using contents = std::map<std::string, std::string>;

  [[nodiscard]] contents all() const {
    contents found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(workspace()))
      if (entry.is_regular_file())
        found[entry.path().string().substr(workspace().size() + 1)] =
            tree.content("ws" + entry.path().string().substr(workspace().size()));
    return found;
  }

  void begin_anew() const {
    for (const auto& entry : std::filesystem::directory_iterator(workspace()))
      std::filesystem::remove_all(entry.path());
    for (const auto& entry : std::filesystem::directory_iterator(state_directory()))
      std::filesystem::remove_all(entry.path());
    for (const char* name : {"a", "d/b", "d/c"})
      write(name, std::string(name) + " before");
    write("large", std::string(700'000, 'l'));
    write("another", std::string(700'000, 'm'));
  }

  [[nodiscard]] std::string now_at(const std::string& path) const {
    return tree.exists("ws/" + path) ? tree.content("ws/" + path) : "";
  }

  /// A first reading, a command, a tool and a checkpoint. The workspace has a disk of its own.
  [[nodiscard]] session_outcome work() const {
    session_outcome out;
    auto where = root::open(workspace());
    const auto opened = history::store::open(std::make_shared<const root>(*std::move(where)),
                                             {.directory = state_directory(), .threads_max = 1});
    out.is_open = opened.has_value();
    if (!opened) {
      out.told.push_back(explain(opened.error()));
      return out;
    }
    history::store& store = **opened;
    const auto note = [&](std::string told) {
      if (!told.empty()) out.told.push_back(std::move(told));
      if (auto trouble = store.state().trouble; !trouble.empty())
        out.told.push_back(std::move(trouble));
    };
    const auto read = store.read_in();
    note(read ? "" : std::string(text(read.error().code)));
    auto command = store.before_command("exec", "work");
    out.has_start = store.state().start != 0;
    write("large", std::string(600'000, 'n'));
    std::filesystem::remove(workspace() + "/d/b");
    write("made", std::string(500'000, 'o'));
    note(command.finish());
    const std::vector<std::string> paths{"a", "d"};
    auto tool = store.before_tool("write", paths);
    write("a", "by the tool");
    write("d/new", "by the tool");
    note(tool.finish());
    const auto made = store.make_checkpoint("after");
    note(made ? "" : std::string(text(made.error().code)));
    return out;
  }

  /// Whole, and back at the start but for what it names: those paths.
  void expect_whole(const contents& before, const session_outcome& outcome) const {
    const auto store = open({}, history::session::look);
    ASSERT_THAT(store->read_in(), IsOk()); // there is room again
    const auto checked = store->verify();
    ASSERT_THAT(checked, IsOk());
    EXPECT_THAT(checked->damaged, testing::IsEmpty());
    ASSERT_FALSE(store->checkpoints().empty());
    EXPECT_EQ(store->state().trouble, "");
    const contents after = all();
    const auto back = store->restore({.to = store->checkpoints().front().number,
                                      .paths = {""},
                                      .force = true,
                                      .by = history::author::other});
    ASSERT_THAT(back, IsOk());
    std::set<std::string> named;
    for (const auto& each : back->left)
      named.insert(each.path);
    for (const auto& each : back->conflicts)
      named.insert(each.path);
    // What could not be kept before it changed stays, and is named.
    for (const auto& [path, bytes] : before)
      if (outcome.has_start) {
        EXPECT_TRUE(now_at(path) == bytes || named.contains(path)) << path;
      }
    if (!outcome.told.empty()) return;
    EXPECT_TRUE(all() == before);
    EXPECT_THAT(named, testing::IsEmpty());
    // The control: with nothing told it goes forward again, too.
    ASSERT_THAT(store->restore({.to = back->before, .paths = {""}, .force = true}), IsOk());
    EXPECT_TRUE(all() == after);
  }

  /// How many writes there were; `failed` tells whether one found the disk full.
  std::size_t sweep_one(const full_disk& disk, bool& failed) const {
    begin_anew();
    const contents before = all();
    std::size_t writes = 0;
    session_outcome outcome;
    {
      test::injection injected({.os_errno_of = [&](std::string_view name) {
        if (name != "write" && name != "writev") return 0;
        ++writes;
        const bool is_full = disk.lasting == test::lasting::ever
                                 ? disk.from != 0 && writes >= disk.from
                                 : writes == disk.from;
        return is_full ? ENOSPC : 0;
      }});
      outcome = work();
      injected.end();
      failed = test::injection::failed() != 0;
    }
    EXPECT_EQ(tree.content("ws/a"), outcome.is_open ? "by the tool" : "a before");
    if (failed && disk.lasting == test::lasting::ever) {
      EXPECT_THAT(outcome.told, testing::Not(testing::IsEmpty()));
    }
    if (!failed) {
      EXPECT_THAT(outcome.told, testing::IsEmpty());
    }
    expect_whole(before, outcome);
    return writes;
  }
};

TEST_F(HistoryFullDisk, FromEachWriteOnAndAtEach) {
  bool failed = false;
  const std::size_t writes = sweep_one({}, failed); // the control
  ASSERT_FALSE(failed);
  ASSERT_GT(writes, 10u);
  for (const auto lasting : {test::lasting::once, test::lasting::ever})
    for (std::size_t at = 1; at <= writes; ++at) {
      SCOPED_TRACE((lasting == test::lasting::once ? "only write " : "from write ") +
                   std::to_string(at));
      (void)sweep_one({.from = at, .lasting = lasting}, failed);
      // How many there are differs a little: what is ready at once is written at once.
      EXPECT_TRUE(failed || at + at / 4 > writes) << "of " << writes;
    }
}

} // namespace
