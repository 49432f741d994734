// SPDX-License-Identifier: MIT

// Symbolic links of every kind, and what a slash behind one changes. Reading and writing go through
// links that stay beneath the root; removing and moving act on the link itself.

#include "corpus.hpp"

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

/// A link that must not be followed, last on the path and in its middle; as an entry it may be
/// named, moved and removed.
std::vector<attempt> never_through(const std::string& link, error_code code) {
  return join(
      {every_following(link, code),
       every(link + "/below", code),
       all({make_directory}, link, refused(already_exists)),
       all({remove_directory, remove_tree}, link, refused(not_a_directory)),
       {{.what = move, .path = link, .want = gives(link + "-moved"), .other = link + "-moved"},
        {.what = move, .path = link + "-moved", .want = gives(link), .other = link}},
       {{.what = move, .path = "f", .want = refused(already_exists), .other = link}}});
}

std::vector<row> links_that_leave() {
  return {
      {.id = "P09",
       .name = "absolute_link",
       .links = {{"l", "/etc/passwd"},
                 {"secret", "@T/out/secret"},
                 {"d", "@T/out"},
                 {"evil", "@W-evil"}},
       .attempts =
           join({never_through("l", absolute_symlink), never_through("secret", absolute_symlink),
                 never_through("d", absolute_symlink), never_through("evil", absolute_symlink),
                 every("d/secret", absolute_symlink), every("d/dir/inner", absolute_symlink),
                 all({remove_file}, "d", gives("d"))}),
       .through = reach::over_the_pipe},
      {.id = "P10",
       .name = "relative_link_that_leaves",
       .links = {{"l", "../out/secret"}, {"d", "../out"}, {"a/up", "../.."}, {"via", "d"}},
       .attempts = join({never_through("l", escapes_root), never_through("d", escapes_root),
                         never_through("a/up", escapes_root), never_through("via", escapes_root),
                         every("d/secret", escapes_root), every("a/up/out/secret", escapes_root),
                         every("d/../ws/f", escapes_root), all({remove_file}, "l", gives("l"))}),
       .through = reach::over_the_pipe},
      {.id = "P12",
       .name = "absolute_link_to_the_inside",
       .links = {{"l", "@W/f"}},
       .attempts = never_through("l", absolute_symlink_inside)},
      {.id = "P13",
       .name = "link_that_leaves_and_returns",
       .links = {{"l", "../ws/f"}},
       .attempts = never_through("l", escapes_root)},
      {.id = "P16",
       .name = "link_into_procfs",
       .links = {{"root", "/proc/self/root/etc/passwd"},
                 {"fd", "/proc/self/fd/0"},
                 {"dev", "/dev/fd/0"},
                 {"cwd", "/proc/self/cwd"}},
       .attempts =
           join({never_through("root", absolute_symlink), never_through("fd", absolute_symlink),
                 never_through("dev", absolute_symlink), never_through("cwd", absolute_symlink)})},
  };
}

std::vector<row> staying() {
  return {
      {.id = "P11",
       .name = "link_that_stays",
       .links = {{"l", "a/b/g"}, {"a/up", "../f"}, {"d", "a"}},
       .attempts = join({all({read}, "l", gives("inside")), all({read}, "a/up", gives("inside")),
                         all({write}, "l", gives("a/b/g")), all({append}, "a/up", gives("f")),
                         all({edit}, "d/f", gives("a/f")), all({list}, "d", gives("b\nf\n")),
                         all({write}, "d/new", gives("a/new")), all({enter}, "d/b", gives("a/b"))}),
       .check =
           [](session& s) {
             EXPECT_EQ("new", s.at.tree().content("ws/a/b/g"));
             EXPECT_TRUE(std::filesystem::is_symlink(s.at.tree() / "ws/l")) << "no longer a link";
           }},
      {.id = "P14",
       .name = "chains",
       .build =
           [](scene& s) {
             s.tree().link("ws/l1", "f");
             for (int i = 2; i <= 41; ++i)
               s.tree().link("ws/l" + std::to_string(i), "l" + std::to_string(i - 1));
           },
       .attempts = join({all({read}, "l40", gives("inside")), all({append}, "l40", gives("f")),
                         every_following("l41", symlink_loop)})},
      {.id = "P15",
       .name = "loops",
       .links = {{"loop", "loop"}, {"ping", "pong"}, {"pong", "ping"}, {"grow", "grow/grow"}},
       .attempts = join({never_through("loop", symlink_loop), every_following("ping", symlink_loop),
                         every_following("grow", symlink_loop), every("grow/x", symlink_loop)})},
  };
}

std::vector<row> slashes_and_dangling() {
  return {
      {.id = "P20",
       .name = "slash_behind_a_file",
       .attempts = all({read, write, append, edit, inspect, list, enter, remove_file,
                        remove_directory, remove_tree, move},
                       "f/", refused(not_a_directory))},
      {.id = "P21",
       .name = "slash_behind_an_absolute_link",
       .links = {{"d", "/etc"}, {"o", "@T/out"}},
       .attempts =
           join({every_following("d/", absolute_symlink), every_following("o/", absolute_symlink),
                 every_following("o/.", absolute_symlink),
                 all({remove_file, remove_directory, remove_tree, move}, "o/",
                     refused(not_a_directory))}),
       .through = reach::over_the_pipe},
      {.id = "P22",
       .name = "slash_behind_a_link_that_stays",
       .links = {{"d", "a"}},
       .attempts = join({all({list}, "d/", gives("b\nf\n")), all({inspect}, "d/", gives("a")),
                         all({remove_file, remove_directory, remove_tree, move}, "d/",
                             refused(not_a_directory))})},
      {.id = "P23",
       .name = "dangling_link_that_stays",
       .links = {{"dang", "nope"}, {"deep", "no/such"}},
       .attempts = join({all({read, inspect, list, enter}, "dang", refused(dangling_symlink)),
                         all({append, edit}, "dang", refused(not_found)),
                         all({make_directory}, "dang", refused(already_exists)),
                         every_following("deep", dangling_symlink),
                         every("dang/f", dangling_symlink), all({write}, "dang", gives("nope"))}),
       .check =
           [](session& s) { // writing goes through it, and it stays a link
             EXPECT_EQ("new", s.at.tree().content("ws/nope"));
             EXPECT_TRUE(std::filesystem::is_symlink(s.at.tree() / "ws/dang"));
             EXPECT_FALSE(s.at.tree().exists("ws/no"));
           }},
      {.id = "P24",
       .name = "dangling_link_that_leaves",
       .links = {{"rel", "../out/new"}, {"abs", "@T/out/new"}, {"deep", "../out/no/such"}},
       .attempts = join({never_through("rel", escapes_root), never_through("abs", absolute_symlink),
                         never_through("deep", escapes_root)}),
       .through = reach::over_the_pipe},
      {.id = "P25",
       .name = "missing_parents",
       .attempts = join({all({append, edit, read, inspect, list, enter, remove_file, remove_tree},
                             "no/such/f", refused(not_found)),
                         all({write}, "newf/", refused(is_a_directory)),
                         all({append, edit}, "newf/", refused(not_found)),
                         all({write}, "made/parents/f", gives("made/parents/f")),
                         all({write, make_directory}, "f/below", refused(not_a_directory))}),
       .check = [](session& s) { EXPECT_FALSE(s.at.tree().exists("ws/no")); }},
  };
}

} // namespace

std::vector<row> link_rows() {
  auto rows = links_that_leave();
  for (auto* part : {staying, slashes_and_dangling})
    for (auto& r : part())
      rows.push_back(std::move(r));
  return rows;
}

} // namespace paddock::test::corpus
