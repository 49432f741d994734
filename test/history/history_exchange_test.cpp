// SPDX-License-Identifier: MIT

// Whatever is exchanged at whichever system call of a restore: nothing of an agent's comes into a
// person's repository. Whoever restores, the agent, a person or the agent of a later server; as
// root and as an ordinary user.

#include "held_fixture.hpp"
#include "support/campaign.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/process/as_nobody.hpp"

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

enum class asker : unsigned char { agent, person, later_server };

class HistoryExchange : public test::held_fixture, public testing::WithParamInterface<asker> {
protected:
  /// Whose the restore is; before anything is exchanged.
  [[nodiscard]] std::shared_ptr<history::store>
  asking(const std::shared_ptr<history::store>& agents) const {
    if (GetParam() == asker::agent) return agents;
    return GetParam() == asker::person ? open({}, history::session::look) : begun();
  }
  static auto restore(history::store& in, history::restore_request what) {
    if (GetParam() == asker::person) what.by = history::author::other;
    return in.restore(what);
  }
};

INSTANTIATE_TEST_SUITE_P(By, HistoryExchange,
                         testing::Values(asker::agent, asker::person, asker::later_server),
                         [](const auto& by) {
                           return by.param == asker::agent    ? "Agent"
                                  : by.param == asker::person ? "Person"
                                                              : "LaterServer";
                         });

/// A hook of the agent's never lands in the repository of a person that has got the place of what
/// is being restored.
TEST_P(HistoryExchange, WhatIsMeantForOneDirectoryIsNotPutIntoAnother) {
  const std::set<std::string> persons{".git/HEAD", ".git/config", "mine"};
  std::size_t met = 0;
  for (std::size_t at = 1;; at += test::campaign_step()) {
    start_anew();
    std::uint64_t to = 0;
    const auto store = two_repositories(to), asks = asking(store);
    bool is_hit = false;
    const auto disturb = [&](std::size_t call) {
      if (call == at) {
        is_hit = true;
        met += fs::exists(workspace() + "/d") ? 1U : 0U;
        exchange("d", "clone");
      }
    };
    test::injection injected({.before = disturb});
    const auto back = restore(*asks, {.to = to});
    injected.end();
    EXPECT_EQ(in_persons(), persons) << "at " << at << "\n" << now();
    if (HasFailure()) return;
    if (!is_hit) {
      // The control: where nobody interferes it comes back.
      EXPECT_THAT(back, IsOk());
      EXPECT_EQ(tree.content("ws/d/.git/hooks/post-checkout"), "evil\n");
      break;
    }
  }
  EXPECT_GT(met, 10 / test::campaign_step()); // the control: there was something to exchange
}

/// The same at every later call: each second one exchanges them again.
TEST_P(HistoryExchange, HoweverOftenTheyAreExchanged) {
  const std::set<std::string> persons{".git/HEAD", ".git/config", "mine"};
  for (const std::size_t every : {1u, 2u, 3u, 5u})
    for (std::size_t at = 1;; at += 7 * test::campaign_step()) {
      start_anew();
      std::uint64_t to = 0;
      const auto store = two_repositories(to), asks = asking(store);
      bool is_hit = false;
      const auto disturb = [&](std::size_t call) {
        if (call < at || (call - at) % every != 0) return;
        is_hit = true;
        exchange("d", "clone");
      };
      test::injection injected({.before = disturb});
      (void)restore(*asks, {.to = to});
      injected.end();
      EXPECT_EQ(in_persons(), persons) << "at " << at << " every " << every << "\n" << now();
      if (HasFailure()) return;
      if (!is_hit) break;
    }
}

/// What is protected beside a repository does not come into one that has the place of the agent's
/// directory when it is looked at and when the change is made, and not when the rules are asked.
TEST_P(HistoryExchange, TheRulesAreThoseOfTheDirectoryThatIsChanged) {
  const std::set<std::string> persons{".git/HEAD", ".git/config", "mine"};
  const std::set<std::string> named{".envrc", ".vscode/tasks.json"};
  const auto run_with = [&](const std::set<std::size_t>& calls) {
    start_anew();
    write("clone/.git/HEAD", "ref: refs/heads/main\n");
    write("clone/.git/config", "[core]\n");
    write("clone/mine", "a person's");
    write("d/work", "the agent's");
    const auto store = begun();
    run(*store, "mkdir d/.vscode; printf evil | tee d/.envrc > d/.vscode/tasks.json");
    const auto to = store->make_checkpoint("made")->number;
    run(*store, "rm -r d/.envrc d/.vscode");
    const auto asks = asking(store);
    test::injection injected({.before = [&](std::size_t call) {
      if (calls.contains(call)) exchange("d", "clone");
    }});
    const auto back = restore(*asks, {.to = to});
    const std::size_t all = test::injection::calls();
    injected.end();
    for (const std::string& each : in_persons())
      EXPECT_FALSE(named.contains(each)) << each << " in\n" << now();
    if (calls.empty()) {
      EXPECT_TRUE(back && tree.content("ws/d/.envrc") == "evil");
    }
    return all;
  };
  const std::size_t all = run_with({}), step = std::max<std::size_t>(all / 10, 1);
  std::size_t number = 0;
  for (std::size_t a = 1; a < all; a += step)
    for (std::size_t b = a + step; b < all; b += step)
      for (std::size_t c = b + step; c < all && !HasFailure(); c += step)
        if (number++ % test::campaign_step() == 0) (void)run_with({a, b, c});
}

/// What could not go home goes back to where it was, but not beside a repository that has come
/// there meanwhile, when what is protected was away.
TEST_P(HistoryExchange, WhatWasMovedDoesNotGoBackBesideARepository) {
  const std::string away = workspace() + "/d/.vscode", git = workspace() + "/d/.git";
  std::size_t met = 0, late = 0;
  for (std::size_t at = 1;; at += test::campaign_step()) {
    start_anew();
    write("clone/.git/HEAD", "ref: refs/heads/main\n");
    write("clone/.git/config", "[core]\n");
    write("was/tasks.json", "one");
    write("d/f", "one");
    const auto store = begun();
    run(*store, "echo evil > was/tasks.json; mv was d/.vscode");
    const auto asks = asking(store);
    std::size_t since = 0; // it was taken away
    bool has_failed = false;
    const auto errno_of = [&](std::string_view name) {
      if (has_failed || since == 0 || name != "renameat2") return 0;
      has_failed = true;
      return EIO;
    };
    const auto disturb = [&](std::size_t) {
      const bool is_away = !fs::exists(away);
      if ((since == 0 && !is_away) || ++since != at) return;
      met += is_away ? 1U : 0U;
      if (is_away) fs::rename(workspace() + "/clone/.git", git);
    };
    test::injection injected({.os_errno_of = errno_of, .before = disturb});
    EXPECT_FALSE(restore(*asks, {.to = store->state().start}));
    injected.end();
    EXPECT_TRUE(has_failed);
    if (HasFailure()) return;
    late += fs::exists(git) && fs::exists(away) ? 1U : 0U;
    if (since >= at) continue;
    EXPECT_TRUE(fs::exists(away)); // the control
    break;
  }
  EXPECT_GT(met, 3 / test::campaign_step());
  EXPECT_LE(late, 1u) << met; // between the last question and the rename
}

TEST(HistoryExchangeToo, AsAnOrdinaryUser) {
  test::run_as_nobody("*/HistoryExchange.*");
}

} // namespace
