// SPDX-License-Identifier: MIT

// Several files whose names mean something only together: what they would make of a directory is
// judged before anything is touched.

#include "support/fault/fault_fixture.hpp"
#include "support/matchers.hpp"

#include <paddock/file/change_set.hpp>
#include <paddock/path/lexical_path.hpp>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using test::picture;
using testing::IsEmpty;
using enum change_action;

class change_set_names_test : public testing::TestWithParam<resolver> {
protected:
  void reset(const std::vector<std::string>& there) {
    std::filesystem::remove_all(t / "ws");
    t.directory("ws");
    t.file("ws/a", "one\n");
    t.file("ws/h", "moved\n");
    for (const std::string& name : there) {
      t.directory(std::string(parent("ws/" + name)));
      t.file("ws/" + name, "person\n");
    }
    auto opened = root::open(t / "ws", {.resolver = GetParam()});
    ASSERT_THAT(opened, IsOk());
    root_.emplace(*std::move(opened));
  }

  /// Every order of these changes is refused, and everything is as before.
  void expect_refused(const std::vector<std::string>& there, std::vector<file_change> changes) {
    std::vector<std::size_t> order(changes.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    do {
      reset(there);
      const picture before = picture_of(t, "ws");
      std::vector<file_change> all{{.action = replace, .path = "a", .bytes = "ONE\n"}};
      std::string names;
      for (const std::size_t i : order) {
        all.push_back(changes[i]);
        names += changes[i].path + ' ';
      }
      SCOPED_TRACE(names);
      for (const auto effect : {change_effect::check, change_effect::apply}) {
        const auto done = apply_changes(*root_, all, {.effect = effect});
        EXPECT_THAT(done, IsError(error_code::write_protected));
        if (!done) {
          EXPECT_EQ(done.error().made, change_extent::none);
          ASSERT_LT(done.error().change, all.size());
          EXPECT_EQ(done.error().path, all[done.error().change].path);
        }
        EXPECT_EQ(before, picture_of(t, "ws"));
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }

  void expect_made(const std::vector<std::string>& there, const std::vector<file_change>& changes) {
    reset(there);
    EXPECT_THAT(apply_changes(*root_, changes), IsOk());
    picture left = picture_of(t, "ws");
    for (const file_change& change : changes)
      EXPECT_EQ(left.contains(change.path), change.action != remove) << change.path;
    EXPECT_FALSE(left.contains(".paddock-changes"));
    EXPECT_THAT(test::take_leftovers(left), IsEmpty());
  }

  test::temp_tree t;
  std::optional<root> root_;
};
INSTANTIATE_TEST_SUITE_P(every, change_set_names_test, test::both_resolvers,
                         test::name_of_resolver);

file_change text(std::string path) {
  return {.action = create, .path = std::move(path), .bytes = "agent\n"};
}
file_change moved(std::string path) {
  return {.action = move, .path = std::move(path), .from = "h"};
}
file_change moved_and_changed(std::string path) {
  return {.action = move, .path = std::move(path), .from = "h", .bytes = "agent\n"};
}

struct together {
  const char* name;
  std::vector<std::string> there;
  std::vector<file_change> changes;
};

TEST_P(change_set_names_test, what_is_a_repository_together_is_refused_in_every_order) {
  const together rows[] = {
      {"all", {}, {text("x/HEAD"), text("x/config"), text("x/objects/x"), text("x/hooks/y")}},
      {"beside others", {"x/own"}, {text("x/HEAD"), text("x/config"), text("x/objects/o")}},
      {"at the top", {}, {text("HEAD"), text("config"), text("objects/pack/o")}},
      {"a file moves there", {}, {moved("x/HEAD"), text("x/objects/o"), text("x/config")}},
      {"one that is changed", {}, {moved_and_changed("x/HEAD"), text("x/objects/o"), text("x/b")}},
      {"what is obeyed moves there",
       {},
       {text("x/HEAD"), text("x/objects/o"), moved_and_changed("x/config")}},
      {"a worktree's", {}, {text("x/HEAD"), text("x/commondir"), text("x/config.worktree")}},
      {"nothing yet that is obeyed", {}, {text("x/HEAD"), text("x/objects/o")}},
      {"another spelling", {}, {text("x/head"), text("x/Objects/o"), text("x/config")}},
      {"one of them is there", {"x/HEAD"}, {text("x/objects/o"), text("x/config")}},
      {"it is to be removed",
       {"x/HEAD"},
       {text("x/objects/o"), {.action = remove, .path = "x/HEAD"}}},
      {"it is to move away",
       {"x/HEAD"},
       {text("x/objects/o"), {.action = move, .path = "y", .from = "x/HEAD"}}},
      {"it is to be replaced",
       {"x/HEAD", "x/config"},
       {text("x/commondir"), {.action = replace, .path = "x/HEAD", .bytes = "agent\n"}}},
      {"what is obeyed is to be removed",
       {"x/config"},
       {text("x/HEAD"), text("x/objects/o"), {.action = remove, .path = "x/config"}}},
      {"a name that is protected beside a repository",
       {},
       {text("x/.git/description"), text("x/.envrc")}},
      {"one that is there already",
       {"x/.envrc"},
       {text("x/.git/description"), {.action = remove, .path = "x/.envrc"}}},
  };
  for (const together& row : rows) {
    SCOPED_TRACE(row.name);
    expect_refused(row.there, row.changes);
  }
}

TEST_P(change_set_names_test, control_other_names_are_made) {
  const together rows[] = {
      {"in two directories", {}, {text("x/HEAD"), text("y/config"), text("y/objects/x")}},
      {"names that are almost those", {}, {text("x/HEADS"), text("x/config"), text("x/objects.c")}},
      {"one mark alone", {}, {text("x/HEAD"), text("x/config"), text("x/hooks/y")}},
      {"objects alone", {}, {moved("x/objects/o"), text("x/config"), text("x/hooks/y")}},
      {"within what is a repository",
       {"x/HEAD", "x/objects/o"},
       {text("x/objects/p"), moved("x/q")}},
      {"a repository of a directory's own", {}, {text("x/.git/description"), text("x/b")}},
      {"a name that is protected elsewhere", {}, {text("x/.git/description"), text("y/.envrc")}},
  };
  for (const together& row : rows) {
    SCOPED_TRACE(row.name);
    expect_made(row.there, row.changes);
  }
  // Who does without the rules about git has none here either.
  reset({});
  auto unprotected = root::open(t / "ws", {.resolver = GetParam(), .protected_names = {}});
  ASSERT_THAT(unprotected, IsOk());
  EXPECT_THAT(apply_changes(*unprotected,
                            std::vector{text("x/HEAD"), text("x/config"), text("x/objects/o")}),
              IsOk());
}

} // namespace
} // namespace paddock
