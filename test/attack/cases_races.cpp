// SPDX-License-Identifier: MIT

// Somebody exchanges names while operations run. These are short rounds, so that each attack is
// tried with every back end, user and interface; race_test.cpp has the long ones.

#include "corpus.hpp"

#include <linux/fs.h>
#include <sys/syscall.h>

#include <climits>

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

constexpr int rounds = 25;

/// Repeats something as fast as it can until it is destroyed.
class busy {
public:
  template <class Work>
  explicit busy(Work work)
      : thread_([this, work = std::move(work)] {
          while (!done_.load(std::memory_order_relaxed)) {
            work();
            started_.store(true, std::memory_order_relaxed);
          }
        }) {
    while (!started_.load(std::memory_order_relaxed))
      std::this_thread::yield();
  }
  busy(const busy&) = delete;
  busy& operator=(const busy&) = delete;
  ~busy() {
    done_ = true;
    thread_.join();
  }

private:
  std::atomic<bool> done_{false};
  std::atomic<bool> started_{false};
  std::thread thread_;
};

auto exchanging(const std::string& a, const std::string& b) {
  return [a, b] {
    (void)::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
  };
}

/// `d` and what it is exchanged with: the outside, a file, a link to nowhere, a link to a file, a
/// link to what is the same directory by another name.
void make_victims(scene& s) {
  s.tree().directory("ws/d/sub");
  s.tree().file("ws/d/f", inside_mark);
  s.tree().file("ws/d/sub/f", inside_mark);
  s.tree().directory("ws/same");
  s.tree().file("ws/same/f", inside_mark);
  s.tree().file("ws/file", inside_mark);
  s.tree().link("ws/outside", "../out");
  s.tree().link("ws/absolute", s.out());
  s.tree().link("ws/nowhere", "../out/not-there");
  s.tree().link("ws/to_file", "../out/secret");
  s.tree().link("ws/equal", "same");
}

/// Whatever is answered, nothing of it comes from outside; and something has been answered.
void stays_inside(session& s, const std::string& path, std::initializer_list<action> actions) {
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i)
    for (const auto what : actions) {
      const answer got = s.perform({.what = what, .path = path, .other = std::string(inside_mark)});
      EXPECT_EQ(got.raw.find(outside_mark), std::string::npos) << got.raw;
    }
}

std::vector<row> exchanges() {
  return {
      {.id = "P37",
       .name = "directory_and_link_exchanged",
       .build = make_victims,
       .check =
           [](session& s) {
             const busy enemy(exchanging(s.at.ws() + "/d", s.at.ws() + "/outside"));
             stays_inside(s, "d/f", {read, inspect, write, append, edit});
             stays_inside(s, "d", {list, enter});
           }},
      {.id = "P38",
       .name = "directory_and_link_exchanged_below_dotdot",
       .build = make_victims,
       .check =
           [](session& s) {
             const busy enemy(exchanging(s.at.ws() + "/d", s.at.ws() + "/outside"));
             stays_inside(s, "d/../d/../d/f", {read, inspect, write, append});
             stays_inside(s, "d/../d/sub/..", {list, enter});
           }},
      {.id = "P40",
       .name = "other_exchanges",
       .build = make_victims,
       .check =
           [](session& s) {
             for (const char* other :
                  {"ws/file", "ws/nowhere", "ws/to_file", "ws/equal", "ws/absolute", "ws/same"}) {
               SCOPED_TRACE(other);
               const busy enemy(exchanging(s.at.ws() + "/d", s.at.tree() / other));
               stays_inside(s, "d/f", {read, write});
               stays_inside(s, "d/sub/../../d/f", {read, append});
               stays_inside(s, "d", {list});
             }
           }},
      {.id = "P40",
       .name = "exchanges_with_the_outside",
       .build =
           [](scene& s) {
             make_victims(s);
             s.tree().directory("elsewhere/sub");
             s.tree().file("elsewhere/sub/g", outside_mark);
             s.tree().file("elsewhere/g", outside_mark);
           },
       .check =
           [](session& s) {
             { // what is moved in is inside then; the way up from it is not the way it came
               const busy enemy(exchanging(s.at.ws() + "/d/sub", s.at.tree() / "elsewhere/sub"));
               stays_inside(s, "d/sub/../g", {read, inspect, append});
             }
             { // the root itself
               const busy enemy(exchanging(s.at.ws(), s.at.tree() / "elsewhere"));
               stays_inside(s, "g", {read, append});
               stays_inside(s, "../elsewhere/g", {read, append});
             }
           }},
      {.id = "P65",
       .name = "tree_removed_while_exchanged",
       .build = make_victims,
       .check =
           [](session& s) {
             const std::string trap = s.at.ws() + "/trap";
             for (int i = 0; i < rounds; ++i) {
               s.at.tree().directory("ws/trap/d/deeper");
               ASSERT_EQ(0, ::linkat(AT_FDCWD, (s.at.ws() + "/outside").c_str(), AT_FDCWD,
                                     (trap + "/x").c_str(), 0));
               {
                 const busy enemy(exchanging(trap + "/d", trap + "/x"));
                 (void)s.perform({.what = remove_tree, .path = "trap/d"});
                 (void)s.perform({.what = remove_tree, .path = "trap"});
               }
               std::error_code ignored;
               std::filesystem::remove_all(trap, ignored);
             }
           }},
      {.id = "P69",
       .name = "tree_removed_while_it_grows",
       .check =
           [](session& s) {
             s.at.tree().directory("ws/d");
             std::atomic<int> number{0};
             const busy producer([&, d = s.at.ws() + "/d/n"] {
               const std::string path = d + std::to_string(++number % 100);
               (void)::mknod(path.c_str(), S_IFREG | 0666, 0);
             });
             for (int i = 0; i < 5 && s.at.tree().exists("ws/d"); ++i) { // it ends, either way
               const auto outcome = s.outcome({.what = remove_tree, .path = "d"});
               EXPECT_TRUE(outcome == "ok" || outcome == "not_empty") << outcome;
             }
           }},
  };
}

/// What many programs do: resolve the path, compare the prefix, use the path.
bool check_then_open_escapes(const std::string& ws) {
  std::array<char, PATH_MAX> real;
  if (::realpath((ws + "/d/f").c_str(), real.data()) == nullptr) return false;
  if (!std::string_view(real.data()).starts_with(ws + '/')) return false;
  const file_descriptor fd(::open(real.data(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::array<char, 64> bytes{};
  return fd && ::read(fd.get(), bytes.data(), bytes.size()) > 0 &&
         std::string_view(bytes.data()).starts_with(outside_mark);
}

/// The negative control of this file.
void a_check_before_the_open_is_overtaken(session& s) {
  constexpr int tries_max = 2'000'000;
  const busy enemy(exchanging(s.at.ws() + "/d", s.at.ws() + "/outside"));
  for (int i = 0; i < tries_max; ++i)
    if (check_then_open_escapes(s.at.ws())) return;
  FAIL() << "the attack never worked, so the others prove nothing";
}

} // namespace

std::vector<row> race_rows() {
  auto rows = exchanges();
  rows.push_back({.id = "P39",
                  .name = "check_then_open_is_overtaken",
                  .build = make_victims,
                  .check = a_check_before_the_open_is_overtaken});
  return rows;
}

} // namespace paddock::test::corpus
