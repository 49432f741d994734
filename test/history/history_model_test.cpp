// SPDX-License-Identifier: MIT

// Random operations of tools, commands, a person and servers that are killed, against a model that
// keeps a whole copy of each step: what is told as changed is what differs, and by whom, and a
// restore brings the copy back. Seeds are fixed; PADDOCK_MODEL_SEQUENCES sets how many sequences
// there are.

#include "support/campaign.hpp"
#include "support/fault/kill_at.hpp"
#include "support/history/history_fixture.hpp"
#include "support/model/history_model.hpp"

#include <paddock/file/change_set.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace paddock;
using test::IsOk;
using test::lies_in;
using test::model_copy;

namespace {

namespace fs = std::filesystem;

enum class who : unsigned char { tool, command, server, person };
/// Rules that are wrong on purpose: the comparison has to find each of them.
enum class wrong : unsigned char { nothing, mode, link, bytes, deletion, author };

struct step {
  who by = who::tool;
  model_copy after;
  std::set<std::string> touched; ///< directories that may have new times
};
struct point {
  std::uint64_t number = 0;
  std::size_t step = 0; ///< the copy that it is of
};

class HistoryModel : public test::history_fixture {
protected:
  /// Differences, in words; empty: the store did what the model says.
  std::string run_sequence(unsigned seed, wrong rule = wrong::nothing) {
    random_.seed(seed);
    model_ = {};
    said_.clear();
    told_.clear();
    fs::remove_all(workspace());
    fs::remove_all(state_directory());
    tree.directory("ws");
    tree.directory("state");
    (void)::chmod(state_directory().c_str(), 0700);
    auto opened = root::open(workspace());
    if (!opened) return "no workspace";
    root_.emplace(*std::move(opened));
    for (int i = 0; i < 6; ++i)
      by_plain_calls();
    steps_ = {{who::person, model_.now, {}}};
    touched_.clear();
    const auto store = begun({.watches_max = seed % 2 == 0 ? 0 : watches_max_});
    if (!store) return "no store";
    points_ = {{store->state().start, 0}};
    for (int round = 0; round < 24 && told_.empty(); ++round)
      do_something(*store, rule);
    return told_.empty() ? "" : said_ + told_;
  }
  [[nodiscard]] long restores() const { return restores_; }
  [[nodiscard]] long changes() const { return changes_; }
  [[nodiscard]] long kills() const { return kills_; }

private:
  unsigned below(unsigned bound) {
    return std::uniform_int_distribution<unsigned>(0, bound - 1)(random_);
  }
  std::string path() {
    static const std::array<std::string, 6> names{"a", "b", "c", "d e", "new\nline", "\xFF"};
    std::string out = names.at(below(names.size()));
    for (unsigned depth = below(3); depth > 0; --depth)
      out += '/' + names.at(below(names.size()));
    return out;
  }
  /// Mostly one that there is.
  std::string known_path() {
    if (model_.now.empty() || below(5) == 0) return path();
    return std::next(model_.now.begin(), below(static_cast<unsigned>(model_.now.size())))->first;
  }
  std::string bytes() { return std::string(below(4), 'a') + std::to_string(below(50)); }
  [[nodiscard]] std::string real(const std::string& name) const { return workspace() + '/' + name; }
  /// Both must have done it, or neither.
  void compare(const std::string& what, bool expected, bool done) {
    said_ += what + (expected ? "\n" : " (refused)\n");
    if (expected != done) told_ += what + (done ? " was done\n" : " was refused\n");
  }

  void do_something(history::store& store, wrong rule) {
    switch (below(11)) {
    case 0:
    case 1:
    case 2:
    case 3:
      by_tool(store);
      took(who::tool);
      break;
    case 4:
    case 5:
      by_command(store);
      break;
    case 6:
      by_plain_calls();
      took(who::person);
      break;
    case 7:
      if (const auto made = store.make_checkpoint("point")) {
        points_.push_back({made->number, steps_.size() - 1});
        said_ += "checkpoint " + std::to_string(made->number) + '\n';
      } else
        told_ += "no checkpoint\n";
      break;
    case 8:
      compare_changes(store, rule);
      break;
    case 9:
      by_killed_server();
      store.look(); // what changes until then is put down to a command that was cut short
      break;
    default:
      restore(store, rule);
      break;
    }
    if (const auto really = test::copy_of(workspace()); really != model_.now)
      told_ += "the workspace:\n" + test::difference(model_.now, really);
  }
  void took(who by) { steps_.push_back({by, model_.now, std::exchange(touched_, {})}); }
  void touch(const std::string& path) { touched_.insert(test::above(path)); }

  void by_command(history::store& store) {
    said_ += "command:\n";
    auto recording = store.before_command("exec", "work");
    for (unsigned left = 1 + below(5); left > 0; --left)
      by_plain_calls();
    if (const auto lost = recording.finish(history::command_reach::workspace); !lost.empty())
      told_ += lost;
    took(who::command);
  }

  /// Another server on the same workspace, which is killed at a moment of its work: calls, one of
  /// which goes on writing beside the others, and then a command.
  void by_killed_server() {
    std::vector<std::string> paths;
    while (paths.size() < 2 + below(5))
      if (std::string at = path(); !model_.is(at, 'l')) paths.push_back(std::move(at));
    const std::size_t boundary = 1 + below(2'000);
    const auto work = [&] {
      const auto own = open({.threads_max = 1});
      if (!own) return false;
      std::atomic<bool> has_begun = false, is_over = false;
      std::thread beside([&] {
        const std::vector<std::string> one{paths.back()};
        auto recording = own->before_tool("work", one);
        for (unsigned i = 0; i == 0 || !is_over; ++i) {
          (void)write_file(*root_, one.front(), "the server's " + std::to_string(i));
          has_begun = true;
        }
        (void)recording.finish();
      });
      while (!has_begun)
        std::this_thread::yield();
      for (std::size_t i = 0; i + 1 < paths.size(); ++i) {
        const std::vector<std::string> one{paths[i]};
        auto recording = own->before_tool("work", one);
        (void)write_file(*root_, one.front(), "by another server");
        (void)recording.finish();
      }
      is_over = true;
      beside.join();
      auto recording = own->before_command("exec", "work");
      std::ofstream(real(paths.front()), std::ios::binary) << "by its command";
      (void)recording.finish();
      return true;
    };
    std::size_t stops = 0;
    if (test::run_until(work, boundary, stops) == test::ending::untraceable) return;
    said_ += "a server was killed at " + std::to_string(stops) + '\n';
    model_.now = test::copy_of(workspace());
    for (const auto& [at, each] : model_.now)
      if (each.kind == 'd') touched_.insert(at);
    took(who::server);
    ++kills_;
  }

  void by_tool(history::store& store) {
    const std::string at = known_path(), other = path(), text = bytes();
    touch(at), touch(other);
    const unsigned what = below(6);
    const std::vector<std::string> paths =
        what == 3 ? std::vector{at, other} : std::vector{what == 0 && below(2) == 0 ? other : at};
    const std::string& first = paths.front();
    auto recording = store.before_tool("work", paths);
    if (what == 0) {
      if (model_.is(first, 'l')) return; // it would be followed
      compare("write " + first, model_.write(first, text), !!write_file(*root_, first, text));
    } else if (what == 1) {
      if (model_.is(at, 'l')) return;
      compare("append " + at, model_.append(at, text), !!append_file(*root_, at, text));
    } else if (what == 2) {
      if (model_.is(at, 'l')) return;
      compare("edit " + at, model_.edit(at, 'a', text),
              !!edit_file(*root_, at, {.old_text = "a", .new_text = text}));
    } else if (what == 3) {
      compare("move " + at + " to " + other, model_.move(at, other),
              !!move_entry(*root_, at, other));
    } else if (what == 4) {
      const bool is_directory = model_.is(at, 'd');
      const bool expected = model_.remove(at);
      compare("remove " + at, expected,
              is_directory ? !!remove_directory(*root_, at, {.recursive = recursion::yes})
                           : !!remove_file(*root_, at));
    } else {
      recording.finish();
      by_change_set(store);
    }
    if (const auto lost = recording.finish(); !lost.empty()) told_ += lost;
  }

  /// Up to three changes of files that are there: all or none.
  void by_change_set(history::store& store) {
    std::vector<file_change> all;
    std::vector<std::string> paths;
    auto planned = model_;
    for (unsigned left = 1 + below(3); left > 0; --left) {
      const std::string at = known_path(), fresh = path(), text = bytes();
      touch(at), touch(fresh);
      const bool is_met = std::ranges::any_of(paths, [&](const std::string& each) {
        return lies_in(each, at) || lies_in(at, each) || lies_in(each, fresh) ||
               lies_in(fresh, each);
      });
      if (is_met || !planned.is(at, 'f') || lies_in(fresh, at)) continue;
      if (below(2) == 0 && !planned.now.contains(fresh)) {
        auto tried = planned;
        if (!tried.move(at, fresh)) continue;
        planned = tried;
        all.push_back({.action = change_action::move, .path = fresh, .from = at});
        paths.push_back(fresh);
      } else if (below(2) == 0) {
        planned.write(at, text);
        all.push_back({.action = change_action::replace, .path = at, .bytes = text});
      } else {
        planned.remove(at);
        all.push_back({.action = change_action::remove, .path = at});
      }
      paths.push_back(at);
    }
    if (all.empty()) return;
    const bool is_refused = below(4) == 0;
    if (is_refused)
      all.push_back({.action = change_action::remove, .path = "not/there"});
    else
      model_ = planned;
    auto recording = store.before_tool("applyChanges", paths);
    compare("changes of " + paths.front() + " and " + std::to_string(all.size() - 1) + " more",
            !is_refused, !!apply_changes(*root_, all));
    if (const auto lost = recording.finish(); !lost.empty()) told_ += lost;
  }

  /// One change as a command or a person makes it.
  void by_plain_calls() {
    const std::string at = known_path(), other = path(), text = bytes();
    touch(at), touch(other);
    std::error_code failed;
    switch (below(7)) {
    case 0:
    case 1:
      if (model_.is(other, 'l') || !model_.write(other, text)) return;
      fs::create_directories(fs::path(real(other)).parent_path(), failed);
      said_ += "  wrote " + other + write_somehow(real(other), text);
      break;
    case 2:
      if (!model_.make_directory(other)) return;
      fs::create_directories(real(other), failed);
      said_ += "  made " + other + '\n';
      break;
    case 3:
      if (!model_.link(other, text)) return;
      fs::create_directories(fs::path(real(other)).parent_path(), failed);
      fs::create_symlink(text, real(other), failed);
      said_ += "  linked " + other + '\n';
      break;
    case 4:
      if (!model_.remove(at)) return;
      fs::remove_all(real(at), failed);
      said_ += "  removed " + at + '\n';
      break;
    case 5:
      if (!model_.move(at, other)) return;
      fs::create_directories(fs::path(real(other)).parent_path(), failed);
      fs::rename(real(at), real(other), failed);
      said_ += "  moved " + at + " to " + other + '\n';
      break;
    default:
      const unsigned mode = 0700 | below(0100);
      if (!model_.change_mode(at, mode)) return;
      (void)::chmod(real(at).c_str(), mode);
      said_ += "  changed the mode of " + at + '\n';
      break;
    }
  }

  /// Says how.
  std::string write_somehow(const std::string& file, const std::string& text) {
    const std::string beside = real("beside");
    std::error_code absent;
    const bool is_there = fs::exists(file, absent);
    switch (is_there ? below(5) : 0) {
    case 1: {
      const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
      EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(text.size())), 0);
      void* const at = ::mmap(nullptr, text.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      ::close(fd);
      std::ranges::copy(text, static_cast<char*>(at));
      ::munmap(at, text.size());
      return " through a mapping\n";
    }
    case 2:
      fs::create_hard_link(file, beside);
      std::ofstream(beside, std::ios::binary) << text;
      fs::remove(beside);
      return " by a second name\n";
    case 3:
      fs::create_directory(beside);
      fs::create_hard_link(file, beside + "/second");
      std::ofstream(beside + "/second", std::ios::binary) << text;
      fs::remove_all(beside);
      return " by a second name in a new directory\n";
    case 4:
      fs::copy_file(file, beside);
      std::ofstream(beside, std::ios::binary) << text;
      fs::rename(beside, file);
      return " as a new file in its place\n";
    default:
      std::ofstream(file, std::ios::binary) << text;
      return "\n";
    }
  }

  /// What the copies say of each path: by whom it was changed since, and what it was before.
  struct authors {
    bool by_agent = false, by_server = false, by_person = false;
  };
  [[nodiscard]] std::map<std::string, authors> authors_since(std::size_t first) const {
    std::map<std::string, authors> all;
    for (std::size_t i = first + 1; i < steps_.size(); ++i) {
      const model_copy &before = steps_[i - 1].after, &after = steps_[i].after;
      const auto mark = [&](const std::string& path) {
        authors& of = all[path];
        (steps_[i].by == who::person   ? of.by_person
         : steps_[i].by == who::server ? of.by_server
                                       : of.by_agent) = true;
      };
      for (const auto& path : test::paths_of(before, after)) {
        const std::string kind = test::kind_of_change(before, after, path);
        if (!kind.empty()) mark(path);
        if (!kind.empty()) mark(test::above(path));
      }
      for (const auto& path : steps_[i].touched)
        mark(path);
    }
    return all;
  }

  void compare_changes(history::store& store, wrong rule) {
    const point since = points_.at(below(static_cast<unsigned>(points_.size())));
    said_ += "changes since " + std::to_string(since.number) + '\n';
    const auto list = store.changes({.since = since.number, .limit = 100'000, .collapse = false});
    if (!list) {
      told_ += "no changes\n";
      return;
    }
    ++changes_;
    const model_copy before = with(steps_[since.step].after, rule), after = model_.now;
    const auto changed_by = authors_since(since.step);
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
      if (author != changed_by.end() && author->second.by_agent &&
          (author->second.by_server || author->second.by_person))
        continue;
      const std::string wanted = test::kind_of_change(before, after, path);
      const auto found = kinds.find(path);
      if (found != kinds.end() ? wanted != found->second : !wanted.empty())
        told_ += path + " is " + (wanted.empty() ? "as it was" : wanted) + ", told as " +
                 (found == kinds.end() ? "nothing" : found->second) + '\n';
    }
    for (const history::change& each : list->changes)
      compare_author(each, changed_by, rule);
    if (!told_.empty()) told_ += told(list) + '\n';
  }
  /// Directories have new times by whoever works in them.
  void compare_author(const history::change& each, const std::map<std::string, authors>& changed_by,
                      wrong rule) {
    const auto author = changed_by.find(each.path);
    if (author == changed_by.end()) return;
    const bool is_agents = author->second.by_agent || author->second.by_server;
    if (is_agents == author->second.by_person) return;
    if (each.kind == history::change_kind::moved || each.entry == entry_kind::directory) return;
    const bool is_persons = author->second.by_person != (rule == wrong::author);
    if (is_persons != (each.by == history::author::other))
      told_ += each.path + " is by " + std::string(history::name_of(each.by)) + '\n';
  }

  void restore(history::store& store, wrong rule) {
    const point to = points_.at(below(static_cast<unsigned>(points_.size())));
    said_ += "restore to " + std::to_string(to.number) + '\n';
    // What is the agent's alone needs no force.
    const bool is_agents =
        std::none_of(steps_.begin() + static_cast<std::ptrdiff_t>(to.step) + 1, steps_.end(),
                     [](const step& each) { return each.by >= who::server; });
    history::restore_request request{.to = to.number};
    if (!is_agents || below(2) == 0) {
      request.paths = {""};
      request.force = true;
    }
    const auto back = store.restore(request);
    for (const auto& each : back ? back->conflicts : std::vector<history::restore_conflict>())
      told_ += "conflict: " + each.path + ' ' + each.reason + '\n';
    if (!back) {
      told_ += "no restore: " + explain(back.error()) + '\n';
      return;
    }
    ++restores_;
    const model_copy before = model_.now;
    model_.now = steps_[to.step].after;
    expect(model_.now, rule);
    if (back->before == 0 || !told_.empty()) return;
    if (below(2) == 0) { // and forward again
      said_ += "and forward to " + std::to_string(back->before) + '\n';
      const auto forward = store.restore({.to = back->before, .paths = {""}, .force = true});
      if (!forward) told_ += "not forward: " + explain(forward.error()) + '\n';
      expect(before, rule);
      took(who::tool); // there, and back: with force it is the agent's, whoever made it
      model_.now = before;
      took(who::tool);
      return;
    }
    points_.push_back({back->before, steps_.size() - 1});
    took(who::tool);
  }
  void expect(const model_copy& wanted, wrong rule) {
    const auto found = test::copy_of(workspace());
    if (const auto meant = with(wanted, rule); found != meant)
      told_ += "restored:\n" + test::difference(meant, found);
  }

  static model_copy with(model_copy copy, wrong rule) {
    const auto first = [&](char kind) {
      return std::ranges::find_if(copy, [&](const auto& e) { return e.second.kind == kind; });
    };
    const auto file = first('f'), link = first('l');
    if (rule == wrong::mode && file != copy.end()) file->second.mode ^= 1U;
    if (rule == wrong::bytes && file != copy.end()) file->second.bytes += 'x';
    if (rule == wrong::link && link != copy.end()) link->second.bytes += 'x';
    if (rule == wrong::deletion && file != copy.end()) copy.erase(file);
    return copy;
  }

  const std::size_t watches_max_ = history::options{}.watches_max; ///< every other sequence scans
  std::mt19937 random_;
  test::history_model model_;
  std::optional<root> root_;
  std::vector<step> steps_;
  std::vector<point> points_;
  std::set<std::string> touched_;
  std::string said_, told_;
  long restores_ = 0, changes_ = 0, kills_ = 0;
};

TEST_F(HistoryModel, TheStoreDoesWhatTheModelSays) {
  const auto sequences = static_cast<unsigned>(test::campaign_size("PADDOCK_MODEL_SEQUENCES", 60));
  for (unsigned seed = 1; seed <= sequences; ++seed)
    ASSERT_EQ(run_sequence(seed), "") << "sequence " << seed;
  std::printf("[ model    ] %u sequences, %ld lists of changes, %ld restores, %ld kills\n",
              sequences, changes(), restores(), kills());
  EXPECT_GT(restores(), sequences / 2);
  EXPECT_GT(changes(), sequences / 2);
}

class WrongHistoryModel : public HistoryModel, public testing::WithParamInterface<wrong> {};

INSTANTIATE_TEST_SUITE_P(Every, WrongHistoryModel,
                         testing::Values(wrong::mode, wrong::link, wrong::bytes, wrong::deletion,
                                         wrong::author));

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
