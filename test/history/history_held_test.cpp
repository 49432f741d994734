// SPDX-License-Identifier: MIT

// A restore acts on the directories that it has looked at, and what it makes ready is out of reach:
// whatever is exchanged or opened at whichever of its system calls.

#include "change/change_record.hpp"
#include "change/held_directories.hpp"
#include "file/replace.hpp"
#include "held_fixture.hpp"
#include "path/directory_moves.hpp"
#include "support/fault/faulty_sys.hpp"

#include <linux/fs.h>
#include <pthread.h>
#include <sys/file.h>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

/// Two file systems, as far as renames tell.
enum class file_systems : unsigned char { one, two };

class HistoryHeld : public test::held_fixture {};

/// What a process of the agent can open in the workspace while a restore works, but for the places
/// that it is meant for, and for which the rules of the workspace count.
class watcher {
public:
  explicit watcher(std::string top) : top_(std::move(top)) {}
  ~watcher() {
    for (const int fd : opened_)
      ::close(fd);
    for (const int fd : directories_)
      ::close(fd);
  }
  [[nodiscard]] std::size_t directories() const { return directories_.size(); }
  void look() {
    std::error_code ignored;
    for (auto at = fs::recursive_directory_iterator(
             top_, fs::directory_options::skip_permission_denied, ignored);
         at != fs::recursive_directory_iterator(); at.increment(ignored)) {
      const std::string path = at->path().string();
      if (path.find("/.paddock-tmp-") == path.npos) continue;
      std::error_code gone;
      const bool is_directory = at->is_directory(gone);
      if (!is_directory && !fs::is_regular_file(at->symlink_status(gone))) continue;
      if (!seen_.insert(path).second) continue;
      const int how = is_directory ? O_RDONLY | O_DIRECTORY : O_RDWR;
      const int fd = ::open(path.c_str(), how | O_CLOEXEC | O_NOFOLLOW);
      if (fd >= 0) (is_directory ? directories_ : opened_).push_back(fd);
    }
    for (const int in : directories_) // wherever they are by now
      for (unsigned i = 0; i < 8; ++i)
        for (const char* kind : {"w", "s", "a"}) {
          const int fd =
              ::openat(in, (kind + std::to_string(i)).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
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
  std::vector<int> opened_, directories_;
};

/// What becomes a protected file is made ready where nobody in the workspace can open it.
TEST_F(HistoryHeld, WhatBecomesAProtectedFileIsPreparedOutOfReach) {
  for (const file_systems which : {file_systems::one, file_systems::two}) {
    start_anew();
    std::uint64_t to = 0;
    const auto store = two_repositories(to);
    watcher agents(workspace());
    // The first of these renames leads out of the workspace.
    unsigned renames = 0;
    const auto errno_of = [&](std::string_view name) {
      const bool is_meant = which == file_systems::two && name == "renameat2" &&
                            test::injection::rename_flags() == RENAME_NOREPLACE;
      return is_meant && ++renames == 1 ? EXDEV : 0;
    };
    test::injection injected(
        {.os_errno_of = errno_of, .before = [&](std::size_t) { agents.look(); }});
    const auto back = store->restore({.to = to, .paths = {"d/.git/hooks"}});
    injected.end();
    agents.spoil();
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(tree.content("ws/d/.git/hooks/post-checkout"), "evil\n");
    EXPECT_EQ(agents.opened(), 0u);
    EXPECT_GT(agents.directories(), 0u); // the control: it was in reach for a moment
    EXPECT_EQ(test::injection::failed(), which == file_systems::two ? 1u : 0u); // the control
  }
}

/// What is set aside meanwhile, and comes back when the restore fails, is what was there: whatever
/// an agent's process does with what it can reach.
TEST_F(HistoryHeld, WhatComesBackIsWhatWasThere) {
  for (const bool is_forged : {true, false}) { // the second one is the control
    start_anew();
    write(".envrc", "person's 1\n");
    const auto store = begun();
    write(".envrc", "person's 2\n");
    const std::string before = now();
    std::size_t reached = 0;
    const auto forge = [&](std::size_t) {
      for (const auto& top : fs::directory_iterator(workspace())) {
        if (top.path().string().find("/.paddock-tmp-") == std::string::npos) continue;
        for (const auto& each : fs::directory_iterator(top)) {
          ++reached;
          if (!is_forged) continue;
          const auto time = fs::last_write_time(each);
          std::ofstream(each.path(), std::ios::in | std::ios::out) << "agent's !!\n";
          fs::last_write_time(each, time);
        }
      }
    };
    unsigned renames = 0, links = 0;
    const auto errno_of = [&](std::string_view name) {
      if (name == "linkat") return ++links == 1 ? EIO : 0;
      const bool is_meant =
          name == "renameat2" && test::injection::rename_flags() == RENAME_NOREPLACE;
      return is_meant && ++renames == 1 ? EXDEV : 0;
    };
    test::injection injected({.os_errno_of = errno_of, .before = forge});
    const auto back =
        store->restore({.paths = {".envrc"}, .force = true, .by = history::author::other});
    injected.end();
    EXPECT_FALSE(back);
    EXPECT_GT(links, 1u); // it came to the last step, and back from there
    EXPECT_EQ(tree.content("ws/.envrc"), "person's 2\n") << reached;
    EXPECT_EQ(now(), before);
  }
}

/// Each directory comes back through those above it, on a stack that has no room for one frame a
/// level.
TEST_F(HistoryHeld, DirectoriesComeBackOnALittleStack) {
  std::string path;
  int at = ::open(workspace().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 1'500; ++i) {
    path += path.empty() ? "d" : "/d";
    ASSERT_EQ(0, ::mkdirat(at, "d", 0777));
    const int next = ::openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::close(at);
    at = next;
  }
  ::close(at);
  const auto root = paddock::root::open(workspace());
  ASSERT_THAT(root, IsOk());
  const auto work = [&] {
    held_directories held(
        *root, [](const std::string&, int, const file_status&) { return true; }, 4);
    EXPECT_THAT(held.look("d"), IsOk());
    const auto deepest = held.look(path);
    ASSERT_THAT(deepest, IsOk());
    const auto above = held.look("d/d");
    ASSERT_THAT(above, IsOk());
    EXPECT_THAT(held.descriptor(*above), IsOk());
    EXPECT_THAT(held.descriptor(*deepest), IsOk());
  };
  pthread_attr_t little{};
  ASSERT_EQ(0, ::pthread_attr_init(&little));
  ASSERT_EQ(0, ::pthread_attr_setstacksize(&little, std::size_t{192} * 1024));
  pthread_t thread{};
  const auto start = [](void* what) -> void* {
    (*static_cast<decltype(work)*>(what))();
    return nullptr;
  };
  ASSERT_EQ(0, ::pthread_create(&thread, &little, start,
                                const_cast<void*>(static_cast<const void*>(&work))));
  EXPECT_EQ(0, ::pthread_join(thread, nullptr));
}

/// A directory that a running command keeps in place is moved by a restore as little as by a tool.
TEST_F(HistoryHeld, ADirectoryThatACommandKeepsStaysInItsPlace) {
  const auto store = begun_with({{"was/f", "one"}});
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
  const auto store = begun_with({{"d/f", "one"}});
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

/// One that the store does not hold stays: nobody could have it back.
TEST_F(HistoryHeld, WhatHasATemporaryNameAndIsNotHeldStays) {
  const std::string left = ".paddock-tmp-0123456789abcdef0123456789abcdef";
  write("d/f", "one");
  const auto store = begun({.file_bytes_max = 100});
  run(*store, "head -c 1000 /dev/zero > d/" + left);
  const auto back = store->restore({});
  ASSERT_THAT(back, IsOk());
  EXPECT_TRUE(tree.exists("ws/d/" + left));
  ASSERT_EQ(back->left.size(), 1u);
  EXPECT_EQ(back->left[0].path, "d/" + left);
  // The control.
  shell("head -c 10 /dev/zero > d/" + left);
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_FALSE(tree.exists("ws/d/" + left));
}

/// What carries a killed restore to its end keeps the file tools away as that one did.
TEST_F(HistoryHeld, ARecoveryHoldsTheContentsThatItChanges) {
  const auto top = root::open(workspace());
  const std::vector<std::string> path{"d/f"};
  std::size_t met = 0;
  for (std::size_t at = 1; at < 200 && met == 0; ++at) {
    start_anew();
    write("d/f", "one");
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = begun();
      run(*store, "echo two > d/f");
      test::injection killing({.before = [&](std::size_t call) {
        if (call == at) ::_exit(0);
      }});
      (void)store->restore({});
      ::_exit(1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (status != 0) break;
    bool is_left = false; // with everything made ready
    for (const auto& each : fs::directory_iterator(state_directory())) {
      std::ifstream file(each.path() / "intent", std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(file), {});
      const auto record = parse_change_record(bytes);
      is_left = is_left || (record && *record && (*record)->is_staged);
    }
    if (!is_left || tree.content("ws/d/f") != "two\n") continue;
    test::injection watching({.before = [&](std::size_t) {
      if (!lock_contents(*top, path, {.deadline_ms = 1})) ++met;
    }});
    (void)begun();
    watching.end();
    EXPECT_EQ(tree.content("ws/d/f"), "one");
    EXPECT_GT(met, 0u) << at;
  }
  EXPECT_GT(met, 0u);
}

/// A small file is held before a large one beside it is read: the first command does not wait for
/// that one, and may change git's index.
TEST_F(HistoryHeld, SmallFilesAreReadFirst) {
  const std::string unique = "held before the large one";
  write("a/pack", std::string(std::size_t{3} << 20U, 'x'));
  write("b/index", unique);
  const auto is_held = [&] {
    for (const auto& each : fs::recursive_directory_iterator(state_directory())) {
      if (!each.is_regular_file()) continue;
      std::ifstream in(each.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (bytes.find(unique) != bytes.npos) return true;
    }
    return false;
  };
  const auto is_read = [&] {
    for (const auto& each : fs::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (fs::read_symlink(each.path(), gone).string().ends_with("/a/pack")) return true;
    }
    return false;
  };
  const auto store = open({.threads_max = 1});
  bool was_met = false;
  test::injection injected({.before = [&](std::size_t) {
    if (was_met || !is_read()) return;
    was_met = true;
    EXPECT_TRUE(is_held());
  }});
  EXPECT_THAT(store->read_in(), IsOk());
  injected.end();
  EXPECT_TRUE(was_met && is_held()); // the control
}

/// How deep and how full a directory is that somebody else has made costs neither the stack nor all
/// descriptors.
TEST_F(HistoryHeld, ALookForFilesHasAnEnd) {
  const auto deep = [&](unsigned levels) {
    std::string path = workspace();
    for (unsigned i = 0; i < levels; ++i)
      path += "/d";
    fs::create_directories(path);
    const int fd = ::open(workspace().c_str(), O_PATH | O_DIRECTORY);
    const auto found = has_only_directories(fd, 10'000);
    ::close(fd);
    return found;
  };
  const auto some = deep(50); // the control
  ASSERT_THAT(some, IsOk());
  EXPECT_TRUE(*some);
  EXPECT_THAT(deep(300), test::IsError(error_code::too_many));
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

/// A server that starts beside another one takes its rules away at no moment of its start.
TEST_F(HistoryHeld, OfTwoServersThatStartAtOnceBothHaveTheirRules) {
  const auto open_as = [&](const char* hidden) {
    root_options how;
    protect(how.protected_names, {.name = hidden, .mode = protection::hidden});
    auto where = root::open(workspace(), how);
    auto opened = history::store::open(std::make_shared<const root>(*std::move(where)),
                                       {.directory = state_directory()}, history::session::serve);
    EXPECT_THAT(opened, IsOk());
    return *std::move(opened);
  };
  const auto is_locked = [&] {
    for (const auto& each : fs::directory_iterator(state_directory())) {
      const int fd = ::open((each.path() / "lock").c_str(), O_RDWR | O_CLOEXEC);
      const bool is_free = fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
      if (fd >= 0) ::close(fd);
      if (!is_free) return true;
    }
    return false;
  };
  std::size_t met = 0;
  for (std::size_t at = 1;; ++at) {
    start_anew();
    (void)open_as("of.before");
    std::shared_ptr<history::store> beside;
    bool is_hit = false;
    test::injection injected({.before = [&](std::size_t call) {
      if (call != at) return;
      is_hit = true;
      if (!is_locked()) beside = open_as("of.second");
    }});
    const auto first = open_as("of.first");
    injected.end();
    const auto where = root::open(workspace());
    const auto has = [&](const char* name,
                         history::past_rules past = history::past_rules::left_out) {
      const auto rules = history::rules_of(*where, state_directory(), past);
      EXPECT_THAT(rules, IsOk());
      return std::ranges::any_of(*rules, [&](const auto& each) { return each.name == name; });
    };
    EXPECT_TRUE(has("of.first")) << at;
    EXPECT_EQ(has("of.second"), beside != nullptr) << at;
    EXPECT_FALSE(has("of.before")) << at;
    EXPECT_TRUE(has("of.before", history::past_rules::in_force)) << at;
    met += beside != nullptr ? 1U : 0U;
    if (!is_hit || HasFailure()) break;
  }
  EXPECT_GT(met, 10u); // the control
}

/// Which names are protected is known, or nothing is done.
TEST_F(HistoryHeld, RulesThatCannotBeReadAreNotTakenForNone) {
  write("d/f", "one");
  (void)begun();
  std::string rules;
  for (const auto& each : fs::directory_iterator(state_directory()))
    if (fs::exists(each.path() / "rules")) rules = each.path() / "rules";
  ASSERT_NE(rules, "");
  const auto open_as = [&](history::session by) {
    auto where = root::open(workspace());
    return history::store::open(std::make_shared<const root>(*std::move(where)),
                                {.directory = state_directory()}, by);
  };
  const auto known = [&] {
    const auto where = root::open(workspace());
    return history::rules_of(*where, state_directory());
  };
  const std::string whole = tree.content(rules.substr(tree.path().size() + 1));
  const auto is_refused = [&](const char* how) {
    for (const auto by : {history::session::look, history::session::serve}) {
      const auto opened = open_as(by);
      ASSERT_FALSE(opened) << how;
      EXPECT_NE(opened.error().detail.find("remove " + rules), std::string::npos)
          << opened.error().detail;
      EXPECT_FALSE(known()) << how;
    }
  };
  const auto another = open_as(history::session::look); // so that the next one is not the first
  ASSERT_THAT(another, IsOk());
  std::string flipped = whole;
  flipped[flipped.find(".git") + 1] ^= 1;
  const std::string cut = whole.substr(0, whole.find('\0') + 1);
  for (const std::string& bytes :
       {whole.substr(0, whole.size() - 1), "x" + whole, std::string("?"), flipped, cut,
        std::string(), std::string((std::size_t{1} << 20U) + 1, 'x')}) {
    std::ofstream(rules, std::ios::binary | std::ios::trunc) << bytes;
    is_refused(bytes.substr(0, 20).c_str());
    EXPECT_EQ(tree.content(rules.substr(tree.path().size() + 1)), bytes);
  }
  fs::remove(rules);
  fs::create_directory(rules);
  is_refused("a directory");
  fs::remove(rules);
  EXPECT_FALSE(open_as(history::session::look)); // they are lost, until a server writes its own
  EXPECT_FALSE(known());
  // The control.
  EXPECT_THAT(open_as(history::session::serve), IsOk());
  EXPECT_THAT(known(), IsOk());
  std::ofstream(rules, std::ios::binary | std::ios::trunc) << whole;
  EXPECT_THAT(open_as(history::session::look), IsOk());
}

} // namespace
