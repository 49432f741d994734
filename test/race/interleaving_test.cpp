// SPDX-License-Identifier: MIT

// Races without chance: the exchange happens just before a system call of the operation, before
// each of them in turn, and the exchange back before each later one. Where the attackers of
// race_test.cpp rely on the scheduler, every place is tried here.

#include "operations.hpp"
#include "strategies.hpp"
#include "support/campaign.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/matchers.hpp"

#include <linux/fs.h>
#include <sys/syscall.h>

namespace paddock::test {
namespace {

/// Exchanges two names before some of the system calls that an operation makes.
class schedule {
public:
  schedule(const canary_tree& canary, const attack& by, const home& at)
      : a_(canary.tree() / by.a), b_(canary.tree() / by.b), at_(at) {}

  /// Runs `what` and exchanges before call `first` and before call `second` (0: not at all).
  /// Returns how many calls there were.
  std::size_t run(std::size_t first, std::size_t second, const std::function<void()>& what) {
    return run_where([=](std::size_t call) { return call == first || call == second; }, what);
  }
  std::size_t run_where(const std::function<bool(std::size_t)>& exchanges,
                        const std::function<void()>& what) {
    at_.prepare();
    std::size_t calls = 0;
    {
      const injection armed({.before = [&](std::size_t call) {
        if (exchanges(call)) exchange();
      }});
      what();
      calls = injection::calls();
    }
    if (odd_) exchange();
    odd_ = false;
    ++runs_;
    return calls;
  }
  [[nodiscard]] long runs() const { return runs_; }

private:
  void exchange() {
    // A name that the operation has consumed cannot be exchanged.
    if (::syscall(SYS_renameat2, AT_FDCWD, a_.c_str(), AT_FDCWD, b_.c_str(), RENAME_EXCHANGE) == 0)
      odd_ = !odd_;
  }

  std::string a_;
  std::string b_;
  const home& at_;
  bool odd_ = false;
  long runs_ = 0;
};

/// Every single place, every pair of places as far as the second is near the first, and all places.
/// PADDOCK_RACE_PAIRS says what is near; everyday it is every place in short operations.
void run_all(schedule& when, std::size_t calls, const std::function<void()>& what) {
  constexpr std::size_t calls_of_short = 24;
  const std::size_t near =
      test::number_from_environment("PADDOCK_RACE_PAIRS", calls <= calls_of_short ? calls : 3);
  for (std::size_t first = 1; first <= calls && !testing::Test::HasFailure();
       first += test::campaign_step()) {
    when.run(first, 0, what);
    for (std::size_t second = first + 1; second <= std::min(first + near, calls + 1); ++second)
      when.run(first, second, what);
  }
  for (const std::size_t step : {1U, 2U, 3U, 5U})
    when.run_where([=](std::size_t call) { return call % step == 0; }, what);
}

std::vector<operation> operations() {
  std::vector<operation> all(operations_on_files().begin(), operations_on_files().end());
  for (const auto some : {operations_on_skills(), operations_that_walk()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

class interleaving_test : public testing::TestWithParam<std::tuple<resolver, operation>> {};

TEST_P(interleaving_test, stays_inside) {
  const auto& [how, op] = GetParam();
  long runs = 0;
  long done = 0;
  for (const auto& by : attacks()) {
    if (!op.faces(by)) continue;
    SCOPED_TRACE(by.name);
    const canary_tree canary;
    build_for_attacks(canary);
    const victim v(canary, by, how);
    const std::string outside = describe_unmoved_outside(canary);
    schedule when(canary, by, v.at);
    result<void> last;
    const auto calls = when.run(0, 0, [&] { last = op.run(v); });
    if (!last && last.error().code == error_code::unsupported) GTEST_SKIP() << op.name;
    ASSERT_THAT(last, IsOk());
    run_all(when, calls, [&] {
      last = op.run(v);
      done += last ? 1 : 0;
      EXPECT_TRUE(last || last.error().code != error_code::io) << testing::PrintToString(last);
    });
    runs += when.runs();
    ASSERT_EQ(outside, describe_unmoved_outside(canary));
  }
  std::printf("[ rounds   ] %s %s: %ld interleavings, 0 escapes; ok %ld\n", op.name,
              name_of(how).c_str(), runs, done);
}

INSTANTIATE_TEST_SUITE_P(every, interleaving_test,
                         testing::Combine(testing::Values(resolver::openat2, resolver::walker),
                                          testing::ValuesIn(operations())),
                         [](const auto& suite) {
                           return std::string(std::get<1>(suite.param).name) + "_" +
                                  name_of(std::get<0>(suite.param));
                         });

/// Negative control: to each attack that leads out a usual strategy loses, each time, at the same
/// place.
TEST(interleaving_control, others_escape) {
  for (const auto& by : attacks()) {
    if (!leads_out(by)) continue;
    SCOPED_TRACE(by.name);
    const canary_tree canary;
    build_for_attacks(canary);
    const home at(canary.tree() / by.home);
    schedule when(canary, by, at);
    const std::string path = std::string(by.path) + '/' + victim_name;
    int escapes = 0;
    run_all(when, 12, [&] {
      escapes += read_naively(by, canary.ws(), path).starts_with(outside_mark) ? 1 : 0;
    });
    EXPECT_GT(escapes, 0);
  }
}

} // namespace
} // namespace paddock::test
