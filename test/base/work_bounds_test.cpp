// SPDX-License-Identifier: MIT

// Deadlines, cancellation and the budget for memory.

#include "support/matchers.hpp"

#include <paddock/base/work_bounds.hpp>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using enum error_code;

TEST(WorkBounds, SayWhyTheWorkIsOver) {
  const std::atomic<bool> yes{true};
  const std::atomic<bool> no{false};
  EXPECT_THAT(work_bounds{}.check(), IsOk());
  EXPECT_FALSE(work_bounds{}.is_bounded());
  EXPECT_THAT(work_bounds{.cancelled = &no}.check(), IsOk());
  EXPECT_THAT(work_bounds{.cancelled = &yes}.check(), IsError(cancelled));
  EXPECT_THAT(work_bounds{.deadline_ms = deadline_in(3'600'000)}.check(), IsOk());
  EXPECT_THAT(work_bounds{.deadline_ms = 0}.check(), IsError(timed_out));
  EXPECT_THAT((work_bounds{.deadline_ms = 0, .cancelled = &yes}.check()), IsError(cancelled));
  EXPECT_EQ(deadline_in(0), work_bounds::no_deadline);
  EXPECT_EQ(deadline_in(~std::uint64_t{0}), work_bounds::no_deadline);
}

TEST(MemoryBudget, SharesAreGivenBack) {
  memory_budget budget(100);
  const work_bounds bounds{.deadline_ms = 0, .memory = &budget};
  memory_share one;
  EXPECT_THAT(one.grow(60, bounds), IsOk());
  EXPECT_THAT(one.grow(20, bounds), IsOk());
  EXPECT_EQ(budget.held(), 80U);
  memory_share two;
  EXPECT_THAT(two.grow(21, bounds), IsError(too_many));
  EXPECT_THAT(two.grow(20, bounds), IsOk());
  EXPECT_EQ(budget.held(), 100U);
  memory_share three = std::move(one);
  EXPECT_EQ(budget.held(), 100U);
  EXPECT_EQ(three.bytes(), 80U);
  three.give_back();
  EXPECT_EQ(budget.held(), 20U);
  two = {};
  EXPECT_EQ(budget.held(), 0U);
}

TEST(MemoryBudget, WhatNeverFitsIsRefusedAtOnce) {
  memory_budget budget(100);
  memory_share share;
  EXPECT_THAT(share.grow(101, {.memory = &budget}), IsError(too_large));
  EXPECT_THAT(share.grow(~std::uint64_t{0}, {.memory = &budget}), IsError(too_large));
  EXPECT_THAT(share.grow(60, {.memory = &budget}), IsOk());
  EXPECT_THAT(share.grow(41, {.memory = &budget}), IsError(too_large));
  EXPECT_EQ(budget.held(), 60U);
  EXPECT_THAT(memory_share().grow(~std::uint64_t{0}, {}), IsOk()); // no budget, no bound
}

TEST(MemoryBudget, WaitingEndsWithTheCall) {
  memory_budget budget(100);
  memory_share all;
  ASSERT_THAT(all.grow(100, {.memory = &budget}), IsOk());
  const std::atomic<bool> yes{true};
  memory_share other;
  EXPECT_THAT(other.grow(1, {.cancelled = &yes, .memory = &budget}), IsError(cancelled));
  std::thread waiting([&] { EXPECT_THAT(other.grow(100, {.memory = &budget}), IsOk()); });
  all.give_back();
  waiting.join();
  EXPECT_EQ(other.bytes(), 100U);
}

TEST(MemoryBudget, WhoHoldsSomethingNeverWaits) {
  memory_budget budget(100);
  memory_share one;
  memory_share two;
  ASSERT_THAT(one.grow(50, {.memory = &budget}), IsOk());
  ASSERT_THAT(two.grow(40, {.memory = &budget}), IsOk());
  // Who would wait says that nobody wants the result: the control.
  const std::atomic<bool> yes{true};
  const work_bounds bounds{.cancelled = &yes, .memory = &budget};
  EXPECT_THAT(memory_share().grow(20, bounds), IsError(cancelled));
  EXPECT_THAT(one.grow(20, bounds), IsError(too_many));
  EXPECT_EQ(one.bytes(), 50U);
  EXPECT_THAT(one.grow(10, bounds), IsOk());
  EXPECT_THAT(two.grow(20, bounds), IsError(too_many));
  one.give_back();
  EXPECT_THAT(two.grow(60, bounds), IsOk());
}

TEST(MemoryBudget, ASecondShareDoesNotWaitForTheFirst) {
  memory_budget budget(100);
  const work_bounds bounds{.memory = &budget};
  memory_share one, others;
  ASSERT_THAT(one.grow(50, bounds), IsOk());
  ASSERT_THAT(others.grow(20, bounds), IsOk());
  work_bounds second = bounds;
  second.held = one.bytes();
  EXPECT_THAT(memory_share().grow(60, second), IsError(too_large));
  EXPECT_THAT(memory_share().grow(40, second), IsError(too_many)); // at once, without a deadline
  memory_share two;
  ASSERT_THAT(two.grow(30, second), IsOk());
  one.join(std::move(two));
  EXPECT_EQ(one.bytes(), 80U);
  one.give_back();
  EXPECT_EQ(budget.held(), 20U);
}

TEST(MemoryBudget, ManyThatGrowAllEnd) {
  memory_budget budget(1000);
  std::atomic<unsigned> done{0};
  std::atomic<unsigned> refused{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (unsigned i = 0; i < 100; ++i) {
        memory_share share;
        ASSERT_THAT(share.grow(200, {.memory = &budget}), IsOk());
        for (unsigned step = 0; step < 3; ++step) {
          std::this_thread::yield();
          if (share.grow(200, {.memory = &budget})) continue;
          ++refused;
          break;
        }
        if (share.bytes() == 800) ++done;
      }
    });
  for (auto& t : threads)
    t.join();
  EXPECT_EQ(done + refused, 800U);
  EXPECT_EQ(budget.held(), 0U);
}

TEST(MemoryBudget, ManyNeverHoldMoreThanThereIs) {
  memory_budget budget(1000);
  std::atomic<std::uint64_t> held{0};
  std::atomic<std::uint64_t> most{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 300; ++i) {
        memory_share share;
        const std::uint64_t bytes = 100 + (t * 37 + i * 11) % 700;
        ASSERT_THAT(share.grow(bytes, {.memory = &budget}), IsOk());
        const std::uint64_t now = held.fetch_add(bytes) + bytes;
        for (std::uint64_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        held.fetch_sub(bytes);
      }
    });
  for (auto& t : threads)
    t.join();
  EXPECT_LE(most, 1000U);
  EXPECT_GT(most, 100U);
  EXPECT_EQ(budget.held(), 0U);
}

} // namespace
} // namespace paddock
