// SPDX-License-Identifier: MIT
// What result promises: it is never empty, it behaves as std::expected does, and misuse says what
// happened.
#include "support/matchers.hpp"

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/result.hpp>

#include <stdexcept>
#include <type_traits>

namespace {

using paddock::detailed_error;
using paddock::error;
using paddock::error_code;
using paddock::result;

constexpr error lost{error_code::not_found, 2, "openat2"};
constexpr error busy{error_code::conflict, 0, "replace"};

// --- what it costs, and where it works: the compiler is the judge ---

static_assert(sizeof(error) == 16);
static_assert(sizeof(result<void>) == 24 && sizeof(result<int>) == 24);
static_assert(sizeof(result<std::string>) == sizeof(std::string) + 8);
static_assert(std::is_trivially_copyable_v<result<void>>);
static_assert(std::is_trivially_copyable_v<result<int>>);
static_assert(!std::is_trivially_copyable_v<result<std::string>>);
static_assert(std::is_nothrow_move_constructible_v<result<std::string>>);
static_assert(std::is_nothrow_move_assignable_v<result<std::string, detailed_error>>);

using owner = std::unique_ptr<int>;
static_assert(!std::is_copy_constructible_v<result<owner>> &&
              !std::is_copy_assignable_v<result<owner>>);
static_assert(std::is_nothrow_move_constructible_v<result<owner>> &&
              std::is_nothrow_move_assignable_v<result<owner>>);

struct unassignable {
  const int number;
};
static_assert(std::is_copy_constructible_v<result<unassignable>> &&
              !std::is_copy_assignable_v<result<unassignable>>);

// A plain error becomes one with a detail by itself; the other way about only by a cast.
static_assert(std::is_convertible_v<error, result<int, detailed_error>>);
static_assert(std::is_convertible_v<result<int>, result<long, detailed_error>>);
static_assert(std::is_convertible_v<result<void>, result<void, detailed_error>>);
static_assert(!std::is_constructible_v<result<int>, detailed_error>);
static_assert(!std::is_constructible_v<result<int>, result<int, detailed_error>>);
static_assert(std::is_constructible_v<result<int>, error>); // the control

constexpr result<int> half(int number) {
  if (number % 2 != 0) return busy;
  return number / 2;
}
constexpr int reassigned() {
  result<int> r = half(3);
  r = 5;
  result<int> copy = r;
  r = busy;
  r = copy;
  return *r;
}
static_assert(*half(4) == 2 && half(4).value() == 2 && half(3).error() == busy);
static_assert(half(8).and_then(half).and_then(half).value() == 1);
static_assert(half(6).and_then(half).error() == busy);
static_assert(half(3).value_or(7) == 7 && half(4).value_or(7) == 2);
static_assert(reassigned() == 5);

// --- assignment ---

/// Copies and moves of it throw when told to; counts what lives.
struct fragile {
  static inline int alive = 0;
  static inline bool throws = false;
  int number;

  explicit fragile(int n) : number(n) { ++alive; }
  fragile(const fragile& other) : number(other.number) {
    strike();
    ++alive;
  }
  fragile(fragile&& other) : number(other.number) { // may throw: the hardest case
    strike();
    ++alive;
  }
  fragile& operator=(const fragile& other) {
    strike();
    number = other.number;
    return *this;
  }
  ~fragile() { --alive; }
  static void strike() {
    if (throws) throw std::runtime_error("no memory");
  }
};

/// The same, but it moves without a throw.
struct light : fragile {
  using fragile::fragile;
  light(const light&) = default;
  light(light&& other) noexcept : fragile(other.number) {}
  light& operator=(const light&) = default;
  light& operator=(light&& other) noexcept {
    number = other.number;
    return *this;
  }
};

template <class T> std::string shown(const result<T, detailed_error>& r) {
  return r ? std::to_string(r->number) : r.error().detail;
}

template <class T> class ResultAssignment : public testing::Test {
public:
  using held = result<T, detailed_error>;
  static held make(bool good, int number) {
    if (good) return held(T(number));
    return detailed_error(lost,
                          "a detail that is longer than a short string " + std::to_string(number));
  }
  void TearDown() override {
    fragile::throws = false;
    EXPECT_EQ(fragile::alive, 0) << "values made and destroyed are not the same number";
  }
};
using Kinds = testing::Types<fragile, light>;
TYPED_TEST_SUITE(ResultAssignment, Kinds);

TYPED_TEST(ResultAssignment, TakesValueAndErrorFromBoth) {
  for (const bool before : {true, false})
    for (const bool after : {true, false}) {
      SCOPED_TRACE(testing::Message() << before << " becomes " << after);
      auto target = this->make(before, 1);
      const auto source = this->make(after, 2);
      target = source;
      EXPECT_EQ(shown(target), shown(source));
      target = *&target; // itself
      EXPECT_EQ(shown(target), shown(source));
      target = this->make(before, 3);
      EXPECT_EQ(shown(target), shown(this->make(before, 3)));
    }
}

TYPED_TEST(ResultAssignment, KeepsWhatItHasWhenTheCopyThrows) {
  for (const bool before : {true, false}) {
    SCOPED_TRACE(before ? "a value" : "an error");
    auto target = this->make(before, 1);
    const auto source = this->make(true, 2);
    const std::string expected = shown(target);
    fragile::throws = true;
    EXPECT_THROW(target = source, std::runtime_error);
    fragile::throws = false;
    EXPECT_EQ(shown(target), expected);
    target = source; // the control: the same assignment works when nothing throws
    EXPECT_EQ(shown(target), "2");
  }
}

TEST(Result, MovesWhatCannotBeCopied) {
  result<owner> a = std::make_unique<int>(1);
  result<owner> b = lost;
  b = std::move(a);
  ASSERT_TRUE(b);
  EXPECT_EQ(**b, 1);
  const owner out = std::move(b).value();
  EXPECT_EQ(*out, 1);
  b = busy;
  EXPECT_THAT(b, paddock::test::IsError(error_code::conflict));
}

// --- chains ---

TEST(Result, ChainsThroughNothing) {
  int calls = 0;
  const result<void> done;
  EXPECT_EQ(done.and_then([&]() -> result<int> { return ++calls; }).value(), 1);
  done.value();
  *done;

  const result<void> failed = lost;
  EXPECT_EQ(failed.and_then([&]() -> result<int> { return ++calls; }).error(), lost);
  EXPECT_EQ(calls, 1) << "nothing is called for an error";
}

TEST(Result, KeepsTheDetailInAChain) {
  const result<int, detailed_error> said = detailed_error(lost, "said once");
  const auto wide = said.and_then([](int) -> result<int, detailed_error> { return 1; });
  EXPECT_EQ(wide.error().detail, "said once");
  EXPECT_EQ(paddock::explain(wide.error()), "said once");
  EXPECT_EQ(paddock::explain(detailed_error(lost)), text(error_code::not_found));
}

result<void, detailed_error> refuse() {
  return detailed_error(busy, "said once");
}
result<int, detailed_error> pass_on() {
  PADDOCK_CHECK(result<void>());
  PADDOCK_CHECK(refuse());
  return 1;
}
TEST(Result, TryKeepsTheDetail) {
  EXPECT_EQ(pass_on().error().detail, "said once");
}

// --- misuse ---

#if GTEST_HAS_DEATH_TEST
TEST(ResultDeathTest, MisuseSaysWhatHappened) {
  result<std::string> failed = lost;
  result<void> nothing = lost;
  result<std::string> good = std::string("value");
  const std::string said = "the value of a result that failed: not_found, .*openat2.*errno 2";
  EXPECT_DEATH((void)failed.value(), said);
  EXPECT_DEATH((void)*failed, said);
  EXPECT_DEATH((void)failed->size(), said);
  EXPECT_DEATH((void)std::move(failed).value(), said);
  EXPECT_DEATH(nothing.value(), said);
  EXPECT_DEATH((void)good.error(), "the error of a result that succeeded");
  EXPECT_EQ(good.value(), "value"); // the control
}
#endif

} // namespace
