// SPDX-License-Identifier: MIT

// The scanner against libyaml, libyaml's guards, and what is written read back by libyaml.

#include "support/frontmatter_blocks.hpp"

#include <paddock/frontmatter_yaml.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace paddock::frontmatter {
namespace {

using namespace std::string_literals;

class FrontmatterYaml : public testing::Test {
protected:
  void SetUp() override {
    if (libyaml() == nullptr) GTEST_SKIP() << "built without libyaml";
  }
};

std::string describe(const std::vector<entry>& entries) {
  std::string out;
  for (const entry& e : entries) {
    out += std::to_string(e.line) + ":" + std::to_string(e.column) + " " + e.key + " kind " +
           std::to_string(static_cast<int>(e.kind)) + " '" + e.value + "'";
    // Where a collection ends is a matter of taste: comments behind it belong to nobody.
    if (e.kind != value_kind::sequence && e.kind != value_kind::mapping)
      out += " " + std::to_string(e.begin) + "-" + std::to_string(e.end);
    out += "\n";
  }
  return out;
}

/// What the scanner says must be what libyaml says. Returns whether the scanner said anything.
bool expect_agreement(std::string_view block) {
  detail::entry_sink sink;
  if (!detail::scanner<detail::entry_sink>(block, sink).run()) return false;
  const document whole = libyaml()(block, 2);
  EXPECT_THAT(whole.problems, testing::IsEmpty()) << "block:\n" << block;
  if (!whole.problems.empty()) return true;
  const std::string mine = describe(sink.entries);
  EXPECT_EQ(mine, describe(whole.entries)) << "block:\n" << block;
  return true;
}

TEST_F(FrontmatterYaml, AgreesWithTheScannerOnWholeBlocks) {
  std::size_t fast = 0;
  for (const std::string_view block : test::frontmatter_blocks)
    fast += expect_agreement(block) ? 1 : 0;
  EXPECT_GE(fast, 24u);
  EXPECT_LT(fast, std::size(test::frontmatter_blocks)); // some are beyond it
}

TEST_F(FrontmatterYaml, AgreesWithTheScannerOnDamagedBlocks) {
  const char* const wanted = std::getenv("PADDOCK_TEST_CASES");
  const std::uint64_t cases = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 200'000;
  std::uint64_t fast = 0;
  for (std::uint64_t seed = 0; seed < cases && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const std::string block = test::damaged_block(random);
    fast += expect_agreement(block) ? 1 : 0;
    if (HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
  RecordProperty("fast", std::to_string(fast));
  EXPECT_GT(fast, cases / 5);
  EXPECT_LT(fast, cases);
}

} // namespace
} // namespace paddock::frontmatter
