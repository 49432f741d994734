// SPDX-License-Identifier: MIT

// To whom a change is put down while several processes look, and when one of them dies.

#include "support/history/history_fixture.hpp"

#include <ctime>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

/// Another process that has the store open: it says how far it is, and goes on when it is told to.
class other_process {
public:
  using steps = std::function<void(other_process&)>;
  explicit other_process(const steps& work) {
    EXPECT_EQ(::pipe(to_.data()), 0);
    EXPECT_EQ(::pipe(from_.data()), 0);
    child_ = ::fork();
    if (child_ != 0) return;
    work(*this);
    ::_exit(0);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() {
    for (const int fd : {to_[0], to_[1], from_[0], from_[1]})
      ::close(fd);
  }
  /// In the child: waits for `go_on`.
  void pause() const {
    char byte = 'p';
    if (::write(from_[1], &byte, 1) != 1 || ::read(to_[0], &byte, 1) != 1) ::_exit(2);
  }
  void wait_for_pause() const {
    char byte = 0;
    EXPECT_EQ(::read(from_[0], &byte, 1), 1);
  }
  void go_on() const {
    const char byte = 'g';
    EXPECT_EQ(::write(to_[1], &byte, 1), 1);
  }
  [[nodiscard]] int end() const {
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return status;
  }
  void kill() const {
    EXPECT_EQ(::kill(child_, SIGKILL), 0);
    EXPECT_TRUE(WIFSIGNALED(end()));
  }

private:
  std::array<int, 2> to_{}, from_{};
  pid_t child_ = -1;
};

/// By the clock that marks have.
std::int64_t coarse_now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * 1'000 + now.tv_nsec / 1'000'000;
}

class HistoryAuthors : public test::history_fixture {
protected:
  enum class counted : std::uint8_t { all, under_way };
  [[nodiscard]] std::size_t marks(counted which = counted::under_way) const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(state_directory())) {
      const bool is_mark = entry.path().filename().string().starts_with("mark-");
      if (is_mark && (which == counted::all || entry.file_size() != 0)) ++count;
    }
    return count;
  }
};

TEST_F(HistoryAuthors, WhoLooksDuringACommandOfAnotherProcessTakesNothingFromIt) {
  write("a", "1");
  other_process server([this](other_process& self) {
    const auto store = begun();
    auto recording = store->before_command("exec", "make all");
    write("a", "2");
    write("new1", "n");
    self.pause();
    write("new2", "n");
    if (!recording.finish().empty()) ::_exit(1);
    self.pause();
    const auto back = store->restore({});
    ::_exit(back && back->restored == 3 && back->conflicts.empty() ? 0 : 1);
  });
  server.wait_for_pause();
  EXPECT_EQ(marks(), 1u);
  {
    const auto person = open({}, history::session::look);
    const auto list = person->changes({});
    EXPECT_EQ(told(list), "modified a by exec; created new1 by exec; ");
    ASSERT_TRUE(list);
    EXPECT_EQ(list->changes.front().command, "make all");
    person->look();
  }
  server.go_on();
  server.wait_for_pause();
  EXPECT_EQ(marks(), 0u);
  const auto person = open({}, history::session::look);
  shell("echo mine > mine");
  EXPECT_EQ(told(person->changes({})),
            "modified a by exec; created mine by other; created new1 by exec; created new2 by "
            "exec; ");
  server.go_on();
  EXPECT_EQ(server.end(), 0);
  EXPECT_EQ(tree.content("ws/a"), "1");
  EXPECT_FALSE(fs::exists(workspace() + "/new1"));
  EXPECT_TRUE(fs::exists(workspace() + "/mine"));
}

TEST_F(HistoryAuthors, WhatAKilledCommandDidIsItsOwn) {
  write("a", "1");
  const std::string before = now();
  std::uint64_t start = 0;
  {
    const auto store = begun();
    start = store->state().start;
  }
  other_process server([this](other_process& self) {
    const auto store = open({}, history::session::look);
    const auto recording = store->before_command("exec", "sed -i s/1/2/ a");
    write("a", "2");
    write("new", "n");
    self.pause();
  });
  server.wait_for_pause();
  server.kill();
  EXPECT_EQ(marks(), 1u);
  const auto store = open();
  const auto list = store->changes({.since = start});
  EXPECT_EQ(told(list), "modified a by exec; created new by exec; ");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->changes.front().command, "sed -i s/1/2/ a");
  EXPECT_EQ(marks(), 0u);
  // The control: what comes later is a person's.
  shell("echo mine > mine");
  EXPECT_EQ(told(store->changes({.since = start, .paths = {"mine"}})), "created mine by other; ");
  const auto back = store->restore({.to = start});
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->restored, 2u);
  EXPECT_EQ(tree.content("ws/a"), "1");
  EXPECT_TRUE(fs::exists(workspace() + "/mine"));
}

TEST_F(HistoryAuthors, WhatAKilledToolDidIsItsOwn) {
  write("a", "1");
  write("b", "1");
  std::uint64_t start = 0;
  {
    const auto store = begun();
    start = store->state().start;
  }
  other_process server([this](other_process& self) {
    const auto store = open({}, history::session::look);
    const std::vector<std::string> first{"b"}, paths{"a", "new"};
    (void)store->before_tool("editFile", first).finish(); // its mark is used again
    const auto recording = store->before_tool("applyChanges", paths);
    write("a", "2");
    write("new", "n");
    self.pause();
  });
  server.wait_for_pause();
  EXPECT_EQ(marks(), 1u);
  server.kill();
  shell("echo mine > mine; echo mine > b"); // a person's, before anybody looks
  {
    const auto store = open();
    const auto list = store->changes({.since = start});
    EXPECT_EQ(told(list), "modified a by tool; modified b by other; created mine by other; created "
                          "new by tool; ");
    ASSERT_TRUE(list);
    EXPECT_EQ(list->changes.front().tool, "applyChanges");
    const auto back = store->restore({.to = start});
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(back->restored, 2u);
    EXPECT_EQ(tree.content("ws/a"), "1");
    EXPECT_EQ(tree.content("ws/b"), "mine\n");
    EXPECT_FALSE(fs::exists(workspace() + "/new"));
  }
  EXPECT_EQ(marks(counted::all), 0u);
}

/// What one command has made is read-only for another that begins then, not for the first.
TEST_F(HistoryAuthors, WhatIsReadOnlyForOneCommandMayBeAnothersWork) {
  write(".vscode/a", "1");
  write(".mcp.json", "1");
  const auto store = begun(), another = open({}, history::session::serve);
  const std::vector<std::string> read_only{".envrc", ".mcp.json", ".vscode"};
  const std::string expected = "created .envrc by exec; modified .mcp.json by other; "
                               "modified .vscode/a by other; ";
  auto process = store->before_command("startProcess", "work");
  write(".envrc", "the agent's");
  for (const auto& each : {store, another}) {
    auto beside = each->before_command("exec", "other work");
    for (const char* name : {".envrc", ".mcp.json", ".vscode/a"})
      write(name, tree.content("ws/" + std::string(name)) + "2");
    EXPECT_EQ(beside.finish(history::command_reach::workspace, read_only), "");
    EXPECT_EQ(told(each->changes({.since = store->state().start})), expected);
  }
  EXPECT_EQ(process.finish(history::command_reach::workspace, read_only), "");
  EXPECT_EQ(told(store->changes({})), expected);
}

/// A checkpoint, or another tool's call, at the moment when a tool has written and not yet said so.
TEST_F(HistoryAuthors, WhoLooksDuringAToolTakesNothingFromIt) {
  const auto store = begun_with({{"a", "1"}, {"b", "1"}});
  const std::vector<std::string> a{"a"}, b{"b"}, both{"a", "b"};
  auto recording = store->before_tool("editFile", a);
  write("a", "2");
  ASSERT_THAT(store->make_checkpoint("meanwhile"), IsOk());
  EXPECT_EQ(told(store->changes({})), "modified a by tool; ");
  auto other = store->before_tool("writeTextFile", both);
  write("a", "3");
  write("b", "2");
  const auto another = open({}, history::session::look);
  EXPECT_EQ(told(another->changes({})), "modified a by tool; modified b by tool; ");
  write("c", "a person's");
  EXPECT_EQ(other.finish(), "");
  EXPECT_EQ(recording.finish(), "");
  EXPECT_EQ(told(store->changes({})),
            "modified a by tool; modified b by tool; created c by other; ");
}

/// A store that is open already learns of it as well.
/// With more paths than a mark holds it is a tool's still: of the directories that they are in.
TEST_F(HistoryAuthors, ACallWithVeryManyPathsIsATools) {
  write("in/kept", "1");
  write("mine", "1");
  other_process server([this](other_process& self) {
    const auto store = begun();
    std::vector<std::string> paths;
    for (int i = 0; i < 25'000; ++i)
      paths.push_back("in/" + std::string(200, static_cast<char>('a' + i % 26)) +
                      std::to_string(i));
    auto recording = store->before_tool("write", paths);
    write("in/" + std::string(200, 'a') + "0", "n");
    self.pause();
    if (!recording.finish().empty()) ::_exit(1);
    ::_exit(0);
  });
  server.wait_for_pause();
  const auto person = open({}, history::session::look);
  shell("echo 2 > mine");
  const auto list = person->changes({});
  ASSERT_THAT(list, IsOk());
  EXPECT_TRUE(list->running.empty()); // no command
  EXPECT_EQ(told(list),
            "created in/" + std::string(200, 'a') + "0 by tool; modified mine by other; ");
  server.go_on();
  EXPECT_EQ(server.end(), 0);
}

/// Of two commands that were killed what nobody knows is put down to the one that began last.
TEST_F(HistoryAuthors, WhatTwoKilledCommandsDidIsTheLastOnes) {
  for (int i = 0; i < 8; ++i) { // their marks are found in any order
    const std::string made = "made" + std::to_string(i);
    other_process server([this](other_process& self) {
      const auto store = begun();
      auto first = store->before_command("exec", "first");
      const auto began = coarse_now_ms();
      while (coarse_now_ms() == began) {
      }
      auto second = store->before_command("exec", "second");
      self.pause();
    });
    server.wait_for_pause();
    write(made, "1");
    server.kill();
    const auto list = open({}, history::session::look)->changes({});
    ASSERT_THAT(list, IsOk());
    const auto found = std::ranges::find(list->changes, made, &history::change::path);
    ASSERT_NE(found, list->changes.end());
    EXPECT_EQ(found->command, "second");
  }
}

TEST_F(HistoryAuthors, WhoIsThereWhenAnotherIsKilledPutsItsCommandDown) {
  const auto store = begun_with({{"a", "1"}});
  other_process server([this](other_process& self) {
    const auto own = open({}, history::session::look);
    const auto recording = own->before_command("exec", "work");
    write("a", "2");
    self.pause();
  });
  server.wait_for_pause();
  store->look();
  write("b", "2");
  server.kill();
  EXPECT_EQ(told(store->changes({})), "modified a by exec; created b by exec; ");
  EXPECT_EQ(marks(), 0u);
}

/// What could not be kept is said by the tool that is about to change it.
TEST_F(HistoryAuthors, AFullStoreIsSaidByTheTool) {
  write("large", std::string(300'000, 'x'));
  write("small", "s");
  history::options how;
  how.store_bytes_max = 100'000;
  const auto store = begun(how);
  const std::vector<std::string> large{"large"}, small{"small"};
  auto recording = store->before_tool("write", large);
  write("large", "y");
  EXPECT_THAT(recording.finish(), testing::HasSubstr("the store had no room"));
  auto another = store->before_tool("write", small);
  write("small", "y");
  EXPECT_EQ(another.finish(), "");
}

/// How much came back, and why not more.
std::string words_of(const history::restore_outcome& done) {
  std::string all = std::to_string(done.restored) + " restored";
  for (const history::restore_conflict& each : done.conflicts)
    all += "; " + each.path + ": " + each.reason;
  return all;
}

TEST_F(HistoryAuthors, TheAgentOfAnotherServerIsSomebodyElseForARestore) {
  for (const bool is_command : {false, true}) {
    const std::string file = is_command ? "c" : "t", fresh = file + "/new", by = file + "/by";
    for (const std::string& each : {by, file + "/mine"})
      write(each, "0");
    const auto one = begun(), two = begun();
    const auto edit = [&](history::store& in, const std::string& path, const std::string& bytes) {
      auto recording = is_command ? in.before_command("exec", "edit")
                                  : in.before_tool("writeTextFile", std::span(&path, 1));
      write(path, bytes);
      EXPECT_EQ(recording.finish(), "");
    };
    edit(*one, by, "1");
    edit(*one, file + "/mine", "1");
    edit(*two, by, "2");
    edit(*two, fresh, "n");
    const std::string before = now();
    EXPECT_EQ(words_of(*one->restore({})),
              "0 restored; " + by + ": it was changed since, by the agent of another server");
    EXPECT_EQ(words_of(*one->restore({.paths = {fresh}})),
              "0 restored; " + fresh + ": it was changed by the agent of another server");
    EXPECT_EQ(now(), before);
    // What is only its own comes back; and of the other one what it has met.
    EXPECT_EQ(words_of(*one->restore({.paths = {file + "/mine"}})), "1 restored");
    EXPECT_TRUE(two->restore({})->conflicts.empty());
    EXPECT_EQ(tree.content("ws/" + by), "1");
    EXPECT_FALSE(fs::exists(workspace() + '/' + fresh));
    // A person takes all back, and to a later server what was before it counts as its own.
    edit(*two, by, "3");
    EXPECT_EQ(words_of(*one->restore({.by = history::author::other})), "1 restored");
    EXPECT_EQ(tree.content("ws/" + by), "0");
    edit(*two, by, "4");
    const std::uint64_t start = one->state().start;
    EXPECT_EQ(words_of(*begun()->restore({.to = start})), "1 restored");
    EXPECT_EQ(tree.content("ws/" + by), "0");
  }
}

} // namespace
