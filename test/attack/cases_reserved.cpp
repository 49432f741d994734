// SPDX-License-Identifier: MIT

// The reserved entry: by its name, by another spelling, by a link, and when it is no longer where
// it was.

#include "corpus.hpp"
#include "support/process/process.hpp"

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

namespace fs = std::filesystem;

std::vector<row> spellings() {
  return {
      {.id = "P45",
       .name = "reserved_by_name",
       .attempts =
           join({every(".perstack/cfg", protected_entry), every(".perstack", protected_entry),
                 every("./.perstack/./cfg", protected_entry),
                 every("a/../.perstack/cfg", protected_entry),
                 every("@W/.perstack/cfg", protected_entry), every(".perstack/", protected_entry),
                 every(".perstack/../f", protected_entry), every(".perstack/new", protected_entry),
                 all({list}, ".", gives("a\nf\n"))}),
       .check =
           [](session& s) {
             EXPECT_EQ("a\nf\n", s.perform({.what = list, .path = "."}).text) << "it is listed";
           },
       .through = reach::over_the_pipe},
      {.id = "P45",
       .name = "reserved_below",
       .build =
           [](scene& s) {
             s.tree().directory("ws/a/b/.perstack");
             s.tree().file("ws/a/b/.perstack/cfg", reserved_mark);
             s.tree().link("ws/door", "a/b/.perstack");
           },
       .attempts = join({every("a/b/.perstack/cfg", protected_entry),
                         every("a/b/.PerStack", protected_entry),
                         every("a/./b//.perstack/new", protected_entry),
                         every("door/cfg", protected_entry), all({list}, "a/b", gives("g\n"))}),
       .through = reach::over_the_pipe},
      {.id = "P46",
       .name = "reserved_through_a_link",
       .directories = {".perstack/in"},
       .links = {{"pst", ".perstack"},
                 {"a/cfg", "../.perstack/cfg"},
                 {"new", ".perstack/new"},
                 {"deep", "a/b"}},
       .attempts =
           join({every_following("pst", protected_entry), every("pst/cfg", protected_entry),
                 every("pst/new", protected_entry),
                 // Whether there is such a name is reserved as well.
                 every("pst/no/such", protected_entry), every("pst/cfg/below", protected_entry),
                 every_following("pst/../f", protected_entry),
                 every_following("pst/no/../../f", protected_entry),
                 every_following("pst/in/../../f", protected_entry),
                 every_following("a/cfg", protected_entry), every_following("new", protected_entry),
                 every("deep/../../.perstack/cfg", protected_entry)}),
       .check = [](session& s) { EXPECT_FALSE(s.at.tree().exists("ws/.perstack/new")); },
       .through = reach::over_the_pipe},
      {.id = "P47",
       .name = "reserved_in_capitals",
       .attempts =
           join({every(".PERSTACK/cfg", protected_entry), every(".PerStack", protected_entry),
                 every("a/../.perSTACK/new", protected_entry)})},
      {.id = "P48",
       .name = "reserved_on_a_file_system_that_folds",
       .arrange =
           [](scene& s) {
             if (!mount_tmpfs(s.ws(), "mode=0777,casefold") ||
                 ::mkdir((s.ws() + "/.perstack").c_str(), 0777) != 0 ||
                 !fs::exists(s.ws() + "/.PERSTACK"))
               s.lacking = "no file system that folds case";
             else
               s.tree().file("ws/.perstack/cfg", reserved_mark);
           },
       .attempts =
           join({all({read, write, inspect}, ".PERSTACK/cfg", refused(protected_entry)),
                 all({read, write, inspect}, ".per\u017ftack/cfg", refused(protected_entry)),
                 all({read, write, inspect}, ".perstac\u212a/cfg", refused(protected_entry)),
                 all({read, write, inspect}, ".per\u200cstack/cfg", refused(protected_entry))}),
       .need = needs::mounts},
  };
}

void is_refused_at(session& s, const std::string& place) {
  SCOPED_TRACE(place);
  for (const auto what : {read, write, append, edit, inspect, remove_file, move})
    EXPECT_EQ("protected", s.outcome({.what = what, .path = place + "/cfg", .other = "mine"}));
  for (const auto what : {list, enter, remove_tree, move})
    EXPECT_EQ("protected", s.outcome({.what = what, .path = place, .other = "mine"}));
  // Nor is it told which names there are.
  for (const char* name : {"/no", "/no/such", "/cfg/below", "/cfg/", "/no/../../f", "/../f"})
    for (const auto what : {read, write, append, edit, inspect, list, remove_file, make_directory})
      EXPECT_EQ("protected", s.outcome({.what = what, .path = place + name, .other = "mine"}))
          << name_of(what) << ' ' << name;
}

std::vector<row> elsewhere() {
  return {
      {.id = "P49",
       .name = "hard_link_to_what_is_reserved",
       .build =
           [](scene& s) {
             ASSERT_EQ(0, ::link((s.ws() + "/.perstack/cfg").c_str(), (s.ws() + "/pub").c_str()));
           },
       // Somebody has given it a second name; what can be promised is that it is not changed.
       .attempts =
           join({all({read}, "pub", gives("RESERVED")), all({append}, "pub", refused(hard_linked)),
                 all({write}, "pub", gives("pub"))}),
       .check = [](session& s) { EXPECT_EQ("RESERVED", s.at.tree().content("ws/.perstack/cfg")); },
       .no_undo = "its second name is what a workspace holds"},
      {.id = "P50",
       .name = "reserved_as_source_or_destination",
       .directories = {"empty"},
       .attempts =
           {{.what = move, .path = ".perstack", .want = refused(protected_entry), .other = "x"},
            {.what = move, .path = "empty", .want = refused(protected_entry), .other = ".perstack"},
            {.what = move, .path = "f", .want = refused(protected_entry), .other = ".perstack/f"},
            {.what = move, .path = "f", .want = refused(protected_entry), .other = ".Perstack"},
            {.what = remove_tree, .path = ".perstack", .want = refused(protected_entry)},
            {.what = remove_directory, .path = ".perstack", .want = refused(protected_entry)},
            {.what = remove_tree, .path = ".", .want = refused(workspace_root)},
            {.what = move, .path = ".", .want = refused(workspace_root), .other = "x"}}},
      {.id = "P50",
       .name = "reserved_and_renamed_by_others",
       .check =
           [](session& s) {
             for (const char* place : {"innocent", "a/innocent", "a/b/deep"}) {
               fs::rename(s.at.ws() + "/.perstack", s.at.ws() + '/' + place);
               is_refused_at(s, place);
               fs::rename(s.at.ws() + '/' + place, s.at.ws() + "/.perstack");
             }
             // What takes its name is reserved as well, and what had it stays so.
             fs::rename(s.at.ws() + "/.perstack", s.at.ws() + "/old");
             fs::rename(s.at.ws() + "/a", s.at.ws() + "/.perstack");
             is_refused_at(s, "old");
             EXPECT_EQ("protected", s.outcome({.what = read, .path = ".perstack/f"}));
           }},
      {.id = "P50",
       .name = "reserved_before_it_exists",
       .meanwhile =
           [](session& s) { fs::rename(s.at.ws() + "/.perstack", s.at.tree() / "put-away"); },
       .attempts = join({every(".perstack", protected_entry), every(".perstack/x", protected_entry),
                         every(".PERSTACK", protected_entry)}),
       .check = [](session& s) { EXPECT_FALSE(s.at.tree().exists("ws/.perstack")); }},
  };
}

} // namespace

std::vector<row> reserved_rows() {
  auto rows = spellings();
  for (auto& r : elsewhere())
    rows.push_back(std::move(r));
  return rows;
}

} // namespace paddock::test::corpus
