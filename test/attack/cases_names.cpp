// SPDX-License-Identifier: MIT

// Names: what is none, and what only looks odd. Names are bytes and come back as they are.

#include "corpus.hpp"

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

const std::string odd_names[] = {
    "new\nline",
    "[DIR] fake\n[FILE] more",
    "\xff\xfe",
    "latin-caf\xe9",
    "-rf",
    "--output=x",
    "?",
    "*",
    "$HOME",
    "~",
    "%2e%2e",
    "..\\out\\secret",
    "...",
    "\u00e9",  // composed
    "e\u0301", // decomposed: another name
    "\xee\xbe\x80 looks like an escape",
    " ",
    "\x1b[31mred",
    "\u202etxt.exe",
    std::string(255, 'n'),
};

std::vector<attempt> each_odd_name() {
  std::vector<attempt> attempts;
  for (const auto& name : odd_names) {
    attempts.push_back({.what = read, .path = "odd/" + name, .want = gives("inside")});
    attempts.push_back({.what = write, .path = "odd/" + name, .want = gives("odd/" + name)});
    attempts.push_back({.what = move,
                        .path = "odd/" + name,
                        .want = gives("away/" + name),
                        .other = "away/" + name});
    attempts.push_back({.what = move,
                        .path = "away/" + name,
                        .want = gives("odd/" + name),
                        .other = "odd/" + name});
  }
  return attempts;
}

/// A listing holds every name once, as bytes, and each leads to its file.
void odd_names_are_listed(session& s) {
  const answer listed = s.perform({.what = list, .path = "odd"});
  std::string expected_bytes;
  std::string got = listed.text;
  for (const auto& name : odd_names)
    expected_bytes += name + '\n';
  std::ranges::sort(expected_bytes);
  std::ranges::sort(got);
  EXPECT_EQ(expected_bytes, got);
  for (const auto& name : odd_names)
    EXPECT_NE(listed.text.find(name + '\n'), std::string::npos) << name;
}

std::vector<row> odd() {
  return {
      {.id = "P70",
       .name = "odd_names",
       .build =
           [](scene& s) {
             s.tree().directory("ws/odd");
             s.tree().directory("ws/away");
             for (const auto& name : odd_names)
               s.tree().file("ws/odd/" + name, inside_mark);
           },
       .attempts = each_odd_name(),
       .check = odd_names_are_listed,
       .through = reach::over_the_pipe},
      {.id = "P71",
       .name = "bad_entries_in_a_listing",
       .build =
           [](scene& s) {
             s.tree().directory("ws/d/closed");
             s.tree().file("ws/d/good", inside_mark);
             s.tree().file("ws/d/unreadable");
             s.tree().link("ws/d/dang", "nope");
             s.tree().link("ws/d/loop", "loop");
             s.tree().link("ws/d/out", "../../out/secret");
             s.tree().link("ws/d/abs", "/etc/passwd");
             s.tree().link("ws/d/pst", "../.perstack/cfg");
             ASSERT_EQ(0, ::mkfifo((s.ws() + "/d/fifo").c_str(), 0666));
             ASSERT_EQ(0, ::chmod((s.ws() + "/d/closed").c_str(), 0));
             ASSERT_EQ(0, ::chmod((s.ws() + "/d/unreadable").c_str(), 0));
           },
       .attempts =
           all({list}, "d", gives("abs\nclosed\ndang\nfifo\ngood\nloop\nout\npst\nunreadable\n"))},
      {.id = "P71",
       .name = "listing_without_permission_to_look",
       .build =
           [](scene& s) {
             s.tree().directory("ws/d");
             s.tree().file("ws/d/f");
             ASSERT_EQ(0, ::chmod((s.ws() + "/d").c_str(), 0444)); // to be listed, not entered
           },
       .attempts = all({list}, "d", gives("f\n"))},
      {.id = "P71",
       .name = "entries_that_vanish",
       .check =
           [](session& s) {
             constexpr int rounds = 30;
             s.at.tree().directory("ws/d");
             s.at.tree().file("ws/d/stays");
             std::atomic<bool> done{false};
             std::thread other([&] {
               for (int i = 0; !done; ++i) {
                 const std::string path = s.at.ws() + "/d/n" + std::to_string(i % 8);
                 if (::mknod(path.c_str(), S_IFREG | 0666, 0) != 0) ::unlink(path.c_str());
               }
             });
             for (int i = 0; i < rounds; ++i) {
               const answer got = s.perform({.what = list, .path = "d"});
               EXPECT_FALSE(got.code);
               EXPECT_NE(got.text.find("stays\n"), std::string::npos);
             }
             done = true;
             other.join();
           }},
  };
}

std::vector<row> no_names() {
  return {
      {.id = "P26",
       .name = "nul",
       .attempts = join({every(std::string("f\0", 2), invalid_name),
                         every(std::string("f\0/../../out", 13), invalid_name),
                         every(std::string("\0", 1), invalid_name)}),
       .through = reach::over_the_pipe},
      {.id = "P27",
       .name = "long_names",
       .attempts = join({every(std::string(256, 'n'), name_too_long),
                         every("a/" + std::string(256, 'n') + "/f", name_too_long),
                         all({write, read, remove_file}, std::string(255, 'n'), succeeds)})},
  };
}

} // namespace

std::vector<row> name_rows() {
  auto rows = no_names();
  for (auto& r : odd())
    rows.push_back(std::move(r));
  return rows;
}

} // namespace paddock::test::corpus
