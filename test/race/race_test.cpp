// SPDX-License-Identifier: MIT

// An attacker exchanges directories and links while operations run. Whatever an operation answers,
// it must have come from inside, and the outside must be what it was. control_test.cpp points the
// same attackers at checks that resolve a path twice and has to see them fail: otherwise this
// proves nothing.
//
// PADDOCK_RACE_ROUNDS sets the rounds of each operation against each attack (spread over resolvers
// and attackers).

#include "operations.hpp"
#include "support/campaign.hpp"
#include "support/matchers.hpp"

namespace paddock::test {
namespace {

constexpr attacker_kind attacker_kinds[] = {attacker_kind::thread, attacker_kind::process};
constexpr resolver resolvers[] = {resolver::openat2, resolver::walker};

/// Of one operation against one attack by one attacker through one resolver.
int rounds_of(const operation& op) {
  constexpr int everyday = 24;
  constexpr int ways = static_cast<int>(std::size(attacker_kinds) * std::size(resolvers));
  const auto asked = static_cast<int>(test::number_from_environment("PADDOCK_RACE_ROUNDS", 0));
  if (asked != 0) return std::max(1, (asked + ways - 1) / ways);
  return std::max(2, everyday / op.cost / static_cast<int>(test::campaign_step()));
}

/// In memory where possible: truncating and replacing files waits for a disk, and an operation that
/// waits is not racing.
class in_memory : public testing::Environment {
  void SetUp() override {
    if (::access("/dev/shm", W_OK | X_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new in_memory); // NOLINT: owned

std::vector<operation> all_operations() {
  std::vector<operation> all;
  for (const auto some : {operations_on_files(), operations_on_skills(), operations_with_commands(),
                          operations_that_walk()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

struct tally {
  long rounds = 0;
  long done = 0;
  long swaps = 0;
  std::map<std::string, long> refusals;
};

/// A refusal has to name what the attacker has done, not blame the machine.
bool is_explained(error_code code) {
  return code != error_code::io && code != error_code::unsupported &&
         code != error_code::invalid_argument && code != error_code::root_gone;
}

class race_test : public testing::TestWithParam<std::tuple<resolver, operation>> {
protected:
  /// False when the machine cannot do the operation at all.
  bool attack_it(const attack& by, attacker_kind kind, tally& seen) {
    const auto& [how, op] = GetParam();
    const canary_tree canary;
    build_for_attacks(canary);
    const victim v(canary, by, how);
    v.at.prepare();
    const auto in_peace = op.run(v);
    if (!in_peace && in_peace.error().code == error_code::unsupported) return false;
    EXPECT_THAT(in_peace, IsOk());
    v.at.prepare();
    const std::string outside = describe_unmoved_outside(canary);
    run_rounds(v, canary, by, kind, seen);
    EXPECT_EQ(outside, describe_unmoved_outside(canary));
    return true;
  }

private:
  static void run_rounds(const victim& v, const canary_tree& canary, const attack& by,
                         attacker_kind kind, tally& seen) {
    constexpr int tries_max = 100'000;
    const auto& op = std::get<operation>(GetParam());
    const int rounds = rounds_of(op);
    // A confined command needs names that hold still for a moment.
    const bool has_to_work = by.leads == attack::reach::same_place && op.cost == 1;
    long done = 0;
    int i = 0;
    attacker enemy(kind, canary.tree() / by.a, canary.tree() / by.b);
    enemy.wait_for_swaps(1);
    for (; (i < rounds || (has_to_work && done == 0 && i < tries_max)) && !HasFailure(); ++i) {
      if (i % 8 == 0) enemy.give_way();
      v.at.prepare();
      const auto outcome = op.run(v);
      done += outcome ? 1 : 0;
      if (outcome) continue;
      ++seen.refusals[std::string(wire_name(outcome.error().code))];
      EXPECT_TRUE(is_explained(outcome.error().code)) << testing::PrintToString(outcome.error());
    }
    EXPECT_TRUE(done > 0 || !has_to_work);
    seen.rounds += i;
    seen.done += done;
    seen.swaps += enemy.swaps();
  }
};

TEST_P(race_test, stays_inside) {
  const auto& [how, op] = GetParam();
  tally seen;
  for (const auto& attack : attacks())
    for (const auto kind : attacker_kinds) {
      if (!op.faces(attack)) continue;
      SCOPED_TRACE(std::string(attack.name) +
                   (kind == attacker_kind::process ? ", a process" : ", a thread"));
      if (!attack_it(attack, kind, seen)) GTEST_SKIP() << op.name << " is not supported here";
      if (HasFailure()) return;
    }
  std::string refusals;
  for (const auto& [code, count] : seen.refusals)
    refusals += ", " + code + ' ' + std::to_string(count);
  std::printf("[ rounds   ] %s %s: %zu attacks, %ld rounds, %ld exchanges, 0 escapes; ok %ld%s\n",
              op.name, name_of(how).c_str(), attacks().size(), seen.rounds, seen.swaps, seen.done,
              refusals.c_str());
}

INSTANTIATE_TEST_SUITE_P(every, race_test,
                         testing::Combine(testing::ValuesIn(resolvers),
                                          testing::ValuesIn(all_operations())),
                         [](const auto& suite) {
                           return std::string(std::get<1>(suite.param).name) + "_" +
                                  name_of(std::get<0>(suite.param));
                         });

} // namespace
} // namespace paddock::test
