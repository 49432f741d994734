// SPDX-License-Identifier: MIT

// What a file keeps when its content is replaced: its access control list, the notes in its
// extended attributes, its group; and that nobody can open it afterwards who could not before.
// Judges: getfacl and getfattr, and the kernel, which is asked by processes of other users.

#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <grp.h>
#include <sys/mount.h>
#include <sys/xattr.h>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;

constexpr const char* access_list = "system.posix_acl_access";
constexpr const char* default_list = "system.posix_acl_default";

struct list_entry {
  std::uint16_t tag = 0;
  std::uint16_t permissions = 0;
  std::uint32_t id = 0xFFFFFFFF;
};
constexpr std::uint16_t owner = 1;
constexpr std::uint16_t user = 2;
constexpr std::uint16_t group = 4;
constexpr std::uint16_t mask = 16;
constexpr std::uint16_t others = 32;

std::string list_of(const std::vector<list_entry>& entries) {
  std::string bytes("\2\0\0\0", 4);
  for (const auto& e : entries)
    bytes.append(reinterpret_cast<const char*>(&e), sizeof e); // NOLINT: the kernel's layout
  return bytes;
}

/// What a program prints; empty when it is not there.
std::string printed_by(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> out(::popen((command + " 2>&1").c_str(), "re"),
                                                  ::pclose);
  std::string all;
  std::array<char, 512> part;
  while (std::fgets(part.data(), part.size(), out.get()) != nullptr)
    all += part.data();
  return all.find("not found") == std::string::npos ? all : "";
}

/// The way that gives access away: a new file with the old one's mode takes the place.
void replace_by_hand(const std::string& path) {
  struct stat s{};
  ASSERT_EQ(0, ::stat(path.c_str(), &s));
  const std::string fresh = path + ".new";
  const file_descriptor fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  ASSERT_EQ(3, ::write(fd.get(), "new", 3));
  (void)!::fchown(fd.get(), s.st_uid, s.st_gid);
  ASSERT_EQ(0, ::fchmod(fd.get(), s.st_mode & 0777U));
  ASSERT_EQ(0, ::rename(fresh.c_str(), path.c_str()));
}

class attributes_test : public testing::Test {
protected:
  void SetUp() override {
    t.file("ws/f", "old");
    if (::setxattr(f().c_str(), "user.probe", "", 0, 0) != 0)
      GTEST_SKIP() << "no extended attributes here: " << std::strerror(errno);
    ASSERT_EQ(0, ::removexattr(f().c_str(), "user.probe"));
    ASSERT_EQ(0, ::chmod(t.path().c_str(), 0755));
    ASSERT_EQ(0, ::chmod((t / "ws").c_str(), 0755));
  }

  [[nodiscard]] std::string f() const { return t / "ws/f"; }
  void set(const std::string& path, const char* name, const std::string& value) const {
    ASSERT_EQ(0, ::setxattr(path.c_str(), name, value.data(), value.size(), 0))
        << name << ": " << std::strerror(errno);
  }
  [[nodiscard]] bool has(const char* name) const {
    return ::getxattr(f().c_str(), name, nullptr, 0) >= 0;
  }
  [[nodiscard]] mode_t mode() const {
    struct stat s{};
    EXPECT_EQ(0, ::stat(f().c_str(), &s));
    return s.st_mode & 07777U;
  }

  /// Whether a process of this user and group can open the file.
  [[nodiscard]] bool can_open(uid_t uid, gid_t gid, int flags) const {
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (::setgroups(0, nullptr) != 0 || ::setresgid(gid, gid, gid) != 0 ||
          ::setresuid(uid, uid, uid) != 0)
        ::_exit(7);
      ::_exit(::open(f().c_str(), flags | O_CLOEXEC) >= 0 ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(pid, ::waitpid(pid, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
  const root r = test::open_root(canary.ws(), resolver::automatic);
};

// A list whose mask shows as the group's bits, while the group itself may nothing.
const std::vector<list_entry> for_one_user = {
    {owner, 6}, {user, 6, 1234}, {group, 0}, {mask, 6}, {others, 0}};

struct way {
  const char* name;
  std::function<result<std::string>(const root&)> replace;
};
const way ways[] = {
    {"write", [](const root& r) { return write_file(r, "f", "new"); }},
    {"edit",
     [](const root& r) -> result<std::string> {
       PADDOCK_TRY(auto done, edit_file(r, "f", {.old_text = "old", .new_text = "new"}));
       return std::move(done.path);
     }},
    {"append", [](const root& r) { return append_file(r, "f", "new"); }},
    {"move",
     [](const root& r) -> result<std::string> {
       PADDOCK_CHECK(move_entry(r, "f", "g"));
       PADDOCK_TRY(auto done, move_entry(r, "g", "f"));
       return std::move(done.destination);
     }},
};

TEST_F(attributes_test, lists_and_notes_are_kept) {
  for (const auto& how : ways) {
    SCOPED_TRACE(how.name);
    t.file("ws/f", "old");
    set(f(), access_list, list_of(for_one_user));
    set(f(), "user.note", "kept");
    set(f(), "user.empty", "");
    set(f(), "user.long", std::string(3000, 'x'));
    const auto list = printed_by("getfacl -cpn " + f());
    const auto notes = printed_by("getfattr -d --absolute-names " + f());
    if (list.empty() || notes.empty()) GTEST_SKIP() << "no getfacl and getfattr here";
    EXPECT_NE(std::string::npos, list.find("user:1234:rw-")) << list;
    ASSERT_THAT(how.replace(r), IsOk());
    EXPECT_EQ(list, printed_by("getfacl -cpn " + f()));
    EXPECT_EQ(notes, printed_by("getfattr -d --absolute-names " + f()));
    EXPECT_EQ(0660U, mode());
  }
  t.file("ws/h", "old"); // the control: replaced by hand, neither is
  set(t / "ws/h", access_list, list_of(for_one_user));
  const auto list = printed_by("getfacl -cpn " + (t / "ws/h"));
  replace_by_hand(t / "ws/h");
  EXPECT_NE(list, printed_by("getfacl -cpn " + (t / "ws/h")));
}

TEST_F(attributes_test, the_group_gains_nothing_from_a_mask) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can ask as other users";
  ASSERT_EQ(0, ::chown(f().c_str(), 0, 4321));
  set(f(), access_list, list_of(for_one_user));
  ASSERT_FALSE(can_open(5555, 4321, O_RDONLY));
  for (const auto& how : ways) {
    SCOPED_TRACE(how.name);
    ASSERT_THAT(how.replace(r), IsOk());
    EXPECT_FALSE(can_open(5555, 4321, O_RDONLY));
    EXPECT_TRUE(can_open(1234, 5555, O_RDWR));
    t.file("ws/f", "old");
  }
  replace_by_hand(f());
  EXPECT_TRUE(can_open(5555, 4321, O_RDONLY)) << "the control: without the list it can";
}

TEST_F(attributes_test, nobody_gains_from_the_default_list_of_the_directory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can ask as other users";
  ASSERT_EQ(0, ::chmod(f().c_str(), 0660));
  set(t / "ws", default_list,
      list_of({{owner, 7}, {user, 7, 1234}, {group, 7}, {mask, 7}, {others, 0}}));
  ASSERT_FALSE(can_open(1234, 5555, O_RDONLY));
  for (const auto& how : ways) {
    SCOPED_TRACE(how.name);
    ASSERT_THAT(how.replace(r), IsOk());
    EXPECT_FALSE(has(access_list));
    EXPECT_FALSE(can_open(1234, 5555, O_RDONLY));
    EXPECT_EQ(0660U, mode());
    t.file("ws/f", "old");
  }
  // A new file has what the directory gives, as any program's has.
  ASSERT_THAT(write_file(r, "fresh", "new"), IsOk());
  t.file("ws/usual");
  EXPECT_EQ(printed_by("getfacl -cpn " + (t / "ws/usual")),
            printed_by("getfacl -cpn " + (t / "ws/fresh")));
  replace_by_hand(f());
  EXPECT_TRUE(can_open(1234, 5555, O_RDONLY)) << "the control: what is inherited lets it in";
}

TEST_F(attributes_test, another_group_gets_what_everybody_has) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give the file away";
  const struct {
    const char* name;
    mode_t mode;
    std::vector<list_entry> list;
    mode_t now;
  } rows[] = {
      {"mode", 0664, {}, 0644},
      {"a list",
       0,
       {{owner, 6}, {user, 6, test::nobody}, {group, 6}, {mask, 6}, {others, 4}},
       0664},
  };
  test::give_to_nobody(t / "ws");
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    t.file("ws/f", "old");
    ASSERT_EQ(0, ::chown(f().c_str(), test::nobody, 4321)); // a group that nobody is not in
    if (row.list.empty()) {
      ASSERT_EQ(0, ::chmod(f().c_str(), row.mode));
    } else {
      set(f(), access_list, list_of(row.list));
    }
    const auto end = test::in_child(test::become_nobody,
                                    [&] { EXPECT_THAT(write_file(r, "f", "new"), IsOk()); });
    ASSERT_EQ(end, test::child_end::finished);
    EXPECT_EQ(row.now, mode());
    EXPECT_FALSE(can_open(5555, test::nobody, O_WRONLY)) << "the new group could not before";
    EXPECT_TRUE(can_open(5555, test::nobody, O_RDONLY)) << "everybody could";
    ASSERT_EQ(0, ::unlink(f().c_str()));
  }
}

/// Who was in the old group, and not allowed what everybody was, is one of the others now.
TEST_F(attributes_test, the_old_group_gains_nothing_either) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give the file away";
  const struct {
    const char* name;
    mode_t mode;
    std::vector<list_entry> list;
  } rows[] = {
      {"mode", 0604, {}},
      {"a list", 0, {{owner, 6}, {user, 6, test::nobody}, {group, 0}, {mask, 6}, {others, 4}}},
      {"a mask", 0, {{owner, 6}, {user, 2, test::nobody}, {group, 6}, {mask, 2}, {others, 4}}},
  };
  test::give_to_nobody(t / "ws");
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    t.file("ws/f", "old");
    ASSERT_EQ(0, ::chown(f().c_str(), test::nobody, 4321)); // a group that nobody is not in
    if (row.list.empty()) {
      ASSERT_EQ(0, ::chmod(f().c_str(), row.mode));
    } else {
      set(f(), access_list, list_of(row.list));
    }
    ASSERT_FALSE(can_open(5555, 4321, O_RDONLY));
    ASSERT_TRUE(can_open(5555, 5555, O_RDONLY));
    ASSERT_THAT(write_file(r, "f", "by root"), IsOk()); // who can keep the group: nothing changes
    EXPECT_FALSE(can_open(5555, 4321, O_RDONLY));
    EXPECT_TRUE(can_open(5555, 5555, O_RDONLY));
    const auto end = test::in_child(test::become_nobody,
                                    [&] { EXPECT_THAT(write_file(r, "f", "new"), IsOk()); });
    ASSERT_EQ(end, test::child_end::finished);
    struct stat now{};
    ASSERT_EQ(0, ::stat(f().c_str(), &now));
    ASSERT_EQ(now.st_gid, test::nobody) << "the control: the group is another one";
    EXPECT_FALSE(can_open(5555, 4321, O_RDONLY));
    ASSERT_EQ(0, ::unlink(f().c_str()));
  }
}

TEST_F(attributes_test, a_mode_with_less_for_the_group_is_kept_exactly) {
  for (const mode_t wanted : {0604U, 0406U, 0077U, 0617U})
    for (const auto& how : ways) {
      SCOPED_TRACE(std::string(how.name) + " " + std::to_string(wanted));
      t.file("ws/f", "old");
      ASSERT_EQ(0, ::chmod(f().c_str(), wanted));
      if (::access(f().c_str(), R_OK | W_OK) == 0) { // root; an ordinary user has less
        ASSERT_THAT(how.replace(r), IsOk());
        EXPECT_EQ(wanted, mode());
      }
      ASSERT_EQ(0, ::unlink(f().c_str()));
    }
}

/// The attributes of a name are asked for through /proc, or else of the file itself.
TEST_F(attributes_test, without_proc_lists_and_notes_are_kept_as_well) {
  set(f(), access_list, list_of(for_one_user));
  set(f(), "user.note", "kept");
  const auto list = printed_by("getfacl -cpn " + f());
  const auto notes = printed_by("getfattr -d --absolute-names " + f());
  if (list.empty() || notes.empty()) GTEST_SKIP() << "no getfacl and getfattr here";
  const auto end =
      test::in_child([] { return test::private_mounts() && test::mount_tmpfs("/proc", "size=4k"); },
                     [&] {
                       ASSERT_NE(0, ::access("/proc/self", F_OK)); // the control
                       EXPECT_THAT(write_file(r, "f", "new"), IsOk());
                     });
  if (end == test::child_end::refused) GTEST_SKIP() << "no mounts for this user";
  EXPECT_EQ("new", t.content("ws/f"));
  EXPECT_EQ(list, printed_by("getfacl -cpn " + f()));
  EXPECT_EQ(notes, printed_by("getfattr -d --absolute-names " + f()));
}

TEST_F(attributes_test, capabilities_are_not_kept) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root sets capabilities";
  // Version 2, effective: CAP_NET_RAW permitted.
  const std::string raw("\1\0\0\2\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
  const std::string path = f();
  if (::setxattr(path.c_str(), "security.capability", raw.data(), raw.size(), 0) != 0)
    GTEST_SKIP() << "no capabilities of files here: " << std::strerror(errno);
  set(path, "trusted.layer", "y");
  ASSERT_THAT(write_file(r, "f", "new"), IsOk());
  EXPECT_FALSE(has("security.capability"));
  EXPECT_FALSE(has("trusted.layer")) << "file systems in layers keep their own notes there";
}

TEST_F(attributes_test, a_file_that_cannot_be_read_keeps_its_list) {
  test::give_to_nobody(t / "ws");
  set(f(), access_list, list_of({{owner, 2}, {user, 6, 1234}, {group, 0}, {mask, 6}, {others, 0}}));
  set(f(), "user.note", "private");
  const auto check = [&] {
    EXPECT_THAT(write_file(r, "f", "new"), IsOk());
    EXPECT_TRUE(has(access_list));
  };
  if (::geteuid() != 0) return check();
  ASSERT_EQ(test::in_child(test::become_nobody, check), test::child_end::finished);
  EXPECT_EQ(0260U, mode());
  EXPECT_TRUE(can_open(1234, 5555, O_RDONLY));
  EXPECT_FALSE(has("user.note")) << "what this user cannot read cannot be kept";
}

TEST_F(attributes_test, a_list_that_cannot_be_kept_refuses_the_change) {
  // Users that are unknown in a user namespace cannot be named in a list set from within.
  set(f(), access_list, list_of(for_one_user));
  const auto end = test::in_child(
      [] {
        const std::string uid = "0 " + std::to_string(::geteuid()) + " 1\n";
        const std::string gid = "0 " + std::to_string(::getegid()) + " 1\n";
        if (::unshare(CLONE_NEWUSER) != 0) return false;
        const auto map = [](const char* path, const char* line) {
          const file_descriptor fd(::open(path, O_WRONLY | O_CLOEXEC));
          const auto size = static_cast<ssize_t>(std::strlen(line));
          return fd && ::write(fd.get(), line, std::strlen(line)) == size;
        };
        return map("/proc/self/setgroups", "deny") && map("/proc/self/uid_map", uid.c_str()) &&
               map("/proc/self/gid_map", gid.c_str());
      },
      [&] {
        const auto done = write_file(r, "f", "new");
        EXPECT_THAT(done, IsError(error_code::permission_denied));
        EXPECT_EQ("old", t.content("ws/f"));
      });
  if (end == test::child_end::refused) GTEST_SKIP() << "no user namespaces for this user";
  EXPECT_TRUE(has(access_list));
}

TEST_F(attributes_test, without_extended_attributes_files_are_replaced_as_ever) {
  const auto end = test::in_child(
      [&] {
        return test::private_mounts() &&
               ::mount("none", (t / "ws").c_str(), "ramfs", 0, nullptr) == 0;
      },
      [&] {
        const root plain = test::open_root(t / "ws", resolver::automatic);
        t.file("ws/f", "old");
        ASSERT_NE(0, ::setxattr(f().c_str(), "user.note", "", 0, 0));
        ASSERT_EQ(0, ::chmod(f().c_str(), 0604));
        for (const auto& how : ways) {
          EXPECT_THAT(how.replace(plain), IsOk()) << how.name;
          t.file("ws/f", "old");
        }
        EXPECT_EQ(0604U, mode());
      });
  if (end == test::child_end::refused) GTEST_SKIP() << "no mounts for this user";
}

} // namespace
} // namespace paddock
