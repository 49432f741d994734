// SPDX-License-Identifier: MIT

// Making, moving and removing entries, and the workspace itself being moved or removed by others.

#include "corpus.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/process.hpp"

#include <sys/resource.h>

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

namespace fs = std::filesystem;

constexpr int deep = 2'100; // a path to the end of it is longer than any the kernel takes

/// `deep` directories inside each other.
void make_deep_tree(scene& s) {
  int at = ::open(s.ws().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < deep; ++i) {
    ASSERT_EQ(0, ::mkdirat(at, "d", 0777));
    const int next = ::openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    // Names are no use to give this tree to somebody.
    if (s.user == user::ordinary && ::geteuid() == 0) {
      ASSERT_EQ(0, ::fchownat(next, "", nobody, nobody, AT_EMPTY_PATH));
    }
    ::close(at);
    at = next;
  }
  ::close(at);
}

std::string deep_path(std::size_t levels) {
  std::string path = "d";
  while (--levels > 0)
    path += "/d";
  return path;
}

std::vector<row> the_root_itself() {
  return {
      {.id = "P41",
       .name = "workspace_renamed_and_replaced",
       .meanwhile =
           [](session& s) {
             fs::rename(s.at.ws(), s.at.tree() / "moved");
             s.at.tree().directory("ws");
             s.at.tree().file("ws/f", "an impostor");
           },
       .attempts = join({all({read}, "f", gives("inside")), all({write}, "new", gives("new")),
                         every("../ws/f", escapes_root), all({remove_tree}, "a", gives("a"))}),
       .check =
           [](session& s) {
             EXPECT_TRUE(s.at.tree().exists("moved/new"));
             EXPECT_FALSE(s.at.tree().exists("ws/new"));
             EXPECT_EQ("an impostor", s.at.tree().content("ws/f"));
           }},
      {.id = "P42",
       .name = "workspace_deleted",
       .meanwhile = [](session& s) { fs::remove_all(s.at.ws()); },
       .attempts = join({every("f", root_gone), every("a/b/g", root_gone)})},
      {.id = "P43",
       .name = "directory_moved_out_while_held",
       .build = [](scene& s) { s.tree().directory("elsewhere"); },
       // What is held stays in use, as promised; what is named is looked up anew.
       .check =
           [](session& s) {
             const auto held = s.workspace().locate("a/new", final_link::keep);
             ASSERT_TRUE(held);
             fs::rename(s.at.ws() + "/a", s.at.tree() / "elsewhere/a");
             for (const auto what : {read, list, inspect, append, edit, enter, remove_file})
               EXPECT_EQ("not_found", s.outcome({.what = what, .path = "a/f"})) << name_of(what);
             EXPECT_EQ("ok", s.outcome({.what = write, .path = "a/f"}));
             EXPECT_EQ("inside", s.at.tree().content("elsewhere/a/f"));
             EXPECT_EQ(0, ::mkdirat(held->parent.get(), held->name.c_str(), 0777));
             EXPECT_TRUE(s.at.tree().exists("elsewhere/a/new"));
           }},
      {.id = "P44",
       .name = "dotdot_after_a_move",
       .build =
           [](scene& s) {
             s.tree().directory("elsewhere");
             s.tree().file("elsewhere/f", outside_mark);
             s.tree().directory("ws/p/way");
             s.tree().file("ws/p/f", inside_mark);
           },
       .meanwhile =
           [](session& s) {
             fs::rename(s.at.ws() + "/p/way", s.at.tree() / "elsewhere/way");
             s.at.tree().directory("ws/p/way"); // what was held is somewhere else now
           },
       .attempts = join({all({read}, "p/way/../f", gives("inside")),
                         every("p/way/../../../elsewhere/f", escapes_root)})},
  };
}

std::vector<row> making() {
  return {
      {.id = "P51",
       .name = "directory_over_a_link",
       .links = {{"dang", "nope"}, {"out", "../out/new"}, {"d", "a"}},
       .attempts = join({all({make_directory}, "dang", refused(already_exists)),
                         all({make_directory}, "dang/", refused(already_exists)),
                         all({make_directory}, "out", refused(already_exists)),
                         all({make_directory}, "out/", refused(already_exists)),
                         all({make_directory}, "d", refused(already_exists)),
                         all({make_directory}, "a", refused(already_exists)),
                         all({make_directory}, "f", refused(already_exists))}),
       .check = [](session& s) { EXPECT_FALSE(s.at.tree().exists("ws/nope")); }},
      {.id = "P52",
       .name = "directories_through_what_is_none",
       .links = {{"dang", "nope"}, {"out", "../out"}, {"into", "a"}},
       .attempts =
           join({all({make_directory, write}, "dang/x/y", refused(dangling_symlink)),
                 all({make_directory, write}, "out/x/y", refused(escapes_root)),
                 all({make_directory, write}, "f/x/y", refused(not_a_directory)),
                 all({make_directory, write}, "no/../x", refused(not_found)),
                 all({make_directory, write}, "no/../../out/x", refused(not_found)),
                 all({make_directory, write}, "no/../../../etc/x", refused(not_found)),
                 {{.what = move, .path = "f", .want = refused(not_found), .other = "no/../x"},
                  {.what = move, .path = "f", .want = refused(escapes_root), .other = "out/x/f"}},
                 all({make_directory}, "into/x/y", gives("a/x/y"))}),
       .check =
           [](session& s) {
             for (const char* name : {"ws/nope", "ws/no", "ws/x"})
               EXPECT_FALSE(s.at.tree().exists(name)) << name;
           },
       .through = reach::over_the_pipe},
      {.id = "P53",
       .name = "parents_made_at_the_same_time",
       .check =
           [](session& s) {
             for (int round = 0; round < 20; ++round) {
               const std::string base = "r" + std::to_string(round) + "/x/y/";
               const auto other = s.another();
               std::thread second([&] {
                 EXPECT_FALSE(other->perform({.what = make_directory, .path = base + "two"}).code);
               });
               EXPECT_EQ("ok", s.outcome({.what = make_directory, .path = base + "one"}));
               second.join();
             }
           }},
  };
}

std::vector<row> removing() {
  return {
      {.id = "P54",
       .name = "link_named_with_a_slash",
       .directories = {"empty"},
       .links = {{"dirlink", "empty"}, {"outlink", "../out"}},
       .attempts = join(
           {all({remove_file, remove_directory, remove_tree}, "dirlink/", refused(not_a_directory)),
            all({remove_file, remove_directory, remove_tree}, "outlink/", refused(not_a_directory)),
            all({remove_directory, remove_tree}, "dirlink", refused(not_a_directory)),
            all({remove_file}, "outlink", gives("outlink")),
            all({remove_file}, "dirlink", gives("dirlink"))}),
       .check = [](session& s) { EXPECT_TRUE(s.at.tree().exists("ws/empty")); }},
      {.id = "P55",
       .name = "the_workspace_itself",
       .links = {{"here", "."}},
       .attempts = join(
           {all({remove_file, remove_directory, remove_tree, move}, ".", refused(workspace_root)),
            all({remove_file, remove_directory, remove_tree, move}, "@W", refused(workspace_root)),
            all({remove_directory, remove_tree, move}, "a/..", refused(workspace_root)),
            all({remove_directory, remove_tree, move}, "..", refused(escapes_root)),
            all({remove_directory, remove_tree, move}, "a/b/..", refused(invalid_argument)),
            all({remove_directory, remove_tree}, "here", refused(not_a_directory)),
            {{.what = move, .path = "f", .want = refused(workspace_root), .other = "."},
             {.what = move, .path = "f", .want = refused(workspace_root), .other = "@W"}}}),
       .check = [](session& s) { EXPECT_TRUE(s.at.tree().exists("ws/a/b/g")); }},
      {.id = "P56",
       .name = "path_where_a_name_belongs",
       .attempts = join({all({remove_file}, "a/../../out/secret", refused(escapes_root)),
                         all({remove_tree}, "a/../../out/dir", refused(escapes_root))}),
       .check =
           [](session&) { // the one type that reaches the system calls cannot hold a path
             for (const char* path : {"a/../../out/secret", "../out", "..", ".", "", "a/", "/"})
               EXPECT_FALSE(component::from(path)) << path;
           }},
      {.id = "P29",
       .name = "deeper_than_any_path",
       .arrange = make_deep_tree,
       .attempts =
           join({every(deep_path(2'048) + "/f", path_too_long),
                 all({list}, deep_path(200), gives("d\n")), all({remove_tree}, "d", gives("d"))}),
       .check = [](session& s) { EXPECT_FALSE(s.at.tree().exists("ws/d")); },
       .no_undo = "a restore of 2,100 levels takes minutes"},
      {.id = "P67",
       .name = "deep_tree_with_few_descriptors_and_little_stack",
       .arrange =
           [](scene& s) {
             make_deep_tree(s);
             const rlimit few{64, 64};
             const rlimit little{512 * 1024, 512 * 1024};
             EXPECT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &few));
             EXPECT_EQ(0, ::setrlimit(RLIMIT_STACK, &little));
           },
       .attempts = all({remove_tree}, "d", gives("d")),
       .check = [](session& s) { EXPECT_FALSE(s.at.tree().exists("ws/d")); },
       .no_undo = "the limits are those of one removal"},
      {.id = "P68",
       .name = "closed_directory_inside",
       .build =
           [](scene& s) {
             s.tree().directory("ws/d/closed");
             s.tree().file("ws/d/closed/f");
             ASSERT_EQ(0, ::chmod((s.ws() + "/d/closed").c_str(), 0555));
           },
       .attempts = {{.what = remove_tree,
                     .path = "d",
                     .want = refused(permission_denied),
                     .as_root = gives("d")}},
       .check =
           [](session& s) {
             EXPECT_EQ(s.how.user == user::ordinary, s.at.tree().exists("ws/d/closed/f"));
           }},
  };
}

std::vector<row> moving() {
  return {
      {.id = "P57",
       .name = "move_onto_what_is_there",
       .directories = {"empty"},
       .links = {{"l", "a"}, {"dang", "nope"}, {"out", "../out/new"}},
       .attempts = {{.what = move, .path = "f", .want = refused(already_exists), .other = "a/f"},
                    {.what = move, .path = "f", .want = refused(already_exists), .other = "l"},
                    {.what = move, .path = "f", .want = refused(already_exists), .other = "dang"},
                    {.what = move, .path = "f", .want = refused(already_exists), .other = "out"},
                    {.what = move, .path = "f", .want = refused(already_exists), .other = "a"},
                    {.what = move, .path = "a", .want = refused(already_exists), .other = "empty"},
                    {.what = move, .path = "f", .want = refused(already_exists), .other = "f"},
                    {.what = move, .path = "f", .want = refused(escapes_root), .other = "../g"},
                    {.what = move, .path = "f", .want = refused(escapes_root), .other = "/tmp/g"}},
       .check =
           [](session& s) {
             EXPECT_EQ("inside", s.at.tree().content("ws/f"));
             EXPECT_EQ("inside", s.at.tree().content("ws/a/f"));
             EXPECT_FALSE(s.at.tree().exists("ws/nope"));
           },
       .through = reach::over_the_pipe},
      {.id = "P58",
       .name = "move_within",
       .links = {{"l", "../out/secret"}},
       .attempts =
           {{.what = move, .path = "f", .want = gives("a/b/moved"), .other = "a/b/moved"},
            {.what = move, .path = "a", .want = refused(invalid_argument), .other = "a/b/inside"},
            {.what = move, .path = "a", .want = refused(invalid_argument), .other = "a/new/inside"},
            {.what = move, .path = "a/b", .want = gives("up"), .other = "up"},
            {.what = move, .path = "l", .want = gives("a/l"), .other = "a/l"},
            {.what = read, .path = "a/l", .want = refused(dangling_symlink)}},
       .check =
           [](session& s) {
             EXPECT_EQ("inside", s.at.tree().content("ws/up/moved"));
             EXPECT_FALSE(s.at.tree().exists("ws/a/new")) << "made for a move that failed";
           }},
      {.id = "P59",
       .name = "move_without_help_of_the_file_system",
       .links = {{"l", "f"}},
       .arrange = [](scene&) { become(machine::without_rename_flags); },
       .attempts = {{.what = move, .path = "f", .want = refused(already_exists), .other = "a/f"},
                    {.what = move, .path = "f", .want = refused(already_exists), .other = "l"},
                    {.what = move, .path = "f", .want = gives("a/moved"), .other = "a/moved"},
                    {.what = move, .path = "l", .want = gives("a/l"), .other = "a/l"},
                    {.what = move, .path = "a/b", .want = refused(unsupported), .other = "b"},
                    {.what = move, .path = "a", .want = refused(invalid_argument), .other = "a/x"},
                    {.what = write, .path = "a/moved", .want = gives("a/moved")}},
       .check =
           [](session& s) {
             EXPECT_EQ("new", s.at.tree().content("ws/a/moved"));
             EXPECT_FALSE(s.at.tree().exists("ws/f"));
             EXPECT_TRUE(fs::is_symlink(s.at.tree() / "ws/a/l"));
             EXPECT_TRUE(s.at.tree().exists("ws/a/b/g"));
           }},
  };
}

} // namespace

std::vector<row> change_rows() {
  auto rows = the_root_itself();
  for (auto* part : {making, removing, moving})
    for (auto& r : part())
      rows.push_back(std::move(r));
  return rows;
}

} // namespace paddock::test::corpus
