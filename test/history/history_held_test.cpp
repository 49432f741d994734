// SPDX-License-Identifier: MIT

// A restore acts on the directories that it has looked at, and what it makes ready is out of reach:
// whatever is exchanged or opened at whichever of its system calls.

#include "path/directory_moves.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/history/history_fixture.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

/// Two file systems, as far as renames tell.
enum class file_systems : unsigned char { one, two };

class HistoryHeld : public test::history_fixture {
protected:
  void start_anew() const { shell("rm -rf * .[a-zA-Z]*; rm -rf ../state/*"); }
  void exchange(const char* one, const char* other) const {
    const std::string a = workspace() + '/' + one, b = workspace() + '/' + other;
    (void)::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
  }
  /// A person's repositories in `d`, which an agent has removed, and in `clone`.
  [[nodiscard]] std::shared_ptr<history::store> two_repositories(std::uint64_t& to) const {
    write("clone/.git/HEAD", "ref: refs/heads/main\n");
    fs::create_directories(workspace() + "/clone/.git/hooks");
    fs::create_directories(workspace() + "/clone/.git/objects");
    fs::create_directories(workspace() + "/clone/.git/refs");
    write("clone/.git/config", "[core]\n");
    write("clone/mine", "a person's");
    shell("mkdir -p d/.git/hooks d/.git/objects d/.git/refs; echo 'ref: refs/heads/main' > "
          "d/.git/HEAD; echo evil > d/.git/hooks/post-checkout; chmod +x "
          "d/.git/hooks/post-checkout; echo x > d/work");
    const auto store = begun();
    to = store->make_checkpoint("made")->number;
    run(*store, "rm -r d");
    return store;
  }
  /// All files beneath the person's repository, by whichever name it has by now.
  [[nodiscard]] std::set<std::string> in_persons() const {
    std::set<std::string> found;
    for (const auto& top : fs::directory_iterator(workspace())) {
      if (!fs::exists(top.path() / "mine")) continue;
      for (const auto& each : fs::recursive_directory_iterator(top.path()))
        if (each.is_regular_file()) found.insert(fs::relative(each.path(), top.path()).string());
    }
    return found;
  }
};

/// A hook of the agent's never lands in the repository of a person that has got the place of what
/// is being restored.
TEST_F(HistoryHeld, WhatIsMeantForOneDirectoryIsNotPutIntoAnother) {
  const std::set<std::string> persons{".git/HEAD", ".git/config", "mine"};
  std::size_t met = 0;
  for (std::size_t at = 1;; ++at) {
    start_anew();
    std::uint64_t to = 0;
    const auto store = two_repositories(to);
    bool is_hit = false;
    const auto disturb = [&](std::size_t call) {
      if (call == at) {
        is_hit = true;
        met += fs::exists(workspace() + "/d") ? 1U : 0U;
        exchange("d", "clone");
      }
    };
    test::injection injected({.at = 0, .before = disturb});
    const auto back = store->restore({.to = to});
    injected.end();
    EXPECT_EQ(in_persons(), persons) << "at " << at << "\n" << now();
    if (HasFailure()) return;
    if (!is_hit) {
      // The control: where nobody interferes it comes back.
      EXPECT_THAT(back, IsOk());
      EXPECT_EQ(tree.content("ws/d/.git/hooks/post-checkout"), "evil\n");
      break;
    }
  }
  EXPECT_GT(met, 10u); // the control: there was something to exchange
}

/// The same at every later call: each second one exchanges them again.
TEST_F(HistoryHeld, HoweverOftenTheyAreExchanged) {
  const std::set<std::string> persons{".git/HEAD", ".git/config", "mine"};
  for (const std::size_t every : {1u, 2u, 3u, 5u})
    for (std::size_t at = 1;; at += 7) {
      start_anew();
      std::uint64_t to = 0;
      const auto store = two_repositories(to);
      bool is_hit = false;
      const auto disturb = [&](std::size_t call) {
        if (call < at || (call - at) % every != 0) return;
        is_hit = true;
        exchange("d", "clone");
      };
      test::injection injected({.at = 0, .before = disturb});
      (void)store->restore({.to = to});
      injected.end();
      EXPECT_EQ(in_persons(), persons) << "at " << at << " every " << every << "\n" << now();
      if (HasFailure()) return;
      if (!is_hit) break;
    }
}

/// What a process of the agent can open in the workspace while a restore works, but for the places
/// that it is meant for, and for which the rules of the workspace count.
class watcher {
public:
  explicit watcher(std::string top) : top_(std::move(top)) {}
  ~watcher() {
    for (const int fd : opened_)
      ::close(fd);
  }
  void look() {
    std::error_code ignored;
    for (auto at = fs::recursive_directory_iterator(
             top_, fs::directory_options::skip_permission_denied, ignored);
         at != fs::recursive_directory_iterator(); at.increment(ignored)) {
      const std::string path = at->path().string();
      if (path.find("/.paddock-tmp-") == path.npos) continue;
      std::error_code gone;
      if (!fs::is_regular_file(at->symlink_status(gone)) || !seen_.insert(path).second) continue;
      const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
      if (fd >= 0) opened_.push_back(fd);
    }
  }
  [[nodiscard]] std::size_t opened() const { return opened_.size(); }
  /// Writes through all that it has.
  void spoil() const {
    for (const int fd : opened_)
      (void)!::pwrite(fd, "spoilt", 6, 0);
  }

private:
  std::string top_;
  std::set<std::string> seen_;
  std::vector<int> opened_;
};

/// What becomes a protected file is made ready where nobody in the workspace can open it.
TEST_F(HistoryHeld, WhatBecomesAProtectedFileIsPreparedOutOfReach) {
  for (const file_systems which : {file_systems::one, file_systems::two}) {
    start_anew();
    std::uint64_t to = 0;
    const auto store = two_repositories(to);
    watcher agents(workspace());
    // The first of these renames is that of the record, the second one leads out of the workspace.
    unsigned renames = 0;
    const auto errno_of = [&](std::string_view name) {
      const bool is_meant = which == file_systems::two && name == "renameat2" &&
                            test::injection::rename_flags() == RENAME_NOREPLACE;
      return is_meant && ++renames == 2 ? EXDEV : 0;
    };
    test::injection injected({.at = 1,
                              .lasting = test::lasting::ever,
                              .os_errno_of = errno_of,
                              .before = [&](std::size_t) { agents.look(); }});
    const auto back = store->restore({.to = to, .paths = {"d/.git/hooks"}});
    injected.end();
    agents.spoil();
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(tree.content("ws/d/.git/hooks/post-checkout"), "evil\n");
    EXPECT_EQ(agents.opened(), 0u);
    EXPECT_EQ(test::injection::failed(), which == file_systems::two ? 1u : 0u); // the control
  }
}

/// A directory that a running command keeps in place is moved by a restore as little as by a tool.
TEST_F(HistoryHeld, ADirectoryThatACommandKeepsStaysInItsPlace) {
  write("was/f", "one");
  const auto store = begun();
  run(*store, "mv was moved");
  const std::string before = now();
  {
    const auto top = root::open(workspace());
    ASSERT_THAT(top, IsOk());
    const kept_directories kept(top->status(), {"moved"});
    const auto back = store->restore({});
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, error_code::conflict);
    EXPECT_EQ(now(), before);
  }
  // The control.
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_EQ(tree.content("ws/was/f"), "one");
}

/// What a killed tool has left beside its file goes with the next undo; nothing else of that kind.
TEST_F(HistoryHeld, WhatAKilledToolLeftIsTakenAway) {
  const std::string left = ".paddock-tmp-0123456789abcdef0123456789abcdef";
  write("d/f", "one");
  const auto store = begun();
  const std::vector<std::string> paths{"d/f"};
  auto recording = store->before_tool("write", paths);
  write("d/f", "two");
  EXPECT_EQ(recording.finish(), "");
  write("d/" + left, "two");
  write(left, "two");
  write("d/.paddock-tmp-mine", "a person's");
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_FALSE(tree.exists("ws/d/" + left));
  EXPECT_FALSE(tree.exists("ws/" + left));
  EXPECT_EQ(tree.content("ws/d/f"), "one");
  EXPECT_EQ(tree.content("ws/d/.paddock-tmp-mine"), "a person's"); // the control
  // And so is one in whose directory nobody works, while a tool works elsewhere.
  const std::vector<std::string> beside{"d/g"};
  write("d/" + left, "two");
  auto working = store->before_tool("write", beside);
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_TRUE(tree.exists("ws/d/" + left));
  (void)working.finish();
}

/// What a server was told to protect a person's command keeps away from, too.
TEST_F(HistoryHeld, TheRulesOfAServerAreThoseOfAPersonsCommand) {
  write("secret.env", "a person's");
  write("d/f", "one");
  const auto open_as = [&](bool is_server, bool with_rule) {
    root_options how;
    if (with_rule) protect(how.protected_names, {.name = "secret.env", .mode = protection::hidden});
    auto where = root::open(workspace(), how);
    EXPECT_THAT(where, IsOk());
    auto store = history::store::open(std::make_shared<const root>(*std::move(where)),
                                      {.directory = state_directory()},
                                      is_server ? history::session::serve : history::session::look);
    EXPECT_THAT(store, IsOk());
    return *store;
  };
  {
    const auto server = open_as(true, true);
    EXPECT_THAT(server->read_in(), IsOk());
    run(*server, "echo two > d/f");
    const auto person = open_as(false, false);
    EXPECT_EQ(told(person->changes({})), "modified d/f by exec; ");
    ASSERT_THAT(person->restore({.force = true, .by = history::author::other}), IsOk());
    EXPECT_EQ(tree.content("ws/secret.env"), "a person's");
    EXPECT_EQ(tree.content("ws/d/f"), "one");
    // Another server, without the rule, does not take it away from the first.
    const auto second = open_as(true, false);
    EXPECT_TRUE(open_as(false, false)->workspace()->is_protected("secret.env"));
  }
  EXPECT_TRUE(open_as(false, false)->workspace()->is_protected("secret.env"));
  // The control: when all have ended, the rules are those of the next one.
  (void)open_as(true, false);
  EXPECT_FALSE(open_as(false, false)->workspace()->is_protected("secret.env"));
}

} // namespace
