// SPDX-License-Identifier: MIT

// What holds for a root as a whole: how it may be spelled, what is reserved in it, what happens
// when it is moved, deleted or mounted over, and its bounds.

#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/process/descriptors.hpp"
#include "support/process/process.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <sys/resource.h>
#include <sys/sysmacros.h>

namespace paddock {
namespace {

using test::canary_tree;
using test::child_end;
using test::IsError;
using test::IsOk;
using test::open_root;
using enum error_code;

class root_test : public testing::TestWithParam<resolver> {
protected:
  void SetUp() override {
    t.directory("ws/a/b");
    t.directory("ws/.perstack");
    for (const char* name : {"ws/f", "ws/a/f", "ws/a/b/g", "ws/.perstack/cfg"})
      t.file(name, "inside");
  }
  [[nodiscard]] root open(mounts allowed = mounts::enter) const {
    return open_root(canary.ws(), GetParam(), allowed);
  }

  canary_tree canary;
  const test::temp_tree& t = canary.tree();
};
INSTANTIATE_TEST_SUITE_P(every, root_test, testing::Values(resolver::openat2, resolver::walker),
                         [](const auto& suite) { return test::name_of(suite.param); });

// --- spelling -----------------------------------------------------------------------------------

TEST_P(root_test, absolute_paths_match_the_configured_and_the_canonical_spelling) {
  t.link("alias", "ws");
  const root r = open_root(t / "alias", GetParam());
  EXPECT_EQ(r.path(), canary.ws());
  EXPECT_EQ(r.absolute("a/f"), canary.ws() + "/a/f");
  EXPECT_EQ(r.absolute(""), canary.ws());
  for (const char* base : {"alias", "ws"})
    EXPECT_THAT(read_file(r, t / base + "/f"), IsOk()) << base;
  t.link("other", "ws");
  EXPECT_THAT(read_file(r, t / "other/f"), IsError(escapes_root));
  EXPECT_THAT(read_file(r, t / "out/secret"), IsError(escapes_root));
}

TEST_P(root_test, a_spelling_above_the_file_system_root_opens_no_door) {
  const root r = open_root("/../.." + canary.ws(), GetParam());
  EXPECT_THAT(read_file(r, canary.ws() + "/f"), IsOk());
  EXPECT_THAT(r.open_beneath("/etc", access::inspect), IsError(escapes_root));
  EXPECT_THAT(r.open_beneath("/f", access::inspect), IsError(escapes_root));
}

TEST_P(root_test, a_spelling_with_dotdot_after_a_link_names_what_the_kernel_opens) {
  t.directory("elsewhere/ws");
  t.directory("elsewhere/in");
  t.file("elsewhere/ws/f", "the right one");
  t.link("jump", "elsewhere/in");
  const root r = open_root(t / "jump/../ws", GetParam());
  const auto content = read_file(r, "f");
  ASSERT_THAT(content, IsOk());
  EXPECT_EQ(content->bytes, "the right one");
  EXPECT_THAT(read_file(r, canary.ws() + "/f"), IsError(escapes_root)); // another directory
  EXPECT_THAT(read_file(r, t / "elsewhere/ws/f"), IsOk());
}

/// As Linux has it by fs.protected_symlinks: where anybody may put a link, only one's own is
/// followed, or that of whose directory it is.
TEST_P(root_test, a_link_of_somebody_else_in_a_shared_directory_is_not_followed) {
  constexpr uid_t somebody = 4711, another = 4712;
  t.directory("ws/shared");
  t.link("ws/shared/link", "../f");
  const auto opened = [&] { return open().open_beneath("shared/link", access::read).has_value(); };
  const auto mode = [&](mode_t to) { ASSERT_EQ(0, ::chmod((t / "ws/shared").c_str(), to)); };
  const auto owners = [&](uid_t directory, uid_t link) {
    return ::lchown((t / "ws/shared").c_str(), directory, directory) == 0 &&
           ::lchown((t / "ws/shared/link").c_str(), link, link) == 0;
  };
  mode(01777);
  EXPECT_TRUE(opened()); // one's own
  if (!owners(somebody, another)) GTEST_SKIP() << "only root may give a link away";
  mode(01777);
  EXPECT_FALSE(opened());
  mode(0777); // the controls: not sticky, not for all, of the directory's owner, one's own
  EXPECT_TRUE(opened());
  mode(01755);
  EXPECT_TRUE(opened());
  mode(01777);
  ASSERT_TRUE(owners(somebody, somebody));
  mode(01777);
  EXPECT_TRUE(opened());
  ASSERT_TRUE(owners(somebody, 0));
  mode(01777);
  EXPECT_EQ(opened(), ::geteuid() == 0);
}

TEST_P(root_test, opens_relative_and_odd_spellings) {
  ASSERT_EQ(test::in_child([&] { return ::chdir(t.path().c_str()) == 0; },
                           [&] {
                             for (const char* spelling : {"ws", "./ws/", "ws//.", "ws/a/.."}) {
                               SCOPED_TRACE(spelling);
                               const root r = open_root(spelling, GetParam());
                               EXPECT_EQ(r.path(), canary.ws());
                               EXPECT_THAT(read_file(r, canary.ws() + "/f"), IsOk());
                             }
                           }),
            child_end::finished);
  EXPECT_THAT(root::open(""), IsError(invalid_argument));
  EXPECT_THAT(root::open(std::string_view("a\0b", 3)), IsError(invalid_argument));
  EXPECT_THAT(root::open(t / "nope"), IsError(not_found));
  EXPECT_THAT(root::open(t / "out/f"), IsError(not_a_directory));
  EXPECT_THAT(root::open(canary.ws(), {.protected_names = {{"a/../b"}}}), IsError(invalid_name));
}

TEST_P(root_test, the_file_system_root_can_be_a_workspace) {
  const root r = open_root("/", GetParam());
  EXPECT_THAT(r.open_beneath("/", access::directory), IsOk());
  EXPECT_THAT(r.open_beneath(canary.ws() + "/f", access::read), IsOk());
  EXPECT_THAT(r.open_beneath("..", access::inspect), IsError(escapes_root));
  EXPECT_THAT(r.open_beneath("/proc/self/status", access::read), IsError(crosses_mount));
  EXPECT_EQ(r.absolute("etc"), "/etc");
}

// --- reserved entries ---------------------------------------------------------------------------

TEST_P(root_test, reserved_entries_can_be_neither_made_nor_replaced_nor_moved) {
  const root r = open();
  const std::string before = test::describe_tree(canary.ws() + "/.perstack");
  t.link("ws/link", ".perstack/cfg");
  for (const std::string path : {".perstack", ".PERSTACK", ".perstack/cfg", "./.perstack/new"}) {
    SCOPED_TRACE(path);
    EXPECT_THAT(write_file(r, path, "x"), IsError(protected_entry));
    EXPECT_THAT(create_directory(r, path), IsError(protected_entry));
    EXPECT_THAT(move_entry(r, path, "moved"), IsError(protected_entry));
    EXPECT_THAT(move_entry(r, "f", path), IsError(protected_entry));
    EXPECT_THAT(remove_file(r, path), IsError(protected_entry));
    EXPECT_THAT(remove_directory(r, path, {.recursive = recursion::yes}), IsError(protected_entry));
  }
  EXPECT_THAT(write_file(r, "link", "x"), IsError(protected_entry));
  EXPECT_THAT(append_file(r, "link", "x"), IsError(protected_entry));
  EXPECT_THAT(edit_file(r, "link", {.old_text = "inside", .new_text = "x"}),
              IsError(protected_entry));
  EXPECT_THAT(remove_file(r, "link"), IsOk()); // the link itself is nobody's secret
  EXPECT_EQ(before, test::describe_tree(canary.ws() + "/.perstack"));
}

TEST_P(root_test, a_reserved_name_is_refused_before_it_exists) {
  std::filesystem::remove_all(canary.ws() + "/.perstack");
  const root r = open();
  EXPECT_THAT(create_directory(r, ".perstack"), IsError(protected_entry));
  EXPECT_THAT(write_file(r, ".perstack/cfg", "x"), IsError(protected_entry));
  t.link("ws/dangling", ".perstack/cfg");
  EXPECT_THAT(write_file(r, "dangling", "x"), IsError(dangling_symlink));
  t.link("ws/to_name", ".perstack");
  EXPECT_THAT(write_file(r, "to_name", "x"), IsError(protected_entry));
  EXPECT_FALSE(t.exists("ws/.perstack"));
  t.directory("ws/.perstack"); // made by somebody else, after the root was opened
  t.file("ws/.perstack/cfg", "x");
  EXPECT_THAT(read_file(r, "dangling"), IsError(protected_entry));
  EXPECT_THAT(list_directory(r, ".perstack"), IsError(protected_entry));
}

TEST_P(root_test, which_names_there_are_in_a_reserved_entry_stays_unknown) {
  const root r = open_root(canary.ws(), GetParam());
  t.link("ws/to_reserved", ".perstack");
  t.link("ws/to_nothing", ".perstack/missing");
  for (const char* path : {"to_reserved/cfg", "to_reserved/missing", "to_nothing"}) {
    EXPECT_THAT(read_file(r, path), IsError(protected_entry)) << path;
    EXPECT_THAT(inspect(r, path), IsError(protected_entry)) << path;
    EXPECT_THAT(list_directory(r, path), IsError(protected_entry)) << path;
  }
}

TEST_P(root_test, a_renamed_reserved_entry_stays_reserved) {
  const root r = open();
  for (const char* place : {"ws/innocent", "ws/a/innocent", "ws/a/b/deep"}) {
    SCOPED_TRACE(place);
    const std::string path = std::string(place).substr(3);
    std::filesystem::rename(canary.ws() + "/.perstack", t / place);
    EXPECT_THAT(read_file(r, path + "/cfg"), IsError(protected_entry));
    EXPECT_THAT(list_directory(r, path), IsError(protected_entry));
    EXPECT_THAT(write_file(r, path + "/new", "x"), IsError(protected_entry));
    EXPECT_THAT(move_entry(r, path, "mine"), IsError(protected_entry));
    EXPECT_THAT(read_file(r, "a/f"), IsOk());
    std::filesystem::rename(t / place, canary.ws() + "/.perstack");
  }
  EXPECT_THAT(read_file(r, "innocent"), IsError(not_found));
}

TEST_P(root_test, an_entry_that_took_the_reserved_name_is_reserved_too) {
  const root r = open();
  std::filesystem::rename(canary.ws() + "/.perstack", canary.ws() + "/old");
  std::filesystem::rename(canary.ws() + "/a", canary.ws() + "/.perstack");
  EXPECT_THAT(read_file(r, ".perstack/f"), IsError(protected_entry));
  EXPECT_THAT(read_file(r, "old/cfg"), IsError(protected_entry));
}

TEST_P(root_test, reserved_names_are_configurable) {
  const auto open_with = [&](std::vector<std::string> names) {
    root_options options{.resolver = GetParam(), .protected_names = {}};
    for (auto& name : names)
      options.protected_names.push_back({std::move(name), protection::hidden});
    auto r = root::open(canary.ws(), options);
    EXPECT_THAT(r, IsOk());
    return *std::move(r);
  };
  EXPECT_THAT(read_file(open_with({}), ".perstack/cfg"), IsOk());
  const root r = open_with({"f", "a", "not-there"});
  EXPECT_THAT(read_file(r, ".perstack/cfg"), IsOk());
  EXPECT_THAT(read_file(r, "f"), IsError(protected_entry));
  EXPECT_THAT(read_file(r, "a/b/g"), IsError(protected_entry));
  EXPECT_THAT(write_file(r, "Not-There", "x"), IsError(protected_entry));
  const auto listing = list_directory(r, ".");
  ASSERT_THAT(listing, IsOk());
  EXPECT_EQ(listing->total, 1U);
}

TEST_P(root_test, other_spellings_of_a_folding_file_system_are_reserved) {
  const auto end = test::in_child(
      [&] {
        if (!test::private_mounts() || !test::mount_tmpfs(canary.ws(), "casefold")) return false;
        const std::string directory = canary.ws() + "/.perstack";
        return ::mkdir(directory.c_str(), 0777) == 0 &&
               std::filesystem::exists(canary.ws() + "/.PERSTACK");
      },
      [&] {
        t.file("ws/.perstack/cfg", "x");
        const root r = open();
        for (const char* name : {".PERSTACK", ".per\u017ftack", ".perstac\u212a"})
          EXPECT_THAT(r.open_beneath(std::string(name) + "/cfg", access::read),
                      IsError(protected_entry))
              << name;
      });
  if (end == child_end::refused) GTEST_SKIP() << "no file system that folds case";
}

// --- moved and deleted --------------------------------------------------------------------------

TEST_P(root_test, a_moved_root_stays_the_same_directory) {
  const root r = open();
  std::filesystem::rename(canary.ws(), t / "moved");
  t.directory("ws");
  t.file("ws/f", "an impostor");
  const auto content = read_file(r, "f");
  ASSERT_THAT(content, IsOk());
  EXPECT_EQ(content->bytes, "inside");
  ASSERT_THAT(write_file(r, "new", "x"), IsOk());
  EXPECT_TRUE(t.exists("moved/new"));
  EXPECT_FALSE(t.exists("ws/new"));
  EXPECT_THAT(r.check_alive(), IsOk());
  EXPECT_THAT(read_file(r, "../ws/f"), IsError(escapes_root));
}

TEST_P(root_test, a_deleted_root_is_named_as_the_reason) {
  const root r = open();
  std::filesystem::remove_all(canary.ws());
  EXPECT_THAT(r.check_alive(), IsError(root_gone));
  EXPECT_THAT(read_file(r, "f"), IsError(root_gone));
  EXPECT_THAT(write_file(r, "new", "x"), IsError(root_gone));
  EXPECT_THAT(write_file(r, "new/deep", "x"), IsError(root_gone));
  EXPECT_THAT(append_file(r, "f", "x"), IsError(root_gone));
  EXPECT_THAT(edit_file(r, "f", {.old_text = "a", .new_text = "b"}), IsError(root_gone));
  EXPECT_THAT(move_entry(r, "f", "g"), IsError(root_gone));
  EXPECT_THAT(remove_file(r, "f"), IsError(root_gone));
  EXPECT_THAT(inspect(r, "f"), IsError(root_gone));
  EXPECT_THAT(create_directory(r, "d"), IsError(root_gone));
  EXPECT_THAT(create_directory(r, "d/e"), IsError(root_gone));
  EXPECT_THAT(remove_directory(r, "a"), IsError(root_gone));
  EXPECT_THAT(list_directory(r, "a"), IsError(root_gone));
}

// --- mounts -------------------------------------------------------------------------------------

TEST_P(root_test, a_mounted_directory_is_entered_or_refused) {
  t.directory("volume");
  t.file("volume/data", "mounted");
  t.directory("ws/mnt");
  t.link("ws/through", "mnt/data");
  const auto end = test::in_child(
      [&] { return test::private_mounts() && test::bind_mount(t / "volume", t / "ws/mnt"); },
      [&] {
        const root enter = open();
        EXPECT_THAT(read_file(enter, "mnt/data"), IsOk());
        EXPECT_THAT(read_file(enter, "through"), IsOk());
        EXPECT_THAT(read_file(enter, "mnt/../f"), IsOk());
        EXPECT_THAT(write_file(enter, "mnt/new", "x"), IsOk());
        EXPECT_THAT(move_entry(enter, "f", "mnt/f"), IsError(crosses_mount));
        EXPECT_THAT(move_entry(enter, "mnt", "elsewhere"), IsError(crosses_mount));
        EXPECT_THAT(remove_directory(enter, "mnt"), IsError(crosses_mount));
        EXPECT_TRUE(t.exists("ws/f"));
        const root refuse = open(mounts::refuse);
        for (const char* path : {"mnt", "mnt/", "mnt/data", "through", "mnt/../f", "mnt/nope"})
          EXPECT_THAT(refuse.open_beneath(path, access::inspect), IsError(crosses_mount)) << path;
        EXPECT_THAT(write_file(refuse, "mnt/new2", "x"), IsError(crosses_mount));
        EXPECT_THAT(write_file(refuse, "mnt/new/deep", "x"), IsError(crosses_mount));
        EXPECT_THAT(read_file(refuse, "f"), IsOk());
        EXPECT_FALSE(t.exists("volume/new2"));
      });
  if (end == child_end::refused) GTEST_SKIP() << "mounting needs privilege";
}

TEST_P(root_test, procfs_inside_is_refused) {
  t.directory("ws/p");
  t.link("ws/status", "p/self/status");
  const auto end = test::in_child(
      [&] {
        return test::private_mounts() &&
               ::mount("proc", (canary.ws() + "/p").c_str(), "proc", 0, nullptr) == 0;
      },
      [&] {
        for (const auto allowed : {mounts::enter, mounts::refuse}) {
          const root r = open(allowed);
          for (const char* path : {"p", "p/self/status", "p/self", "p/self/environ", "status"})
            EXPECT_THAT(r.open_beneath(path, access::inspect), IsError(crosses_mount)) << path;
          EXPECT_THAT(read_file(r, "p/self/status"), IsError(crosses_mount));
          EXPECT_THAT(list_directory(r, "p/self/fd"), IsError(crosses_mount));
          EXPECT_THAT(edit_file(r, "p/self/status", {.old_text = "Name", .new_text = "x"}),
                      IsError(crosses_mount));
          EXPECT_THAT(write_file(r, "p/self/comm", "x"), IsError(crosses_mount));
          EXPECT_THAT(append_file(r, "p/self/comm", "x"), IsError(crosses_mount));
          const auto magic = allowed == mounts::enter ? magic_link : crosses_mount;
          for (const char* path : {"p/self/root/etc/passwd", "p/self/cwd", "p/self/exe"})
            EXPECT_THAT(r.open_beneath(path, access::inspect), IsError(magic)) << path;
        }
      });
  if (end == child_end::refused) GTEST_SKIP() << "mounting needs privilege";
}

// --- kinds and bounds ---------------------------------------------------------------------------

TEST_P(root_test, devices_are_refused) {
  if (::mknod((canary.ws() + "/zero").c_str(), S_IFCHR | 0666, makedev(1, 5)) != 0)
    GTEST_SKIP() << "making a device needs privilege";
  const root r = open();
  EXPECT_THAT(read_file(r, "zero"), IsError(not_regular));
  EXPECT_THAT(read_lines(r, "zero", {}), IsError(not_regular));
  EXPECT_THAT(write_file(r, "zero", "x"), IsError(not_regular));
  EXPECT_THAT(append_file(r, "zero", "x"), IsError(not_regular));
  EXPECT_THAT(edit_file(r, "zero", {.old_text = "a", .new_text = "b"}), IsError(not_regular));
  const auto info = inspect(r, "zero");
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->status.kind, entry_kind::other);
}

/// `depth` directories inside each other, and a file in the deepest.
std::string make_deep(const std::string& base, int depth) {
  std::string path;
  int at = ::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < depth; ++i) {
    EXPECT_EQ(0, ::mkdirat(at, "d", 0777));
    const int next = ::openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::close(at);
    at = next;
    path += "d/";
  }
  ::close(::openat(at, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  ::close(at);
  return path + "f";
}

TEST_P(root_test, deep_paths) {
  const root r = open();
  const std::string fits = make_deep(canary.ws() + "/a", 250);
  EXPECT_THAT(read_file(r, "a/" + fits), IsOk());
  const std::string deeper = make_deep(canary.ws() + "/a/b", 300);
  if (GetParam() == resolver::openat2)
    EXPECT_THAT(read_file(r, "a/b/" + deeper), IsOk());
  else
    EXPECT_THAT(read_file(r, "a/b/" + deeper), IsError(path_too_long));
  std::string missing = "new";
  while (missing.size() < 1000)
    missing += "/n";
  EXPECT_THAT(write_file(r, missing, "x"), IsOk());
}

TEST_P(root_test, without_descriptors_calls_fail_and_leak_none) {
  t.link("ws/link", "a/b/g");
  ASSERT_EQ(test::in_child([] { return true; },
                           [&] {
                             const root r = open();
                             const auto before = test::open_descriptors();
                             const rlimit none{3, 4096}; // the standard streams and nothing more
                             const rlimit enough{1024, 4096};
                             EXPECT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &none));
                             EXPECT_THAT(read_file(r, "f"), IsError(too_many));
                             EXPECT_THAT(read_file(r, "link"), IsError(too_many));
                             EXPECT_THAT(write_file(r, "f", "x"), IsError(too_many));
                             EXPECT_THAT(list_directory(r, "."), IsError(too_many));
                             EXPECT_THAT(create_directory(r, "x/y"), IsError(too_many));
                             EXPECT_THAT(remove_directory(r, "a", {.recursive = recursion::yes}),
                                         IsError(too_many));
                             EXPECT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &enough));
                             EXPECT_EQ(before, test::open_descriptors());
                             EXPECT_EQ("inside", t.content("ws/f"));
                             EXPECT_TRUE(t.exists("ws/a/b/g"));
                           }),
            child_end::finished);
}

TEST_P(root_test, one_root_serves_many_threads) {
  const root r = open();
  t.link("ws/link", "a/b/g");
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n)
    threads.emplace_back([&r, n] {
      for (int i = 0; i < 200; ++i) {
        const std::string name = "t" + std::to_string(n) + "/" + std::to_string(i % 3);
        EXPECT_THAT(write_file(r, name, "x"), IsOk());
        EXPECT_THAT(read_file(r, "link"), IsOk());
        EXPECT_THAT(read_file(r, name), IsOk());
      }
    });
  for (auto& thread : threads)
    thread.join();
}

} // namespace
} // namespace paddock
