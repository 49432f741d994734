// SPDX-License-Identifier: MIT

// The power fails behind every change that a history makes to the file system, in its store and in
// the workspace. Whatever part of the rest the disk keeps: the store opens, a checkpoint that was
// answered is there with all its contents, nothing else is given for what was held, and a restore
// is as if it had not begun or is carried to its end.
//
// PADDOCK_POWER_CUT_STATES is how many states of the disk are tried for each cut.

#include "support/campaign.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/fault/power_cut.hpp"
#include "support/history/history_fixture.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>

using namespace paddock;
using test::disk;
using test::IsOk;
using test::picture;

namespace {

namespace fs = std::filesystem;

const write_options full{.durability = durability::full};

/// Something that was answered, and behind which change of the file system.
struct moment {
  std::size_t at = 0;
  std::string label; ///< of a checkpoint
  picture workspace;
};

class HistoryPowerCut : public test::history_fixture {
protected:
  HistoryPowerCut() {
    write("a", "one");
    write("b", "two");
    write("d/f", "three");
    write("g/h/i", "four");
    shell("ln -s b l; mkdir empty; chmod 700 d; chmod 600 b; touch -d 2001-02-03 a b d");
    (void)::stat(tree.path().c_str(), &top_);
  }

  /// Other than the fixture's, the directory of the stores may lie deeper.
  [[nodiscard]] std::shared_ptr<history::store>
  open(history::options how, history::session by = history::session::serve) const {
    how.directory = state_directory() + directory_;
    auto where = root::open(workspace());
    EXPECT_THAT(where, IsOk());
    auto made = history::store::open(std::make_shared<const root>(*std::move(where)), how, by);
    EXPECT_THAT(made, IsOk());
    return made ? *made : nullptr;
  }
  [[nodiscard]] std::shared_ptr<history::store> begun() const {
    auto made = open(plain());
    EXPECT_TRUE(made && made->read_in());
    return made;
  }
  static history::options plain() { return {.threads_max = 1}; }
  [[nodiscard]] picture workspace_now() const {
    picture all = test::picture_of(tree, "ws");
    test::take_leftovers(all);
    return all;
  }

  /// Does the work, and takes down what it changes.
  void record(const std::function<void()>& work) {
    disk_.emplace(tree.path());
    auto opened = root::open(workspace());
    ASSERT_THAT(opened, IsOk());
    workspace_.emplace(*std::move(opened));
    const test::injection without_waiting_for_disks({});
    test::recording recorder(top_.st_dev);
    recorder_ = &recorder;
    work();
    recorder_ = nullptr;
    disk_->take_down(std::move(recorder.changes));
    for (moment& each : moments_)
      each.at = disk_->changes_of(each.at);
  }
  /// What is there now was answered.
  void note(std::string label = {}) {
    moments_.push_back({recorder_->changes.size(), std::move(label), workspace_now()});
  }
  void note_checkpoint(history::store& in, const std::string& label) {
    const auto made = in.make_checkpoint(label);
    ASSERT_THAT(made, IsOk());
    note(label);
  }
  [[nodiscard]] const root& here() const { return *workspace_; }

  /// How much a disk that was cut keeps, in every way: `judge` sees the store on it.
  void cut_everywhere(const std::function<void(history::store&, std::size_t at)>& judge) {
    const auto most = test::campaign_size("PADDOCK_POWER_CUT_STATES", 24);
    std::set<picture> seen; // many fates come to the same
    for (std::size_t at = recorded() + 1; at-- > 0 && !HasFailure();)
      disk_->after_power_cut(
          at,
          [&](const picture& found, const test::identities& more) {
            if (HasFailure() || !seen.insert(found).second) return;
            put_back(found, more);
            has_intent_ = std::ranges::any_of(
                found, [](const auto& each) { return each.first.ends_with("/intent"); });
            const test::injection as_it_was(
                {.inode_told = [&](std::uint64_t inode) { return told(inode); }});
            const auto store = open(plain(), history::session::look);
            if (store) judge(*store, at);
            if (HasFailure()) tell(at, found);
          },
          {.states_max = most, .samples_max = most / 2});
    std::cout << "changes: " << recorded() << ", states of the disk: " << seen.size() << '\n';
    EXPECT_GT(seen.size(), recorded());
  }
  [[nodiscard]] std::size_t recorded() const { return disk_->changes(); }

  /// Every checkpoint that was answered before that is there, with all that it held; of any other
  /// nothing wrong is said, as far as nothing is said to be lost.
  void expect_checkpoints(history::store& in, std::size_t at) {
    const auto listed = in.checkpoints();
    const auto checked = in.verify();
    ASSERT_THAT(checked, IsOk());
    const bool is_whole = checked->damaged.empty() && in.state().trouble.empty();
    whole_ += is_whole ? 1U : 0U;
    damaged_ += is_whole ? 0U : 1U;
    for (const moment& each : moments_) {
      if (each.label.empty()) continue;
      const auto found = std::ranges::find(listed, each.label, &history::checkpoint::label);
      if (found == listed.end()) {
        EXPECT_GT(each.at, at) << each.label << " was answered and is gone";
        ++unanswered_;
        continue;
      }
      if (each.at <= at || is_whole) expect_held(in, *found, each.workspace);
      if (is_whole) expect_no_more(in, *found, each.workspace);
    }
  }

  std::size_t whole_ = 0, damaged_ = 0, unanswered_ = 0;
  std::vector<moment> moments_;
  std::string directory_;
  bool has_intent_ = false; ///< that the store is found with

private:
  void expect_held(history::store& in, const history::checkpoint& point, const picture& wanted) {
    for (const auto& [path, what] : wanted) {
      const auto state = in.state_at(point.number, path);
      ASSERT_THAT(state, IsOk()) << path;
      EXPECT_TRUE(state->exists) << path << " at " << point.label;
      std::string held = std::to_string(state->mode & 07777U) + ' ';
      if (state->kind == entry_kind::directory) held += "directory";
      if (state->kind == entry_kind::symlink) held += "link " + state->link_target;
      if (state->kind == entry_kind::file) {
        const auto bytes = in.bytes_at(point.number, path);
        ASSERT_THAT(bytes, IsOk()) << path << " at " << point.label;
        held += "file " + bytes->value_or("(not held)");
      }
      EXPECT_EQ(held, what) << path << " at " << point.label;
    }
  }
  /// After damage nobody can say since when the other entries are there.
  void expect_no_more(history::store& in, const history::checkpoint& point, const picture& wanted) {
    for (const auto& [path, what] : workspace_now())
      if (!wanted.contains(path)) {
        const auto state = in.state_at(point.number, path);
        EXPECT_TRUE(state && !state->exists) << path << " at " << point.label;
      }
  }

  /// Puts a picture where it was found. New files have new inode numbers; a status says the old.
  void put_back(const picture& found, const test::identities& more) {
    for (const char* top : {"ws", "state"})
      for (const auto& entry : fs::directory_iterator(tree / top))
        fs::remove_all(entry.path());
    inodes_.clear();
    std::map<std::uint64_t, std::string> named;
    for (const auto& [path, what] : found) {
      const std::uint64_t inode = more.at(path).inode;
      const std::string rest = what.substr(what.find(' ') + 1);
      const auto [first, is_first] = named.try_emplace(inode, path);
      if (!is_first && rest != "directory") {
        fs::create_hard_link(tree / first->second, tree / path);
      } else if (rest == "directory") {
        fs::create_directory(tree / path);
      } else if (rest.starts_with("link ")) {
        fs::create_symlink(rest.substr(5), tree / path);
      } else {
        tree.file(path, rest.substr(5));
      }
      struct stat s{};
      ASSERT_EQ(0, ::lstat((tree / path).c_str(), &s));
      inodes_[s.st_ino] = inode;
    }
    for (auto each = found.rbegin(); each != found.rend(); ++each) {
      const auto& [path, what] = *each;
      const bool is_link = what.find(" link ") != std::string::npos;
      if (!is_link) {
        ASSERT_EQ(0, ::chmod((tree / path).c_str(), mode_of(what)));
      }
      constexpr std::uint64_t second = 1'000'000'000;
      const std::uint64_t ns = more.at(path).modified_ns;
      const timespec when{.tv_sec = static_cast<time_t>(ns / second),
                          .tv_nsec = static_cast<long>(ns % second)};
      const std::array<timespec, 2> times{when, when};
      ::utimensat(AT_FDCWD, (tree / path).c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
    }
  }
  static mode_t mode_of(const std::string& what) { return static_cast<mode_t>(std::stoul(what)); }
  [[nodiscard]] std::uint64_t told(std::uint64_t inode) const {
    constexpr std::uint64_t of_others = std::uint64_t{1} << 40U;
    const auto found = inodes_.find(inode);
    return found != inodes_.end() ? found->second : inode + of_others;
  }
  void tell(std::size_t at, const picture& found) const {
    std::cout << "behind change " << at << " of " << recorded() << ":\n";
    for (const auto& [path, what] : found)
      std::cout << "  " << path << ' ' << what.substr(0, 60) << " (" << what.size() << ")\n";
  }

  struct stat top_{};
  std::optional<disk> disk_;
  std::optional<root> workspace_;
  test::recording* recorder_ = nullptr;
  std::map<std::uint64_t, std::uint64_t> inodes_;
};

TEST_F(HistoryPowerCut, OfTheFirstStart) {
  directory_ = "/made/on/the/way";
  record([&] {
    const auto store = begun();
    note_checkpoint(*store, "one");
  });
  cut_everywhere([&](history::store& in, std::size_t at) { expect_checkpoints(in, at); });
  EXPECT_GT(whole_, 0U);
  EXPECT_GT(unanswered_, 0U);
}

TEST_F(HistoryPowerCut, OfRecordingsAndCheckpoints) {
  (void)begun();
  record([&] {
    const auto store = open(plain());
    const std::vector<std::string> paths{"a", "n/m"};
    auto tool = store->before_tool("writeTextFile", paths);
    EXPECT_THAT(write_file(here(), "a", "another", full), IsOk());
    EXPECT_THAT(write_file(here(), "n/m", "new", full), IsOk());
    EXPECT_EQ(tool.finish(), "");
    note_checkpoint(*store, "one");
    auto command = store->before_command("exec", "change");
    EXPECT_THAT(remove_file(here(), "b"), IsOk());
    EXPECT_THAT(write_file(here(), "d/f", "by a command", full), IsOk());
    EXPECT_THAT(move_entry(here(), "g/h", "gh", {.durability = durability::full}), IsOk());
    EXPECT_EQ(command.finish(), "");
    note_checkpoint(*store, "two");
  });
  cut_everywhere([&](history::store& in, std::size_t at) { expect_checkpoints(in, at); });
  EXPECT_GT(whole_, 0U);
  EXPECT_GT(damaged_, 0U); // the control: some was lost, and was told
  EXPECT_GT(unanswered_, 0U);
}

TEST_F(HistoryPowerCut, OfGarbageCollection) {
  {
    const auto store = begun();
    for (const char* label : {"one", "two", "three", "four"}) {
      run(*store, "head -c 50000 /dev/urandom | od > large; echo " + std::string(label) + " > a");
      ASSERT_THAT(store->make_checkpoint(label), IsOk());
      moments_.push_back({0, label, workspace_now()});
    }
  }
  moments_.erase(moments_.begin(), moments_.begin() + 2);
  record([&] {
    auto how = plain();
    how.checkpoints_max = 3; // the start that is made now, and two
    const auto store = open(how);
    EXPECT_EQ(store->checkpoints().size(), 3U);
    EXPECT_THAT(store->collect_garbage(), IsOk());
    note();
  });
  cut_everywhere([&](history::store& in, std::size_t at) { expect_checkpoints(in, at); });
  EXPECT_GT(whole_, 0U);
}

/// Of a restore that is cut the workspace is as before it or as after it, and after it at the
/// latest when it was answered.
class HistoryPowerCutRestore : public HistoryPowerCut {
protected:
  void expect_restored_whole(const std::string& change) {
    std::uint64_t point = 0;
    {
      const auto store = begun();
      const auto made = store->make_checkpoint("one");
      ASSERT_THAT(made, IsOk());
      point = made->number;
      moments_.push_back({0, "one", workspace_now()});
      run(*store, change);
    }
    const picture before = workspace_now(), after = moments_.front().workspace;
    ASSERT_NE(before, after);
    record([&] {
      const auto store = open(plain());
      (void)restored(*store, {.to = point});
      note();
    });
    ASSERT_EQ(workspace_now(), after);
    std::size_t old = 0, restored = 0;
    cut_everywhere([&](history::store& in, std::size_t at) {
      (void)in.checkpoints(); // the first look carries on what was cut short
      const picture found = workspace_now();
      EXPECT_TRUE(found == after || (found == before && at < moments_.back().at))
          << test::describe_entries(workspace());
      (found == after ? restored : old) += 1;
      expect_checkpoints(in, at);
    });
    EXPECT_GT(old, 0U);
    EXPECT_GT(restored, 0U);
  }
};

TEST_F(HistoryPowerCutRestore, OfFiles) {
  expect_restored_whole("echo more >> a; rm b; mkdir new; echo n > new/n; chmod 755 d; "
                        "ln -sfn a l; rmdir empty; chmod 755 g/h/i; touch -d 2002-02-02 d/f");
}
TEST_F(HistoryPowerCutRestore, OfWhatWasMoved) {
  expect_restored_whole("mv g moved; mv d/f empty/f; echo 5 > moved/h/more");
}

/// What somebody does after a restore was answered is not taken back by it.
TEST_F(HistoryPowerCut, ARestoreThatHasEndedDoesNotHappenAgain) {
  {
    const auto store = begun();
    run(*store, "rm a b");
  }
  record([&] {
    const auto store = open(plain());
    const auto first = store->checkpoints().front().number;
    EXPECT_THAT(store->restore({.to = first}), IsOk());
    EXPECT_THAT(remove_file(here(), "a"), IsOk());
    EXPECT_THAT(write_file(here(), "other", "o", full), IsOk()); // the directory is on the disk
    note();
  });
  std::size_t under_way = 0;
  cut_everywhere([&](history::store& in, std::size_t at) {
    under_way += has_intent_ ? 1U : 0U;
    if (at < moments_.back().at) return;
    (void)in.checkpoints();
    EXPECT_FALSE(tree.exists("ws/a"));
  });
  EXPECT_GT(under_way, 0U); // the control
}

} // namespace
