// SPDX-License-Identifier: MIT

// Two commands that help each other: one passes an open directory of the workspace to the other,
// through a socket, and ends. What was covered in there stays so. Beside it runs the control: what
// is not protected is reached the same way.

#include "support/process/command_fixture.hpp"
#include "support/process/process.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>

namespace paddock::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* giver = R"(python3 -c '
import array, os, socket, time
s = socket.socket(socket.AF_UNIX)
while True:
    try:
        s.connect("socket")
        break
    except OSError:
        time.sleep(0.01)
top = array.array("i", [os.open(".", os.O_RDONLY)])
s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, top)])
s.recv(1)
')";

/// Tells the giver to end, waits for the test to say that it has, and says what it reaches.
constexpr const char* taker = R"(python3 -c '
import array, os, socket, time
s = socket.socket(socket.AF_UNIX)
s.bind("socket")
s.listen()
c = s.accept()[0]
given = array.array("i")
given.frombytes(c.recvmsg(1, socket.CMSG_SPACE(4))[1][0][2])
top = given[0]
c.close()
while not os.path.exists("go"):
    time.sleep(0.01)
def tried(what, how):
    try:
        print(what, how())
    except OSError as e:
        print(what, e.strerror)
def opened(path, flags):
    return os.open(path, flags, 0o644, dir_fd=top)
def written(path):
    return os.write(opened(path, os.O_WRONLY | os.O_APPEND), b"evil")
tried("ordinary", lambda: os.read(opened("file", os.O_RDONLY), 99))
tried("hidden", lambda: os.read(opened(".perstack/state", os.O_RDONLY), 99))
tried("config", lambda: written(".git/config"))
tried("hook", lambda: opened(".git/hooks/post-checkout", os.O_WRONLY | os.O_CREAT))
tried("renamed", lambda: os.rename(".git", "other", src_dir_fd=top, dst_dir_fd=top))
')";

class passed_directory_test : public command_fixture {
protected:
  void SetUp() override {
    for (const char* each :
         {"ws", "ws/.perstack", "ws/.git", "ws/.git/hooks", "ws/.git/objects", "ws/.git/refs"})
      tree_.directory(each);
    tree_.file("ws/file", "plain");
    tree_.file("ws/.perstack/state", "secret");
    tree_.file("ws/.git/config", "[core]\n");
    tree_.file("ws/.git/HEAD", "ref: refs/heads/main\n");
  }

  [[nodiscard]] command_outcome in_fence(const char* script, bool is_protected) const {
    command asked = shell(script);
    asked.confinement = {};
    if (!is_protected) asked.confinement.protected_names = {};
    asked.working_directory = ::open((tree_ / "ws").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    asked.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C"};
    auto r = run(asked);
    ::close(asked.working_directory);
    EXPECT_THAT(r, IsOk());
    return r ? *std::move(r) : command_outcome{};
  }

  /// What the taker reached after the giver had ended.
  [[nodiscard]] command_outcome both(bool is_protected) const {
    fs::remove(tree_ / "ws/socket");
    fs::remove(tree_ / "ws/go");
    command_outcome taken;
    std::thread second([&] { taken = in_fence(taker, is_protected); });
    const command_outcome given = in_fence(giver, is_protected);
    EXPECT_EQ(given.exit_code, 0) << given.err.text();
    tree_.file("ws/go", "");
    second.join();
    return taken;
  }

  void check() const {
    const command_outcome probe = in_fence("python3 -c 'import socket; "
                                           "socket.socket(socket.AF_UNIX)'",
                                           true);
    if (probe.exit_code != 0) GTEST_SKIP() << "no python3, or no sockets";
    if (!probe.confinement.of(confinement_layer::protected_entries).applied)
      GTEST_SKIP() << probe.confinement.of(confinement_layer::protected_entries).missing;
    const std::string reached{both(true).out.text()};
    EXPECT_THAT(reached, HasSubstr("ordinary b'plain'"));
    EXPECT_THAT(reached, Not(HasSubstr("secret")));
    EXPECT_THAT(reached, HasSubstr("config Read-only file system"));
    EXPECT_THAT(reached, HasSubstr("hook Read-only file system"));
    EXPECT_THAT(reached, HasSubstr("renamed Device or resource busy"));
    const std::string unprotected{both(false).out.text()};
    EXPECT_THAT(unprotected, HasSubstr("hidden b'secret'"));
    EXPECT_THAT(unprotected, HasSubstr("config 4"));
    EXPECT_TRUE(tree_.exists("ws/other"));
  }
};

TEST_F(passed_directory_test, stays_covered_when_who_passed_it_has_ended) {
  check();
}

TEST_F(passed_directory_test, of_an_ordinary_user_too) {
  if (::geteuid() != 0) GTEST_SKIP() << "that is who runs this";
  ::chmod(tree_.path().c_str(), 0755);
  for (const auto& entry : fs::recursive_directory_iterator(tree_.path()))
    ASSERT_EQ(0, ::lchown(entry.path().c_str(), nobody, nobody));
  const auto end = in_child(
      [] {
        return ::access(PADDOCK_TEST_HELPER, X_OK) == 0 && become_nobody() &&
               ::prctl(PR_SET_DUMPABLE, 1) == 0 && ::access(PADDOCK_TEST_HELPER, X_OK) == 0;
      },
      [&] { check(); });
  if (end == child_end::refused) GTEST_SKIP() << "the build directory is private";
  EXPECT_EQ(end, child_end::finished);
}

} // namespace
} // namespace paddock::test
