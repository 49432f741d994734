// SPDX-License-Identifier: MIT
// The pauses between attempts to reach a server again, and which name somebody may have meant.
#include "skill_manager/reconnect_pause.hpp"

#include <paddock/detail/nearest_name.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {
namespace {

TEST(reconnect_pause, grows_to_a_cap_with_jitter) {
  const skill_manager::reconnect_pauses pauses{.first_ms = 100, .max_ms = 1'000};
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  const std::array<std::int64_t, 6> longest = {100, 200, 400, 800, 1'000, 1'000};
  for (unsigned attempt = 1; attempt <= longest.size(); ++attempt) {
    const std::int64_t high = longest.at(attempt - 1);
    bool all_alike = true;
    for (std::uint32_t random = 0; random < 5'000; ++random) {
      const auto pause = skill_manager::pause_before(pauses, attempt, {}, random * 7'919U);
      EXPECT_GE(pause, high / 2);
      EXPECT_LE(pause, high);
      all_alike = all_alike && pause == skill_manager::pause_before(pauses, attempt, {}, 0);
    }
    EXPECT_FALSE(all_alike);
  }
  EXPECT_LE(skill_manager::pause_before(pauses, most, {}, most), 1'000);
}

TEST(reconnect_pause, keeps_to_what_the_server_asks) {
  const skill_manager::reconnect_pauses pauses{.first_ms = 100, .max_ms = 1'000};
  EXPECT_EQ(skill_manager::pause_before(pauses, 1, 2'500, 0), 2'500);
  EXPECT_EQ(skill_manager::pause_before(pauses, 1, 3'600'000, 0), 300'000);
  EXPECT_EQ(skill_manager::pause_before(pauses, 1, 0, 0), 50) << "never without a pause";
  EXPECT_EQ(skill_manager::pause_before(pauses, 1, -5, 0), 50);
  EXPECT_EQ(skill_manager::pause_before({.first_ms = 0, .max_ms = 0}, 1, {}, 0), 1);
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_GT(skill_manager::pause_before({.first_ms = huge, .max_ms = huge}, 70, {}, 3), 0);
}

TEST(nearest_name, counts_what_has_to_be_changed) {
  const struct {
    std::string_view a;
    std::string_view b;
    std::size_t distance;
  } cases[] = {{"", "", 0},       {"", "abc", 3},      {"abc", "", 3},           {"abc", "ABC", 0},
               {"abc", "abd", 1}, {"abc", "acb", 1},   {"abc", "ab", 1},         {"abc", "xabc", 1},
               {"ab", "ba", 1},   {"exce", "exec", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}};
  for (const auto& c : cases) {
    EXPECT_EQ(detail::edit_distance(c.a, c.b), c.distance) << c.a << " " << c.b;
    EXPECT_EQ(detail::edit_distance(c.b, c.a), c.distance) << c.a << " " << c.b;
  }
}

TEST(nearest_name, finds_what_was_meant) {
  constexpr std::array<std::string_view, 6> known = {"--workspace",   "--read-only", "readTextFile",
                                                     "writeTextFile", "command",     "--exec"};
  const struct {
    std::string_view given;
    std::vector<std::string_view> found;
  } cases[] = {
      {"--worksapce", {"--workspace"}},
      {"--workpsace", {"--workspace"}},
      {"--Workspace", {"--workspace"}},
      {"--readonly", {"--read-only"}},
      {"readFile", {"readTextFile"}},
      {"comand", {"command"}},
      {"--exce", {"--exec"}},
      {"--raed-only", {"--read-only"}},
      {"autoApprove", {}},
      {"", {}},
      {"x", {}},
  };
  for (const auto& c : cases) {
    const auto found = detail::nearest_names(c.given, known);
    ASSERT_EQ(found.empty(), c.found.empty()) << c.given;
    if (!found.empty()) {
      EXPECT_EQ(found.front(), c.found.front()) << c.given;
    }
  }
  EXPECT_TRUE(detail::nearest_names(std::string(1'000'000, 'a'), known).empty());
  EXPECT_EQ(detail::did_you_mean("comand", known), "; did you mean command?");
  constexpr std::array<std::string_view, 2> hidden = {"--arg", "--max-exec-grace-ms"};
  EXPECT_EQ(detail::did_you_mean("--agr", hidden), "; did you mean --arg?");
  constexpr std::array<std::string_view, 4> many = {"aaab", "aaac", "aaad", "aaa"};
  EXPECT_EQ(detail::did_you_mean("aaa", many), "; did you mean aaa, aaab or aaac?");
}

} // namespace
} // namespace paddock
