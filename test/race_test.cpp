// SPDX-License-Identifier: MIT

// An attacker exchanges directories and links while operations run. Whatever an operation answers,
// it must have come from inside, and the outside must be what it was. The same harness, pointed at
// checks that resolve a path twice, has to see them fail: otherwise it proves nothing.
//
// PADDOCK_RACE_ROUNDS sets the rounds of each operation (spread over resolvers and attacks).

#include "support/canary.hpp"
#include "support/matchers.hpp"

#include <paddock/directory.hpp>
#include <paddock/file.hpp>
#include <paddock/root.hpp>

#include <gtest/gtest.h>

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

namespace paddock {
namespace {

using test::canary_tree;

int rounds_of_an_operation() {
  const char* asked = std::getenv("PADDOCK_RACE_ROUNDS");
  return asked != nullptr ? std::atoi(asked) : 3000;
}

/// In memory where possible: truncating and replacing files waits for a disk, and an operation that
/// waits is not racing.
class in_memory : public testing::Environment {
  void SetUp() override {
    if (::access("/dev/shm", W_OK | X_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new in_memory); // NOLINT: owned

/// Exchanges two names as fast as it can until it is destroyed.
class attacker {
public:
  attacker(std::string a, std::string b)
      : thread_([this, a = std::move(a), b = std::move(b)] {
          while (!done_.load(std::memory_order_relaxed))
            if (::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(),
                          RENAME_EXCHANGE) == 0)
              swaps_.fetch_add(1, std::memory_order_relaxed);
        }) {}
  attacker(const attacker&) = delete;
  attacker& operator=(const attacker&) = delete;
  ~attacker() {
    done_ = true;
    thread_.join();
  }
  [[nodiscard]] long swaps() const { return swaps_.load(std::memory_order_relaxed); }
  void wait_for_swaps(long count) const {
    while (swaps() < count)
      std::this_thread::yield();
  }

private:
  std::atomic<bool> done_{false};
  std::atomic<long> swaps_{0};
  std::thread thread_;
};

/// What is exchanged, and the path that operations are given. Every attack has a directory with the
/// victims inside the workspace and names like them outside.
struct attack {
  const char* name;
  const char* a;    ///< beneath the directory that holds ws and out
  const char* b;    ///< exchanged with a
  const char* home; ///< the directory of the victims, beneath it before the attack
  const char* path; ///< how operations spell that directory, relative to ws
};

const attack attacks[] = {
    {"directory_with_link", "ws/d", "ws/x", "ws/d", "d"},
    {"directory_with_link_dotdot", "ws/d", "ws/x", "ws/d", "d/../d/../d"},
    {"parent_with_link", "ws/p", "ws/px", "ws/p/q/d", "p/q/d"},
    {"directory_with_file", "ws/d", "ws/file", "ws/d", "d"},
    {"link_with_link", "ws/l", "ws/x", "ws/d", "l"},
    {"directory_with_dangling_link", "ws/d", "ws/gone", "ws/d", "d"},
    {"way_up_with_outside", "ws/p/way", "out/way", "ws/p/q/d", "p/way/../q/d"},
    {"victim_with_link", "ws/d/f", "ws/d/fx", "ws/d", "d"},
};

void build(const canary_tree& canary) {
  const auto& t = canary.tree();
  for (const char* name : {"ws/d", "ws/p/q/d", "ws/p/way", "out/way", "out/q/d"})
    t.directory(name);
  t.file("ws/file", "INSIDE");
  // Everything an operation may look for has a namesake outside.
  for (const char* directory : {"out/", "out/q/d/"}) {
    for (const char* name : {"f", "to"})
      t.file(std::string(directory) + name, std::string(test::outside_mark) + " in out");
    t.directory(std::string(directory) + "sub/deep");
    t.file(std::string(directory) + "sub/deep/secret", test::outside_mark);
  }
  std::filesystem::remove(canary.out() + "/to"); // where moves and writes would be seen
  t.link("ws/x", "../out");
  t.link("ws/px", "../out");
  t.link("ws/l", "d");
  t.link("ws/gone", "../out/not-there");
  t.link("ws/d/fx", "../../out/f");
}

/// The directory of the victims, held by descriptor: it is reached wherever the attacker has put
/// its name.
class home {
public:
  explicit home(const std::string& path)
      : fd_(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    EXPECT_TRUE(fd_);
  }
  /// Makes what operations consume. Names that are there already stay.
  void prepare() const {
    const file_descriptor f(
        ::openat(fd_.get(), "f", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (f) {
      EXPECT_EQ(6, ::write(f.get(), "INSIDE", 6));
    }
    ::mkdirat(fd_.get(), "sub", 0777);
    ::mkdirat(fd_.get(), "sub/deep", 0777);
    const file_descriptor deep(
        ::openat(fd_.get(), "sub/deep/g", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!is_link("f") && !is_link("fx")) { // an operation consumed it
      ::unlinkat(fd_.get(), "fx", 0);
      EXPECT_TRUE(::symlinkat("../../out/f", fd_.get(), "fx") == 0 || errno == EEXIST);
    }
  }
  void clear(const char* name) const {
    ::unlinkat(fd_.get(), name, 0);
    ::unlinkat(fd_.get(), name, AT_REMOVEDIR);
  }

private:
  [[nodiscard]] bool is_link(const char* name) const {
    char first = 0;
    return ::readlinkat(fd_.get(), name, &first, 1) >= 0;
  }
  file_descriptor fd_;
};

struct victim {
  const root& r;
  std::string path; ///< of the directory, as the attack spells it
  const home& at;
};

struct operation {
  const char* name;
  bool (*run)(const victim&); ///< whether it succeeded
};

bool comes_from_inside(std::string_view bytes) {
  EXPECT_EQ(bytes.find(test::outside_mark), std::string_view::npos) << bytes;
  return true;
}

const operation operations[] = {
    {"read",
     [](const victim& v) {
       const auto got = read_file(v.r, v.path + "/f");
       return got && comes_from_inside(got->bytes);
     }},
    {"read_lines",
     [](const victim& v) {
       const auto got = read_lines(v.r, v.path + "/f", {.from = 0, .to = 1});
       return got && comes_from_inside(got->text);
     }},
    {"write",
     [](const victim& v) { return write_file(v.r, v.path + "/f", "INSIDE, new").has_value(); }},
    {"write_new",
     [](const victim& v) {
       const bool done = write_file(v.r, v.path + "/to", "INSIDE, new").has_value();
       v.at.clear("to");
       return done;
     }},
    {"append",
     [](const victim& v) { return append_file(v.r, v.path + "/f", ", more").has_value(); }},
    {"edit",
     [](const victim& v) {
       const text_edit change{.old_text = "SIDE", .new_text = "SIDE."};
       return edit_file(v.r, v.path + "/f", change).has_value();
     }},
    {"list",
     [](const victim& v) {
       const auto got = list_directory(v.r, v.path + "/sub/deep");
       if (!got) return false;
       EXPECT_EQ(got->names.find("secret"), std::string::npos);
       return true;
     }},
    {"inspect",
     [](const victim& v) {
       const auto got = inspect(v.r, v.path + "/f");
       if (!got) return false;
       EXPECT_NE(got->status.size, test::outside_mark.size() + 7);
       EXPECT_NE(got->status.kind, entry_kind::symlink);
       return true;
     }},
    {"working_directory", // of a command, which sees what it can open from there
     [](const victim& v) {
       const auto at = v.r.open_beneath(v.path, access::inspect);
       if (!at) return false;
       const file_descriptor f(::openat(at->fd.get(), "f", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
       std::array<char, 64> bytes{};
       return f && ::read(f.get(), bytes.data(), bytes.size()) > 0 &&
              comes_from_inside(bytes.data());
     }},
    {"move_away",
     [](const victim& v) {
       const bool done = move_entry(v.r, v.path + "/f", "arrived").has_value();
       if (done) {
         EXPECT_TRUE(remove_file(v.r, "arrived").has_value());
       }
       return done;
     }},
    {"move_here",
     [](const victim& v) {
       (void)write_file(v.r, "traveller", "INSIDE");
       const bool done = move_entry(v.r, "traveller", v.path + "/to").has_value();
       v.at.clear("to");
       return done;
     }},
    {"remove_file", [](const victim& v) { return remove_file(v.r, v.path + "/f").has_value(); }},
    {"create_directory",
     [](const victim& v) {
       const bool done = create_directory(v.r, v.path + "/new/er").has_value();
       v.at.clear("new/er");
       v.at.clear("new");
       return done;
     }},
    {"remove_directory",
     [](const victim& v) {
       return remove_directory(v.r, v.path + "/sub", {.recursive = recursion::yes}).has_value();
     }},
};

/// The outside without the directories that the attack itself moves.
std::string outside_of(const canary_tree& canary) {
  std::string all = test::describe_tree(canary.out());
  std::string kept;
  for (std::size_t at = 0; at < all.size();) {
    const auto end = all.find('\n', at) + 1;
    const std::string row = all.substr(at, end - at);
    const bool moving = row.find("/out/way ") != std::string::npos;
    const bool top = row.starts_with(canary.out() + ' '); // its time changes with the exchange
    if (!moving && !top) kept += row;
    at = end;
  }
  return kept;
}

class race_test : public testing::TestWithParam<std::tuple<resolver, operation>> {};

TEST_P(race_test, stays_inside) {
  const auto& [how, op] = GetParam();
  const int rounds =
      std::max(1, rounds_of_an_operation() / static_cast<int>(2 * std::size(attacks)));
  long done = 0;
  long swaps = 0;
  for (const auto& attack : attacks) {
    SCOPED_TRACE(attack.name);
    const canary_tree canary;
    build(canary);
    const root r = test::open_root(canary.ws(), how);
    const home at(canary.tree() / attack.home);
    const victim v{r, attack.path, at};
    at.prepare();
    const std::string outside = outside_of(canary);
    {
      const attacker enemy(canary.tree() / attack.a, canary.tree() / attack.b);
      enemy.wait_for_swaps(1);
      for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
        at.prepare();
        done += op.run(v) ? 1 : 0;
      }
      swaps += enemy.swaps();
    }
    ASSERT_EQ(outside, outside_of(canary));
    for (const char* name : {"out/to", "out/new", "out/q/d/new", "out/sub/deep/g"})
      EXPECT_FALSE(canary.tree().exists(name)) << name;
  }
  const long total = static_cast<long>(rounds) * static_cast<long>(std::size(attacks));
  std::printf("[ rounds   ] %s %s: %ld rounds, %ld succeeded, %ld exchanges, 0 escapes\n", op.name,
              test::name_of(how).c_str(), total, done, swaps);
  EXPECT_GT(done, 0) << "nothing ever worked, so nothing was tested";
}

INSTANTIATE_TEST_SUITE_P(every, race_test,
                         testing::Combine(testing::Values(resolver::openat2, resolver::walker),
                                          testing::ValuesIn(operations)),
                         [](const auto& suite) {
                           return std::string(std::get<1>(suite.param).name) + "_" +
                                  test::name_of(std::get<0>(suite.param));
                         });

// --- negative controls: what this harness must be able to see ------------------------------------

/// What many programs do: resolve the path, compare the prefix, use the path.
std::string read_after_check(const std::string& ws, const std::string& path) {
  std::array<char, PATH_MAX> real;
  if (::realpath((ws + '/' + path).c_str(), real.data()) == nullptr) return {};
  if (!std::string_view(real.data()).starts_with(ws + '/')) return {};
  const file_descriptor fd(::open(real.data(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return {};
  std::string bytes(256, '\0');
  const auto n = ::read(fd.get(), bytes.data(), bytes.size());
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

TEST(race_control, check_then_open_escapes) {
  constexpr int tries_max = 2'000'000;
  const canary_tree canary;
  build(canary);
  const home at(canary.ws() + "/d");
  at.prepare();
  const attacker enemy(canary.ws() + "/d", canary.ws() + "/x");
  for (int i = 1; i <= tries_max; ++i)
    if (read_after_check(canary.ws(), "d/f").find(test::outside_mark) != std::string::npos) {
      std::printf("[ control  ] check, then open: escaped in try %d\n", i);
      return;
    }
  FAIL() << "the attack never worked, so the other tests prove nothing";
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

TEST(race_control, look_then_remove_harms_the_outside) {
  constexpr int tries_max = 200'000;
  const canary_tree canary;
  build(canary);
  const auto& t = canary.tree();
  t.directory("ws/trap");
  t.link("ws/trap/x", "../../out/sub");
  t.directory("ws/trap/d");
  const attacker enemy(canary.ws() + "/trap/d", canary.ws() + "/trap/x");
  for (int i = 1; i <= tries_max; ++i) {
    remove_after_look(canary.ws() + "/trap/d");
    if (!t.exists("out/sub/deep/secret")) {
      std::printf("[ control  ] look, then remove: harm in try %d\n", i);
      return;
    }
    ::mkdir((canary.ws() + "/trap/d").c_str(), 0777); // whichever name was consumed
    ::mkdir((canary.ws() + "/trap/x").c_str(), 0777);
    struct stat d{}, x{};
    const bool both_directories = ::lstat((canary.ws() + "/trap/d").c_str(), &d) == 0 &&
                                  ::lstat((canary.ws() + "/trap/x").c_str(), &x) == 0 &&
                                  S_ISDIR(d.st_mode) && S_ISDIR(x.st_mode);
    if (both_directories) {
      ::rmdir((canary.ws() + "/trap/x").c_str());
      EXPECT_TRUE(::symlink("../../out/sub", (canary.ws() + "/trap/x").c_str()) == 0 ||
                  errno == EEXIST);
    }
  }
  FAIL() << "the attack never worked, so the other tests prove nothing";
}

} // namespace
} // namespace paddock
