// SPDX-License-Identifier: MIT

// Negative controls: what the attackers of this harness must be able to do to programs that look
// first and act then. Each of these strategies has to lose.

#include "attacks.hpp"
#include "strategies.hpp"

#include <dirent.h>
#include <sched.h>

namespace paddock::test {
namespace {

constexpr int tries_max = 1'000'000;

/// Repeats a strategy until it has lost.
void expect_to_lose(const char* strategy, const std::function<bool()>& lost) {
  for (int i = 1; i <= tries_max; ++i)
    if (lost()) {
      std::printf("[ control  ] %s: lost in try %d\n", strategy, i);
      return;
    }
  FAIL() << strategy << ": the attack never worked, so the other tests prove nothing";
}

std::string attacker_name(attacker_kind kind) {
  return kind == attacker_kind::process ? "process" : "thread";
}

/// Every attacker and every attack.
class race_control : public testing::TestWithParam<std::tuple<attacker_kind, attack>> {
protected:
  race_control() { build_for_attacks(canary); }
  const attacker_kind kind = std::get<0>(GetParam());
  const attack by = std::get<1>(GetParam());
  canary_tree canary;
};

TEST_P(race_control, what_was_looked_at_is_not_what_is_opened) {
  const std::string name = canary.tree() / by.a;
  const home at(canary.tree() / by.home);
  at.prepare();
  const attacker enemy(kind, name, canary.tree() / by.b);
  expect_to_lose("look, then open", [&] {
    struct stat looked{}, opened{};
    if (::lstat(name.c_str(), &looked) != 0) return false;
    ::sched_yield();
    const file_descriptor fd(::open(name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    return fd && ::fstat(fd.get(), &opened) == 0 && looked.st_ino != opened.st_ino;
  });
}

std::vector<attack> attacks_that_lead_out() {
  std::vector<attack> some;
  for (const auto& by : attacks())
    if (leads_out(by)) some.push_back(by);
  return some;
}

class escape_control : public race_control {};

TEST_P(escape_control, a_checked_path_leads_out) {
  const home at(canary.tree() / by.home);
  at.prepare();
  const std::string file = std::string(by.path) + '/' + victim_name;
  const attacker enemy(kind, canary.tree() / by.a, canary.tree() / by.b);
  expect_to_lose("check the path, then open it",
                 [&] { return read_naively(by, canary.ws(), file).starts_with(outside_mark); });
}

constexpr auto name_of_case = [](const auto& suite) {
  return std::string(std::get<1>(suite.param).name) + "_by_a_" +
         attacker_name(std::get<0>(suite.param));
};
const auto both = testing::Values(attacker_kind::thread, attacker_kind::process);
INSTANTIATE_TEST_SUITE_P(every, race_control,
                         testing::Combine(both,
                                          testing::ValuesIn(attacks().begin(), attacks().end())),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(every, escape_control,
                         testing::Combine(both, testing::ValuesIn(attacks_that_lead_out())),
                         name_of_case);

/// By both attackers, on the attack that every program meets.
class strategy_control : public testing::TestWithParam<attacker_kind> {
protected:
  strategy_control() { build_for_attacks(canary); }
  canary_tree canary;
  const temp_tree& t = canary.tree();
};

INSTANTIATE_TEST_SUITE_P(every, strategy_control,
                         testing::Values(attacker_kind::thread, attacker_kind::process),
                         [](const auto& suite) { return "by_a_" + attacker_name(suite.param); });

TEST_P(strategy_control, check_then_create_escapes) {
  const attacker enemy(GetParam(), t / "ws/d", t / "ws/x");
  expect_to_lose("check the parent, then create", [&] {
    const std::string parent = checked_path(canary.ws(), "d");
    if (parent.empty()) return false;
    ::sched_yield();
    const std::string path = parent + '/' + new_name;
    const file_descriptor fd(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    const bool lost = t.exists(std::string("out/") + new_name);
    ::unlink(path.c_str());
    return lost;
  });
}

TEST_P(strategy_control, check_then_make_directory_escapes) {
  const attacker enemy(GetParam(), t / "ws/d", t / "ws/x");
  expect_to_lose("check the parent, then make a directory", [&] {
    const std::string parent = checked_path(canary.ws(), "d");
    if (parent.empty()) return false;
    ::sched_yield();
    ::mkdir((parent + "/made").c_str(), 0777);
    const bool lost = t.exists("out/made");
    ::rmdir((parent + "/made").c_str());
    return lost;
  });
}

TEST_P(strategy_control, check_then_change_directory_escapes) {
  const attacker enemy(GetParam(), t / "ws/d", t / "ws/x");
  expect_to_lose("check the directory, then go there", [&] {
    const std::string path = checked_path(canary.ws(), "d");
    if (path.empty()) return false;
    ::sched_yield();
    const file_descriptor fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return false;
    struct stat there{}, out{};
    return ::fstat(fd.get(), &there) == 0 && ::stat(canary.out().c_str(), &out) == 0 &&
           there.st_ino == out.st_ino;
  });
}

TEST_P(strategy_control, a_dangling_link_that_was_a_directory_is_created_through) {
  const attacker enemy(GetParam(), t / "ws/d", t / "ws/gone");
  expect_to_lose("look for a link, then create", [&] {
    struct stat looked{};
    const std::string path = canary.ws() + "/d";
    if (::lstat(path.c_str(), &looked) != 0 || S_ISLNK(looked.st_mode)) return false;
    ::sched_yield();
    const file_descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    return t.exists("out/not-there");
  });
}

/// What many programs do: look whether it is a directory, then go down by its path.
void remove_after_look(const std::string& path) {
  struct stat s{};
  if (::lstat(path.c_str(), &s) != 0) return;
  if (!S_ISDIR(s.st_mode)) {
    ::unlink(path.c_str());
    return;
  }
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") remove_after_look(path + '/' + entry->d_name);
  }
  ::closedir(directory);
  ::rmdir(path.c_str());
}

TEST_P(strategy_control, look_then_remove_harms_the_outside) {
  t.directory("ws/trap/d");
  t.link("ws/trap/x", "../../out/sub");
  const std::string d = t / "ws/trap/d";
  const std::string x = t / "ws/trap/x";
  const attacker enemy(GetParam(), d, x);
  expect_to_lose("look, then remove", [&] {
    remove_after_look(d);
    if (!t.exists("out/sub/deep/secret")) return true;
    ::mkdir(d.c_str(), 0777); // whichever name was consumed
    ::mkdir(x.c_str(), 0777);
    struct stat at_d{}, at_x{};
    const bool both_directories = ::lstat(d.c_str(), &at_d) == 0 &&
                                  ::lstat(x.c_str(), &at_x) == 0 && S_ISDIR(at_d.st_mode) &&
                                  S_ISDIR(at_x.st_mode);
    if (both_directories) {
      ::rmdir(x.c_str());
      EXPECT_TRUE(::symlink("../../out/sub", x.c_str()) == 0 || errno == EEXIST);
    }
    return false;
  });
}

} // namespace
} // namespace paddock::test
