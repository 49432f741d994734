// SPDX-License-Identifier: MIT

// Random sequences of operations against a model of the file system, with both resolvers. Seeds are
// fixed; PADDOCK_MODEL_SEQUENCES sets how many sequences there are.

#include "support/campaign.hpp"
#include "support/files/canary.hpp"
#include "support/model/operation_sequence.hpp"

namespace paddock::test {
namespace {

constexpr std::size_t bytes_of_a_sequence = 120;

std::vector<std::uint8_t> random_bytes(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(bytes_of_a_sequence);
  for (auto& byte : bytes)
    byte = static_cast<std::uint8_t>(random());
  return bytes;
}

/// In memory where possible: it is about what happens, not about a disk.
class in_memory : public testing::Environment {
  void SetUp() override {
    if (::access("/dev/shm", W_OK | X_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new in_memory); // NOLINT: owned

TEST(operation_model, both_resolvers_do_what_the_model_says) {
  const auto sequences =
      static_cast<unsigned>(test::campaign_size("PADDOCK_MODEL_SEQUENCES", 1'000));
  const canary_tree canary;
  const std::string outside = canary.describe_outside();
  sequence_comparison both(canary.tree() / "both");
  for (unsigned seed = 1; seed <= sequences; ++seed)
    ASSERT_EQ(both.run(random_bytes(seed)), "") << "sequence " << seed;
  EXPECT_EQ(canary.describe_outside(), outside);
  EXPECT_TRUE(std::filesystem::is_empty(canary.tree() / "both/first/out"));
  EXPECT_TRUE(std::filesystem::is_empty(canary.tree() / "both/other/out"));
  std::printf("[ model    ] %u sequences, %ld operations, %ld of them succeeded\n", sequences,
              both.steps(), both.done());
  EXPECT_GT(both.done(), both.steps() / 10) << "most operations fail, so little is tested";
}

class wrong_model : public testing::TestWithParam<wrong_rule> {};

INSTANTIATE_TEST_SUITE_P(
    every, wrong_model,
    testing::Values(wrong_rule::dotdot_by_spelling, wrong_rule::trailing_slash_means_nothing,
                    wrong_rule::dangling_is_missing, wrong_rule::links_are_removed_through,
                    wrong_rule::parents_stay, wrong_rule::reserved_by_spelling));

/// Negative control: a model with one wrong rule is found out.
TEST_P(wrong_model, is_noticed) {
  constexpr unsigned sequences_max = 5'000;
  const canary_tree canary;
  sequence_comparison both(canary.tree() / "both");
  for (unsigned seed = 1; seed <= sequences_max; ++seed)
    if (!both.run(random_bytes(seed), GetParam()).empty()) {
      EXPECT_EQ(both.run(random_bytes(seed)), "");
      std::printf("[ control  ] noticed in sequence %u\n", seed);
      return;
    }
  FAIL() << "the wrong rule was never noticed, so the other test proves nothing";
}

} // namespace
} // namespace paddock::test
