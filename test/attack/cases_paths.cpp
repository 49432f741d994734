// SPDX-License-Identifier: MIT

// Paths that leave, come back, or only look as if they did.

#include "corpus.hpp"

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

/// What an operation says of the root itself depends on what it would do to it.
std::vector<attempt> every_at_the_root(const std::string& path) {
  return join({all({list, inspect, enter}, path, succeeds),
               all({write, append, edit, remove_file, remove_directory, remove_tree, move}, path,
                   refused(workspace_root)),
               all({make_directory}, path, refused(already_exists)),
               all({read}, path, refused(is_a_directory))});
}

std::vector<row> paths_that_leave() {
  return {
      {.id = "P01",
       .name = "dotdot",
       .attempts = join({every("..", escapes_root), every("../", escapes_root),
                         every("a/../..", escapes_root), every("../out/secret", escapes_root),
                         every("a/../../out/secret", escapes_root),
                         every(repeated("../", 60) + "etc/passwd", escapes_root)}),
       .through = reach::over_the_pipe},
      {.id = "P02",
       .name = "dotdot_that_stays",
       .attempts = join({all({read, append}, "a/../f", gives("")),
                         all({read}, "a/b/../../f", gives("inside")),
                         all({write}, "a/b/../new", gives("a/new")), every_at_the_root("a/..")})},
      {.id = "P03",
       .name = "leaves_and_returns",
       .attempts = join({every("../ws/f", escapes_root), every("../ws", escapes_root)})},
      {.id = "P04",
       .name = "sibling_with_the_same_prefix",
       .attempts = join({every("../ws-evil/f", escapes_root), every("@W-evil/f", escapes_root),
                         every("@W-evil", escapes_root), every("@W-evil/new", escapes_root)}),
       .through = reach::over_the_pipe},
      {.id = "P05",
       .name = "absolute",
       .attempts =
           join({every("/etc/passwd", escapes_root), every("/", escapes_root),
                 every("@T/out/secret", escapes_root), every("//etc", escapes_root),
                 every("/proc/self/root/etc", escapes_root), every("/dev/fd/0", escapes_root)}),
       .through = reach::over_the_pipe},
  };
}

std::vector<row> absolute_spellings() {
  return {
      {.id = "P06",
       .name = "absolute_spelling_of_the_inside",
       .attempts = join({all({read}, "@W/f", gives("inside")), all({read}, "//@W//./f", gives("")),
                         all({write}, "@W/new", gives("new")), every_at_the_root("@W"),
                         every_at_the_root("@W/")})},
      {.id = "P06",
       .name = "absolute_spelling_through_an_alias",
       .build =
           [](scene& s) {
             s.tree().link("alias", "ws");
             s.tree().link("other", "ws");
           },
       .attempts = join({all({read}, "@T/alias/f", gives("inside")),
                         all({read}, "@W/f", gives("inside")), every("@T/other/f", escapes_root)}),
       .workspace = "alias"},
      {.id = "P07",
       .name = "absolute_spelling_that_leaves",
       .attempts =
           join({every("@W/../etc/passwd", escapes_root), every("@W//../out/secret", escapes_root),
                 every("@W/../ws/f", escapes_root), every("/x/..@W/f", escapes_root)}),
       .through = reach::over_the_pipe},
      {.id = "P08",
       .name = "empty",
       .attempts = every("", invalid_argument),
       .check =
           [](session& s) { // an empty name was nowhere taken for the workspace
             EXPECT_EQ("inside", s.at.tree().content("ws/f"));
           }},
  };
}

} // namespace

std::vector<row> path_rows() {
  auto rows = paths_that_leave();
  for (auto& r : absolute_spellings())
    rows.push_back(std::move(r));
  return rows;
}

} // namespace paddock::test::corpus
