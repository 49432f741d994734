// SPDX-License-Identifier: MIT

// What a store keeps as it ages and fills.

#include "history/journal_records.hpp"
#include "support/history/history_fixture.hpp"

#include <sys/file.h>

#include <ostream>

using namespace paddock;
using test::IsOk;

namespace {

namespace fs = std::filesystem;

class HistoryRetention : public test::history_fixture {
protected:
  [[nodiscard]] fs::path file(const char* name) const {
    for (const auto& entry : fs::directory_iterator(state_directory()))
      return entry.path() / name;
    return {};
  }
  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// Where the record of a journal begins, and ends, that says so.
  static std::pair<std::size_t, std::size_t> record_with(const std::string& journal,
                                                         const std::string& text) {
    for (std::size_t at = std::string("paddock journal 1\n").size(); at + 4 <= journal.size();) {
      std::size_t size = 0;
      for (std::size_t i = 4; i-- > 0;)
        size = size * 256 + static_cast<unsigned char>(journal[at + i]);
      if (journal.substr(at, size).find(text) != std::string::npos) return {at, at + size};
      at += size;
    }
    ADD_FAILURE() << text;
    return {};
  }
  /// Every file of the store with what it holds.
  [[nodiscard]] std::map<std::string, std::string> all_files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(state_directory()))
      if (entry.is_regular_file()) all[entry.path().string()] = read(entry.path());
    return all;
  }
};

TEST_F(HistoryRetention, TheOwnStartStaysWhereAllOthersAreTooOld) {
  history::options how;
  write("a", "0");
  for (int i = 0; i < 6; ++i)
    run(*begun(how), "echo " + std::to_string(i) + " > a");
  how.checkpoints_max = 1;
  const auto store = begun(how);
  const std::uint64_t start = store->state().start;
  run(*store, "echo last > a");
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(store->collect_garbage(), IsOk());
    ASSERT_EQ(store->checkpoints().size(), 1u);
    EXPECT_EQ(store->checkpoints().front().number, start);
    EXPECT_EQ(told(store->changes({.since = start})), "modified a by exec; ");
  }
  // Numbers are never used again.
  EXPECT_GT(store->make_checkpoint("")->number, start);
  ASSERT_THAT(store->restore({.to = start}), IsOk());
  EXPECT_EQ(tree.content("ws/a"), "5\n");
}

/// Whenever nobody waits any more, the store is whole, and the next one does the rest.
TEST_F(HistoryRetention, WhoIsCancelledLeavesTheStoreWhole) {
  history::options how;
  how.checkpoints_max = 2;
  for (int i = 0; i < 10; ++i)
    write("f" + std::to_string(i), std::string(20'000, 'x') + std::to_string(i));
  std::size_t ended = 0;
  constexpr int rounds = 20;
  for (int round = 0; round <= rounds; ++round) {
    std::uint64_t last = 0;
    {
      const auto store = begun(how);
      run(*store, "for f in f*; do echo " + std::to_string(round) + " >> $f; done");
      last = store->make_checkpoint("")->number;
      run(*store, "echo more >> f1");
    }
    const std::string before = now();
    const auto store = open(how, history::session::look);
    std::atomic<bool> cancelled = round == 0;
    std::thread other([&] {
      for (int i = 0; i < round * 50; ++i)
        std::this_thread::yield();
      cancelled = round != rounds; // the control: the last one is let go on
    });
    const auto swept = store->collect_garbage({.cancelled = &cancelled});
    const auto list = store->changes({.bounds = {.cancelled = &cancelled}});
    other.join();
    if (!swept) {
      ++ended;
      ASSERT_EQ(swept.error().code, error_code::cancelled);
    }
    ASSERT_TRUE(list || list.error().code == error_code::cancelled);
    ASSERT_EQ(store->state().trouble, "");
    const auto seen = store->verify();
    ASSERT_THAT(seen, IsOk());
    ASSERT_THAT(seen->damaged, testing::IsEmpty()) << round;
    ASSERT_THAT(store->restore({.to = last}), IsOk());
    ASSERT_NE(now(), before);
    ASSERT_THAT(store->restore({.to = store->checkpoints().back().number}), IsOk());
    ASSERT_EQ(now(), before);
  }
  EXPECT_GE(ended, 1u);
  EXPECT_LT(ended, std::size_t{rounds} + 1);
}

/// The first look at everything, and the wait for another process, end as well.
TEST_F(HistoryRetention, WhoIsCancelledBeforeTheFirstLookBeginsNothing) {
  write("a", "1");
  const auto store = open();
  std::atomic<bool> cancelled = true;
  const work_bounds bounds{.cancelled = &cancelled};
  const auto refused = store->changes({.bounds = bounds});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, error_code::cancelled);
  EXPECT_TRUE(store->checkpoints(bounds).empty());
  EXPECT_EQ(store->before_command("exec", "work", bounds).finish(), "");
  EXPECT_EQ(store->state().trouble, "");
  EXPECT_EQ(told(store->changes({})), ""); // the control
  EXPECT_EQ(store->checkpoints().size(), 1u);

  const int lock = ::open(file("lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  cancelled = false;
  std::thread other([&] {
    std::this_thread::yield();
    cancelled = true;
  });
  const auto waited = store->changes({.bounds = bounds});
  other.join();
  ::close(lock);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, error_code::cancelled); // and not that the other one is at work
  EXPECT_EQ(told(store->changes({})), "");
}

TEST_F(HistoryRetention, LookingAgainDuringACommandWritesNothing) {
  const auto store = begun();
  const auto sleeping = store->before_command("exec", "sleep");
  run(*store, "seq 200 | split -l 1 - new-");
  run(*store, "true");
  const auto size = fs::file_size(file("journal"));
  run(*store, "true");
  EXPECT_EQ(fs::file_size(file("journal")), size);
  run(*store, "echo > another"); // the control
  EXPECT_GT(fs::file_size(file("journal")), size);
}

/// What an agent wrote under a protected name does not come back there, however long ago that was.
TEST_F(HistoryRetention, WhoWroteWhatIsObeyedIsKnownForLong) {
  for (const bool by_agent : {true, false}) { // the second one is the control
    shell("rm -rf .envrc ../state/*");
    {
      const auto store = begun();
      if (by_agent)
        run(*store, "echo evil > .envrc");
      else
        shell("echo evil > .envrc");
      for (int i = 0; i < 5; ++i)
        EXPECT_THAT(store->make_checkpoint("c"), IsOk());
    }
    for (int i = 0; i < 3; ++i) // each start takes more away
      (void)begun({.checkpoints_max = 2});
    const auto store = begun({.checkpoints_max = 2});
    const auto kept = store->checkpoints();
    ASSERT_LE(kept.size(), 2u);
    EXPECT_EQ(told(store->changes({.since = kept.front().number})), "");
    shell("echo mine > .envrc");
    const auto back = store->restore({.to = kept.front().number,
                                      .paths = {".envrc"},
                                      .force = true,
                                      .by = history::author::other});
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(tree.content("ws/.envrc"), by_agent ? "mine\n" : "evil\n");
    EXPECT_THAT(store->verify()->damaged, testing::IsEmpty());
  }
}

/// Of four operations the second is damaged, in its size, its sum and the rest.
TEST_F(HistoryRetention, AWrongByteTakesNoMoreThanItsRecord) {
  write("old", "0");
  std::uint64_t start = 0;
  {
    const auto store = begun();
    start = store->state().start;
    // Longer than 256 bytes: a size that is wrong by a bit leads to no other record.
    for (int i = 0; i < 4; ++i)
      run(*store, "true and so on; echo x > f" + std::to_string(i) + "; echo " + std::to_string(i) +
                      " > old");
  }
  const auto saved = all_files();
  shell("cp -a . ../saved");
  const std::string journal = read(file("journal"));
  const std::size_t begin = record_with(journal, "echo x > f1").first;
  const std::string end_of_all = "created f0 by exec; created f1 by exec; created f2 by exec; "
                                 "created f3 by exec; modified old by exec; ";
  for (const std::size_t offset : {0U, 1U, 2U, 3U, 4U, 11U, 12U, 13U, 20U, 30U, 60U}) {
    for (const int bit : {0, 1, 0x80}) {
      for (const auto& entry : fs::directory_iterator(file("journal").parent_path()))
        fs::remove(entry.path());
      for (const auto& [path, bytes] : saved)
        put(path, bytes);
      shell("find . -mindepth 1 -delete && cp -a ../saved/. .");
      std::string wrong = journal;
      wrong[begin + offset] = static_cast<char>(wrong[begin + offset] ^ bit);
      put(file("journal"), wrong);
      const auto store = open();
      const std::string found = told(store->changes({.since = start}));
      if (bit == 0) { // the control
        EXPECT_EQ(found, end_of_all);
        EXPECT_EQ(store->state().trouble, "");
        EXPECT_THAT(store->verify()->damaged, testing::IsEmpty());
        continue;
      }
      // What is not known any more is not taken for new: a restore leaves it.
      EXPECT_EQ(found, "created f0 by exec; created f2 by exec; created f3 by exec; "
                       "modified old by exec; ")
          << offset;
      EXPECT_THAT(store->state().trouble, testing::HasSubstr("damaged")) << offset;
      EXPECT_TRUE(fs::exists(file("journal.damaged"))) << offset;
      // Whoever comes next hears it, too, until garbage is collected.
      const auto next = open();
      EXPECT_EQ(told(next->changes({.since = start})), found) << offset;
      EXPECT_THAT(next->state().trouble, testing::HasSubstr("damaged")) << offset;
      EXPECT_THAT(next->verify()->damaged, testing::SizeIs(1)) << offset;
      EXPECT_THAT(next->collect_garbage(), IsOk());
      EXPECT_EQ(next->state().trouble, "");
      EXPECT_THAT(open()->verify()->damaged, testing::IsEmpty());
      ASSERT_THAT(next->restore({.to = start, .paths = {""}, .force = true}), IsOk());
      EXPECT_EQ(tree.content("ws/old"), "0");
      EXPECT_EQ(tree.content("ws/f1"), "x\n");
    }
  }
}

/// Behind the last record that is whole nothing is: what is damaged is put aside.
TEST_F(HistoryRetention, ADamagedEndIsPutAside) {
  {
    const auto store = begun();
    run(*store, "echo x > first");
    run(*store, "echo x > last");
  }
  std::string journal = read(file("journal"));
  const auto [end, last] = record_with(journal, "echo x > last");
  journal.resize(last); // perhaps one more says that `first` is known better
  std::string wrong = journal;
  wrong[end + 20] = static_cast<char>(wrong[end + 20] ^ 1);
  put(file("journal"), wrong);
  EXPECT_THAT(told(open()->changes({})), testing::Not(testing::HasSubstr("error")));
  EXPECT_EQ(read(file("journal.damaged")), wrong.substr(end));
  // The controls: a record that was cut off, as a kill leaves it or a power cut, is no damage.
  fs::remove(file("journal.damaged"));
  const std::string cut = journal.substr(0, journal.size() - 1);
  for (const std::string& left : {cut, cut.substr(0, end + 15) + std::string(300, '\0'),
                                  cut.substr(0, cut.size() - 20) + std::string(21, '\0')}) {
    put(file("journal"), left);
    const auto store = open();
    (void)store->checkpoints();
    EXPECT_EQ(store->state().trouble, "");
    EXPECT_FALSE(fs::exists(file("journal.damaged")));
  }
}

TEST_F(HistoryRetention, VerifyChangesNothing) {
  write("a", "1");
  run(*begun(), "echo 2 > a");
  write("b", "a person's");
  std::string journal = read(file("journal"));
  journal[journal.size() - 30] ^= 1;
  put(file("journal"), journal + "cut off");
  const auto before = all_files();
  const auto store = open();
  const auto checked = store->verify();
  ASSERT_THAT(checked, IsOk());
  EXPECT_THAT(checked->damaged, testing::Not(testing::IsEmpty()));
  EXPECT_EQ(all_files(), before);
  (void)store->checkpoints(); // the control: the first use does
  EXPECT_NE(all_files(), before);
}

/// Whatever has filled it: it is opened, listed and swept, and goes on.
TEST_F(HistoryRetention, AFullStoreOpensAgain) {
  const history::options how{.store_bytes_max = 60'000};
  write("a", "0");
  bool was_full = false;
  for (int i = 0; i < 15; ++i) {
    const auto store = begun(how);
    EXPECT_THAT(store->make_checkpoint("mine"), IsOk()) << i;
    for (int round = 0; round < 20; ++round) {
      auto recording = store->before_command("exec", "work");
      for (int each = 0; each < 20; ++each)
        write("a-rather-long-name-" + std::to_string(each),
              std::to_string(i) + std::to_string(round) + std::string(40, 'x'));
      was_full = !recording.finish().empty() || was_full;
    }
    EXPECT_THAT(store->changes({}), IsOk()) << i;
    std::uint64_t bytes = 0;
    for (const auto& [path, content] : all_files())
      bytes += content.size();
    EXPECT_LE(bytes, how.store_bytes_max);
  }
  EXPECT_TRUE(was_full); // the control
  const auto by_hand = open(how, history::session::look);
  EXPECT_THAT(by_hand->collect_garbage(), IsOk());
  EXPECT_THAT(by_hand->changes({}), IsOk());
  const auto store = begun(how);
  run(*store, "echo 1 > a");
  EXPECT_THAT(told(store->changes({})), testing::HasSubstr("modified a by exec"));
  ASSERT_THAT(store->restore({}), IsOk());
  EXPECT_EQ(tree.content("ws/a"), "0");
  EXPECT_THAT(store->verify()->damaged, testing::IsEmpty());
}

/// While nobody makes room, what is known is listed, and the words are true.
TEST_F(HistoryRetention, AFullStoreListsWhatItKnows) {
  const history::options how{.store_bytes_max = 40'000};
  write("a", "0");
  const auto store = begun(how);
  run(*store, "echo 1 > a");
  std::string failure, listed;
  // What does not fit behind a command may fit when it is listed, and the other way round.
  for (int i = 0; i < 100 && store->state().trouble.empty(); ++i) {
    auto recording = store->before_command("exec", "work");
    for (int each = 0; each < 20; ++each)
      write("a-rather-long-name-" + std::to_string(each), std::to_string(i));
    failure = recording.finish();
    listed = told(store->changes({}));
  }
  EXPECT_THAT(store->state().trouble, testing::HasSubstr("paddock history gc"));
  EXPECT_THAT(failure, testing::AnyOf("", store->state().trouble));
  EXPECT_THAT(listed, testing::HasSubstr("modified a by exec"));
}

/// How old the checkpoints of eight starts are, in days, and how many go at the ninth.
struct ages {
  const char* name;
  std::array<int, 8> days;
  std::size_t dropped;
};
void PrintTo(const ages& each, std::ostream* out) {
  *out << each.name;
}
class HistoryAge : public HistoryRetention, public testing::WithParamInterface<ages> {};

INSTANTIATE_TEST_SUITE_P(
    , HistoryAge,
    testing::Values(ages{"AllFresh", {7, 6, 5, 4, 3, 2, 1, 0}, 0},
                    ages{"TwoOld", {40, 35, 5, 4, 3, 2, 1, 0}, 2},
                    ages{"LongUnused", {47, 46, 45, 44, 43, 42, 41, 40}, 0},
                    // The clock is a year ahead, or was so at the last start.
                    ages{"AllBefore", {365, 365, 365, 365, 365, 365, 365, 365}, 0},
                    ages{"OneSince", {365, 365, 365, 365, 365, 365, 365, 0}, 4},
                    ages{"OneToCome", {7, 6, 5, 4, 3, 2, 1, -365}, 0}),
    [](const auto& each) { return each.param.name; });

TEST_P(HistoryAge, DropsCheckpoints) {
  write("a", "0");
  for (int i = 0; i < 8; ++i)
    run(*begun(), "echo " + std::to_string(i) + " > a");
  constexpr std::string_view magic = "paddock journal 1\n";
  const std::string journal = read(file("journal"));
  std::string aged(magic);
  std::size_t starts = 0;
  for (std::string_view left = std::string_view(journal).substr(magic.size()); !left.empty();) {
    const auto size = history::record_size(left.substr(0, history::record_head_size));
    ASSERT_TRUE(size);
    auto record = history::parse_record(left.substr(0, *size));
    ASSERT_TRUE(record);
    if (record->kind == history::record_kind::checkpoint)
      record->time_ms -= std::int64_t{GetParam().days.at(starts++)} * 24 * 3600 * 1000;
    aged += history::render(*record);
    left.remove_prefix(*size);
  }
  ASSERT_EQ(starts, 8u);
  put(file("journal"), aged);
  EXPECT_EQ(open()->checkpoints().size(), 9 - GetParam().dropped);
}

/// What made it long is known better by now: no checkpoint has to go.
TEST_F(HistoryRetention, ALongJournalIsWrittenAnewAndKeepsItsCheckpoints) {
  write("a", "0");
  for (int i = 0; i < 4; ++i)
    run(*begun(), "echo " + std::to_string(i) + " > a");
  history::journal_record seen{.kind = history::record_kind::seen}; // what is not there is not
  for (std::size_t i = 0; i < history::transitions_max; ++i)
    seen.transitions.push_back({.path = std::string(250, i % 2 == 0 ? 'x' : 'y')});
  const std::string bytes = history::render(seen);
  {
    std::ofstream out(file("journal"), std::ios::binary | std::ios::app);
    for (std::size_t size = 0; size < (std::size_t{65} << 20U); size += bytes.size())
      out << bytes;
  }
  const auto store = open();
  EXPECT_EQ(store->checkpoints().size(), 5u);
  EXPECT_LT(fs::file_size(file("journal")), 10'000u);
  EXPECT_EQ(told(store->changes({.since = store->checkpoints().front().number})),
            "modified a by exec; ");
}

/// A server of the agent's that fills the store makes nobody forget what was there before.
class AFullStoreForgets : public HistoryRetention {
protected:
  static constexpr const char* fill =
      "for i in $(seq 40); do head -c 30000 /dev/urandom > big$i; done";
  static constexpr std::uint64_t budget = 2'000'000;
};

TEST_F(AFullStoreForgets, NoStartOfAServerThatLives) {
  const history::options how{.store_bytes_max = budget, .checkpoints_max = 5};
  write("mine", "a person's");
  const auto store = begun(how);
  const std::uint64_t start = store->state().start;
  run(*store, "echo ruined > mine");
  for (int round = 0; round < 20; ++round) {
    auto recording = store->before_command("exec", "fill"); // which need not find room
    if (round % 10 == 0) shell(fill);
    (void)recording.finish();
    ASSERT_THAT(store->make_checkpoint(""), IsOk());
  }
  const auto second = begun(how);
  ASSERT_THAT(second->collect_garbage(), IsOk());
  ASSERT_THAT(store->collect_garbage(), IsOk());
  EXPECT_EQ(store->checkpoints().front().number, start);
  const auto back = store->restore({.to = start, .paths = {"mine"}});
  ASSERT_THAT(back, IsOk());
  for (const auto& each : back->conflicts)
    ADD_FAILURE() << each.path << ": " << each.reason;
  EXPECT_EQ(back->restored, 1u);
  EXPECT_EQ(tree.content("ws/mine"), "a person's");
  EXPECT_THAT(store->verify()->damaged, testing::IsEmpty());
}

/// The control: that of one that has ended goes.
TEST_F(AFullStoreForgets, TheStartOfOneThatHasEnded) {
  const history::options how{.checkpoints_max = 5};
  write("mine", "a person's");
  std::uint64_t start = 0;
  {
    const auto store = begun(how);
    start = store->state().start;
    for (int round = 0; round < 20; ++round)
      ASSERT_THAT(store->make_checkpoint(""), IsOk());
  }
  const auto second = begun(how);
  ASSERT_THAT(second->collect_garbage(), IsOk());
  EXPECT_GT(second->checkpoints().front().number, start);
}

TEST_F(AFullStoreForgets, TheAgentsOwnBeforeThatOfOthers) {
  const history::options how{.store_bytes_max = budget};
  const auto store = begun(how);
  const std::uint64_t start = store->state().start;
  for (int round = 0; round < 3; ++round) {
    auto recording = store->before_command("exec", "fill");
    shell(fill);
    (void)recording.finish();
  }
  // Nobody knows yet that there is no room.
  write("mine", "a person's " + std::string(20'000, 'x'));
  store->look();
  run(*store, "true");
  auto ruined = store->before_command("exec", "ruin");
  write("mine", "ruined");
  EXPECT_EQ(ruined.finish(), "");
  const auto back = store->restore({.to = start, .paths = {"mine"}});
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(tree.content("ws/mine"), "a person's " + std::string(20'000, 'x'));
  EXPECT_THAT(store->verify()->damaged, testing::IsEmpty());
}

} // namespace
