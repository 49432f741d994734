// SPDX-License-Identifier: MIT

// Random operations of tools, commands and processes of two servers, of a person and of servers
// that are killed, some under protected names, against a model that keeps a whole copy of each
// step: what is told as changed is what differs, and by whom, and a restore brings the copy back,
// or without force what was the agent's of it. Seeds are fixed; PADDOCK_MODEL_SEQUENCES sets how
// many sequences there are.

#include "history_sequences.hpp"
#include "support/campaign.hpp"

using namespace paddock;
using test::asker;
using test::lies_in;
using test::model_copy;
using test::who;
using test::wrong;

namespace {

class HistoryModel : public test::history_sequences {
protected:
  /// Differences, in words; empty: the store did what the model says.
  std::string run_sequence(unsigned seed, wrong rule = wrong::nothing) {
    start(seed, rule);
    for (int round = 0; round < 30 && told_.empty(); ++round)
      do_something();
    end();
    return told_.empty() ? "" : said_ + told_;
  }
  [[nodiscard]] long restores() const { return restores_; }
  [[nodiscard]] long without_force() const { return without_force_; }
  [[nodiscard]] long conflicts() const { return conflicts_; }
  [[nodiscard]] long changes() const { return changes_; }

private:
  void do_something() {
    switch (below(14)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      work_of_agent();
      break;
    case 5:
      by_person();
      break;
    case 6:
      if (const auto made = first_->make_checkpoint("point")) {
        points_.push_back({made->number, last()});
        said_ += "checkpoint " + std::to_string(made->number) + '\n';
      } else
        told_ += "no checkpoint\n";
      break;
    case 7:
    case 8:
      compare_changes();
      break;
    case 9:
      by_killed_server();
      first_->look(); // what changes until then is put down to a command that was cut short
      break;
    case 10:
      by_process();
      break;
    case 11:
      start_or_end_second();
      break;
    default:
      restore();
      break;
    }
    if (const auto really = test::copy_of(workspace()); really != model_.now)
      told_ += "the workspace:\n" + test::difference(model_.now, really);
  }

  asker anybody() {
    const unsigned one = below(4);
    return one == 0 && second_ ? asker::second : one == 1 ? asker::person : asker::first;
  }
  [[nodiscard]] history::store& store_of(asker by) {
    return by == asker::second ? *second_ : *first_;
  }
  static history::author author_of(asker by) {
    return by == asker::person ? history::author::other : history::author::tool;
  }
  static std::string name_of(asker by) {
    return by == asker::person ? "a person" : by == asker::second ? "the second" : "the first";
  }
  /// What the agent has under way is told.
  void compare_running(const std::vector<history::running_command>& told) {
    if (told.size() != (process_ ? 1U : 0U) || (process_ && told.front().command != "serve"))
      told_ += std::to_string(told.size()) + " commands run\n";
  }

  void compare_changes() {
    const point since = points_.at(below(static_cast<unsigned>(points_.size())));
    const asker by = anybody();
    said_ += "changes since " + std::to_string(since.number) + " for " + name_of(by) + '\n';
    const auto list = store_of(by).changes(
        {.since = since.number, .limit = 100'000, .collapse = false, .by = author_of(by)});
    if (!list) {
      told_ += "no changes\n";
      return;
    }
    ++changes_;
    compare_running(list->running);
    const model_copy before = with(ledger_.steps[since.step].after), after = model_.now;
    const auto changed_by = ledger_.since(by, since.step);
    std::map<std::string, std::string> kinds;
    for (const history::change& each : list->changes) {
      kinds[each.path] = history::name_of(each.kind);
      if (each.kind != history::change_kind::moved) continue;
      // A directory is told with what has moved in it.
      for (const auto& [path, entry] : after)
        if (lies_in(path, each.path)) {
          const std::string old = each.from + path.substr(each.path.size());
          const bool was_there = before.contains(old); // or a person has made it since
          if ((!was_there && !changed_by.contains(old)) || after.contains(old)) continue;
          if (kinds.contains(old)) continue;
          if (was_there) kinds[old] = "deleted";
          kinds.try_emplace(path, "created");
        }
      kinds[each.path] = "created";
      kinds[each.from] = "deleted";
    }
    for (const auto& path : test::paths_of(before, after)) {
      const auto author = changed_by.find(path);
      // What the agent has changed beside others is told as of the agent's first change.
      if (author != changed_by.end() && author->second.is_mixed()) continue;
      const bool is_told = path != test::hidden_name || ledger_.rule == wrong::hidden;
      const std::string wanted = is_told ? test::kind_of_change(before, after, path) : "";
      const auto found = kinds.find(path);
      if (found != kinds.end() ? wanted != found->second : !wanted.empty())
        told_ += path + " is " + (wanted.empty() ? "as it was" : wanted) + ", told as " +
                 (found == kinds.end() ? "nothing" : found->second) + '\n';
    }
    for (const history::change& each : list->changes)
      compare_author(each, changed_by);
    if (!told_.empty()) told_ += told(list) + '\n';
  }
  /// Directories have new times by whoever works in them.
  void compare_author(const history::change& each,
                      const std::map<std::string, test::history_ledger::share>& changed_by) {
    const auto author = changed_by.find(each.path);
    if (author == changed_by.end()) return;
    if (author->second.by_agents == author->second.by_person) return;
    if (each.kind == history::change_kind::moved || each.entry == entry_kind::directory) return;
    const bool is_persons = author->second.by_person != (ledger_.rule == wrong::author);
    if (is_persons != (each.by == history::author::other))
      told_ += each.path + " is by " + std::string(history::name_of(each.by)) + '\n';
  }

  void restore() {
    const point to = points_.at(below(static_cast<unsigned>(points_.size())));
    const bool has_force = below(2) == 0;
    const std::uint64_t before = restore_to(to, anybody(), has_force);
    if (before == 0 || !told_.empty()) return;
    const point back{before, last() - 1};
    if (below(2) == 0) // and forward again
      (void)restore_to(back, anybody(), true);
    else
      points_.push_back(back);
  }
  /// The checkpoint of before; 0: nothing was restored.
  std::uint64_t restore_to(const point& to, asker by, bool has_force) {
    said_ += name_of(by) + " restores to " + std::to_string(to.number) +
             (has_force ? " with force\n" : "\n");
    history::restore_request request{.to = to.number, .force = has_force, .by = author_of(by)};
    if (has_force) request.paths = {""};
    const auto back = store_of(by).restore(request);
    if (!back) {
      told_ += "no restore: " + explain(back.error()) + '\n';
      return 0;
    }
    ++restores_;
    const bool has_conflicts = !back->conflicts.empty();
    without_force_ += has_force ? 0 : 1;
    conflicts_ += has_conflicts && !has_force ? 1 : 0;
    compare_running(back->running);
    test::history_ledger::restored done{.by = by,
                                        .to = to.step,
                                        .has_force = has_force,
                                        .has_conflicts = has_conflicts,
                                        .before = model_.now,
                                        .after = test::copy_of(workspace())};
    for (const auto* all : {&back->conflicts, &back->left})
      for (const auto& each : *all) {
        done.named.insert(each.path);
        said_ += "  " + each.path + ": " + each.reason + '\n';
      }
    compare_conflicts(*back, to.step, by, has_force);
    const model_copy real_copy = std::exchange(ledger_.steps[to.step].after, {});
    ledger_.steps[to.step].after = with(real_copy);
    told_ += ledger_.judge(done);
    ledger_.steps[to.step].after = real_copy;
    if (done.before == done.after && back->before == 0) return 0;
    model_.now = done.after;
    took(by == asker::person ? who::undo : by == asker::second ? who::second : who::tool, true);
    return back->before;
  }
  /// With force there is one for protected names alone, without it where both worked at something.
  void compare_conflicts(const history::restore_outcome& back, std::size_t to, asker by,
                         bool has_force) {
    const std::string due = has_force ? "" : ledger_.due_conflict(by, to);
    if (!due.empty() && back.conflicts.empty()) told_ += "no conflict of " + due + '\n';
    const bool may_be = !has_force && ledger_.may_conflict(by, to);
    for (const auto* all : {&back.conflicts, &back.left})
      for (const auto& each : *all)
        if (!may_be && !test::is_reserved(each.path))
          told_ += "conflict: " + each.path + ' ' + each.reason + '\n';
  }

  [[nodiscard]] model_copy with(model_copy copy) const {
    const wrong rule = ledger_.rule;
    const auto first = [&](char kind) {
      return std::ranges::find_if(copy, [&](const auto& e) {
        return e.second.kind == kind && !test::is_reserved(e.first);
      });
    };
    const auto file = first('f'), link = first('l');
    if (rule == wrong::mode && file != copy.end()) file->second.mode ^= 1U;
    if (rule == wrong::bytes && file != copy.end()) file->second.bytes += 'x';
    if (rule == wrong::link && link != copy.end()) link->second.bytes += 'x';
    if (rule == wrong::deletion && file != copy.end()) copy.erase(file);
    return copy;
  }

  long restores_ = 0, without_force_ = 0, conflicts_ = 0, changes_ = 0;
};

TEST_F(HistoryModel, TheStoreDoesWhatTheModelSays) {
  const auto sequences = static_cast<unsigned>(test::campaign_size("PADDOCK_MODEL_SEQUENCES", 60));
  for (unsigned seed = 1; seed <= sequences; ++seed)
    ASSERT_EQ(run_sequence(seed), "") << "sequence " << seed;
  std::printf("[ model    ] %u sequences, %ld lists of changes, %ld restores, %ld of them without "
              "force, of which %ld had conflicts, %ld kills, %ld processes\n",
              sequences, changes(), restores(), without_force(), conflicts(), kills_, processes_);
  EXPECT_GT(restores(), sequences / 2);
  EXPECT_GT(changes(), sequences / 2);
}

class WrongHistoryModel : public HistoryModel, public testing::WithParamInterface<wrong> {};

INSTANTIATE_TEST_SUITE_P(Every, WrongHistoryModel,
                         testing::Values(wrong::mode, wrong::link, wrong::bytes, wrong::deletion,
                                         wrong::author, wrong::process, wrong::second,
                                         wrong::killed, wrong::person, wrong::conflict,
                                         wrong::protection, wrong::hidden));

/// Negative control: a model with one wrong rule is found out.
TEST_P(WrongHistoryModel, IsNoticed) {
  constexpr unsigned sequences_max = 200;
  for (unsigned seed = 1; seed <= sequences_max; ++seed)
    if (!run_sequence(seed, GetParam()).empty()) {
      EXPECT_EQ(run_sequence(seed), "");
      return;
    }
  FAIL() << "the wrong rule was never noticed, so the other test proves nothing";
}

} // namespace
