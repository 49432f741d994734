// SPDX-License-Identifier: MIT
#include "support/matchers.hpp"

#include <paddock/todo/todo.hpp>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using titles = std::vector<std::string>;
using ids = std::vector<std::int64_t>;

std::vector<todo_item> copy(const todo_list& list) {
  return {list.items().begin(), list.items().end()};
}

TEST(Todo, StartsEmpty) {
  const todo_list list;
  EXPECT_TRUE(list.items().empty());
  EXPECT_EQ(list.remaining(), 0U);
}

TEST(Todo, NumbersItemsFromZero) {
  todo_list list;
  ASSERT_THAT(list.update(titles{"a", "b"}, ids{}), IsOk());
  ASSERT_THAT(list.update(titles{"c"}, ids{}), IsOk());
  EXPECT_THAT(copy(list),
              testing::ElementsAre(todo_item{0, "a"}, todo_item{1, "b"}, todo_item{2, "c"}));
  EXPECT_EQ(list.remaining(), 3U);
}

TEST(Todo, CompletesOldAndNewItemsInOneCall) {
  todo_list list;
  ASSERT_THAT(list.update(titles{"a"}, ids{}), IsOk());
  ASSERT_THAT(list.update(titles{"b", "c"}, ids{0, 2}), IsOk());
  EXPECT_THAT(copy(list), testing::ElementsAre(todo_item{0, "a", true}, todo_item{1, "b", false},
                                               todo_item{2, "c", true}));
  EXPECT_EQ(list.remaining(), 1U);
}

TEST(Todo, CompletingAgainChangesNothing) {
  todo_list list;
  ASSERT_THAT(list.update(titles{"a"}, ids{0, 0}), IsOk());
  ASSERT_THAT(list.update(titles{}, ids{0}), IsOk());
  EXPECT_EQ(list.remaining(), 0U);
  EXPECT_EQ(list.items().size(), 1U);
}

struct unknown_case {
  const char* name;
  titles added;
  ids completed;
  std::int64_t unknown;
};

TEST(Todo, AnUnknownIdChangesNothing) {
  const unknown_case cases[] = {
      {"one too high", {}, {2}, 2},
      {"negative", {}, {-1}, -1},
      {"beyond the items of this call", {"c"}, {3}, 3},
      {"after known ones", {"c"}, {0, 2, 9, 8}, 9},
      {"largest", {}, {INT64_MAX}, INT64_MAX},
      {"smallest", {}, {INT64_MIN}, INT64_MIN},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.name);
    todo_list list;
    ASSERT_THAT(list.update(titles{"a", "b"}, ids{1}), IsOk());
    const auto before = copy(list);
    EXPECT_EQ(list.find_unknown(row.completed, row.added.size()), row.unknown);
    EXPECT_THAT(list.update(row.added, row.completed), IsError(error_code::not_found));
    EXPECT_EQ(copy(list), before);
  }
}

TEST(Todo, ClearStartsAtZeroAgain) {
  todo_list list;
  ASSERT_THAT(list.update(titles{"a", "b"}, ids{0}), IsOk());
  list.clear();
  EXPECT_TRUE(list.items().empty());
  EXPECT_THAT(list.update(titles{}, ids{0}), IsError(error_code::not_found));
  ASSERT_THAT(list.update(titles{"c"}, ids{}), IsOk());
  EXPECT_THAT(copy(list), testing::ElementsAre(todo_item{0, "c", false}));
}

TEST(Todo, TheBoundIsInclusiveAndExceedingItChangesNothing) {
  todo_list list(3);
  ASSERT_THAT(list.update(titles{"a", "b"}, ids{}), IsOk());
  EXPECT_THAT(list.update(titles{"c", "d"}, ids{0}), IsError(error_code::too_many));
  EXPECT_EQ(list.remaining(), 2U);
  ASSERT_THAT(list.update(titles{"c"}, ids{}), IsOk());
  EXPECT_THAT(list.update(titles{"d"}, ids{}), IsError(error_code::too_many));
  ASSERT_THAT(list.update(titles{}, ids{2}), IsOk());
  EXPECT_EQ(list.items().size(), 3U);
}

TEST(Todo, TheDefaultBoundIsTheLimit) {
  todo_list list;
  ASSERT_THAT(list.update(titles(limits{}.todos_max, "x"), ids{}), IsOk());
  EXPECT_THAT(list.update(titles{"x"}, ids{}), IsError(error_code::too_many));
}

} // namespace
} // namespace paddock
