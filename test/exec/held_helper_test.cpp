// SPDX-License-Identifier: MIT

// The helper program is what it was when it was loaded: nobody who may write where it lies can put
// another one in its place.

#include "exec/supervised_program.hpp"
#include "support/process/command_fixture.hpp"
#include "support/process/descriptors.hpp"
#include "support/process/told.hpp"

#include <sched.h>
#include <sys/resource.h>

namespace paddock::test {
namespace {

class HeldHelper : public command_fixture {
protected:
  /// A copy of the helper that nothing has loaded yet.
  [[nodiscard]] std::string copy(const char* name) const {
    std::filesystem::copy_file(PADDOCK_TEST_HELPER, tree_ / name);
    return tree_ / name;
  }
  [[nodiscard]] std::string said(const std::string& helper) const {
    auto asked = make({"echo", "done"});
    asked.helper = helper;
    const auto r = run(asked);
    return r ? r->out.text() : std::string(wire_name(r.error().code));
  }
};

/// Ways in which somebody who may write there puts another program in its place.
void write_into(const std::string& path) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << "#!/bin/sh\nexit 0\n";
}
void replace(const std::string& path) {
  write_into(path + ".new");
  std::filesystem::permissions(path + ".new", std::filesystem::perms::all);
  std::filesystem::rename(path + ".new", path);
}
void remove(const std::string& path) {
  std::filesystem::remove(path);
}
void move_its_directory(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  std::filesystem::rename(directory, directory + ".old");
  std::filesystem::create_directory(directory);
  std::filesystem::copy_file("/bin/true", path);
}

constexpr struct {
  const char* name;
  void (*attack)(const std::string& path);
} attacks[] = {{"written-into", write_into},
               {"replaced", replace},
               {"removed", remove},
               {"moved", move_its_directory}};

TEST_F(HeldHelper, StaysWhatItWasWhenItWasLoaded) {
  for (const auto& each : attacks) {
    for (const bool used : {false, true}) {
      SCOPED_TRACE(std::string(each.name) + (used ? " after a command" : " before any command"));
      const std::string name = std::string(each.name) + (used ? "-used" : "");
      tree_.directory(name);
      const std::string path = copy((name + "/helper").c_str());
      const auto loaded = load_command_helper(path);
      ASSERT_THAT(loaded, IsOk());
      EXPECT_EQ(loaded->path, path);
      EXPECT_EQ(loaded->form, helper_form::sealed);
      if (used) {
        EXPECT_EQ(said(path), "done\n");
      }
      each.attack(path);
      EXPECT_EQ(said(path), "done\n");
    }
    // The control: where nobody has loaded it, what lies there is taken.
    tree_.directory(std::string(each.name) + "-control");
    const std::string path = copy((std::string(each.name) + "-control/helper").c_str());
    each.attack(path);
    EXPECT_EQ(said(path), "unsupported");
  }
}

TEST_F(HeldHelper, IsRunByItsDescriptorWhereMemoryMayNotBeRun) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  const std::string path = copy("helper");
  const std::string told = told_by([&]() -> std::string {
    // The setting belongs to a PID namespace.
    if (::unshare(CLONE_NEWPID) != 0) return "skipped";
    return told_by([&]() -> std::string {
      std::ofstream setting("/proc/sys/vm/memfd_noexec");
      setting << "2\n";
      setting.close();
      if (!setting) return "skipped";
      const auto loaded = load_command_helper(path);
      if (!loaded) return "not loaded";
      std::string text = loaded->form == helper_form::opened ? "opened " : "sealed ";
      replace(path);
      return text + said(path);
    });
  });
  if (told == "skipped") GTEST_SKIP() << "this kernel has no vm.memfd_noexec";
  EXPECT_EQ(told, "opened done\n");
}

/// What a process says that has so many descriptors left, then all, and then runs an `echo`;
/// between the two another program takes the helper's place.
TEST_F(HeldHelper, IsCopiedLaterWhereACopyCannotBeHadNow) {
  constexpr struct {
    const char* name;
    int left;
    const char* told;
  } rows[] = {{"none for the file", 0, "too_many, sealed, unsupported"},
              {"none for the copy", 1, "too_many, sealed, done\n"},
              {"enough", 8, "sealed, sealed, done\n"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const std::string name = std::string("left-") + std::to_string(row.left);
    const std::string path = copy(name.c_str());
    const auto form = [&] {
      const auto loaded = load_command_helper(path);
      if (!loaded) return std::string(wire_name(loaded.error().code));
      return std::string(loaded->form == helper_form::sealed ? "sealed" : "opened");
    };
    const std::string told = told_by([&] {
      rlimit bound{};
      ::getrlimit(RLIMIT_NOFILE, &bound);
      const rlimit before = bound;
      bound.rlim_cur = 64;
      ::setrlimit(RLIMIT_NOFILE, &bound);
      std::vector<int> taken;
      for (int fd = ::dup(0); fd >= 0; fd = ::dup(0))
        taken.push_back(fd);
      for (int i = 0; i < row.left; ++i) {
        ::close(taken.back());
        taken.pop_back();
      }
      std::string text = form();
      ::setrlimit(RLIMIT_NOFILE, &before);
      replace(path);
      text += ", " + form();
      return text + ", " + said(path);
    });
    EXPECT_EQ(told, row.told);
  }
}

TEST_F(HeldHelper, IsLookedForAgainWhileItIsMissing) {
  const std::string path = tree_ / "late";
  ASSERT_THAT(load_command_helper(path), IsError(error_code::unsupported));
  EXPECT_EQ(said(path), "unsupported");
  EXPECT_EQ(copy("late"), path);
  EXPECT_EQ(said(path), "done\n");
  for (const std::string& none :
       {tree_.path(), std::string("/dev/null"), std::string("/etc/passwd")}) {
    const auto loaded = load_command_helper(none);
    ASSERT_THAT(loaded, IsError(error_code::unsupported)) << none;
    EXPECT_STREQ(loaded.error().operation, "helper");
  }
}

TEST_F(HeldHelper, IsLoadedOnceHoweverManyAsk) {
  const std::string path = copy("helper");
  const auto before = open_descriptors();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { good += load_command_helper(path).has_value() ? 1 : 0; });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(open_descriptors().size(), before.size() + 2); // the file and its copy
}

TEST_F(HeldHelper, MayBeOneThatCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const std::string path = copy("helper");
  ASSERT_EQ(0, ::chmod(path.c_str(), 0111));
  const auto loaded = load_command_helper(path);
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->form, helper_form::opened);
  EXPECT_EQ(said(path), "done\n");
}

// The current directory never decides which helper confines, wherever the program lies.
TEST(HelperDirectories, AreAbsolute) {
  const struct {
    const char* program;
    const char* beside;
    const char* in_libexec;
  } cases[] = {
      {"/usr/bin/agent", "/usr/bin", "/usr/libexec/paddock"},
      {"/bin/agent", "/bin", "/libexec/paddock"},
      {"/agent", "/", "/libexec/paddock"},
  };
  for (const auto& each : cases) {
    const auto directories = helper_directories_of(each.program);
    ASSERT_GE(directories.size(), 2u) << each.program;
    EXPECT_EQ(each.beside, directories[0]) << each.program;
    EXPECT_EQ(each.in_libexec, directories[1]) << each.program;
  }
  for (const char* program : {"/agent", "/bin/agent", "agent", "bin/agent", ""})
    for (const std::string& directory : helper_directories_of(program))
      EXPECT_TRUE(directory.starts_with('/')) << program << ": " << directory;
}

} // namespace
} // namespace paddock::test
