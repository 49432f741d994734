// SPDX-License-Identifier: MIT
#pragma once

// One random change in a workspace, by a tool or by plain calls, and the same in the model.

#include "support/history/history_fixture.hpp"
#include "support/model/history_ledger.hpp"

#include <paddock/file/change_set.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>

#include <sys/mman.h>

#include <system_error>

namespace paddock::test {

class history_work : public history_fixture {
protected:
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
    std::vector<std::string> all;
    for (const auto& [path, each] : model_.now)
      if (!is_reserved(path)) all.push_back(path);
    if (all.empty() || below(5) == 0) return path();
    return all[below(static_cast<unsigned>(all.size()))];
  }
  std::string bytes() { return std::string(below(4), 'a') + std::to_string(below(50)); }
  [[nodiscard]] std::string real(const std::string& name) const { return workspace() + '/' + name; }
  /// Both must have done it, or neither.
  void compare(const std::string& what, bool expected, bool done) {
    said_ += what + (expected ? "\n" : " (refused)\n");
    if (expected != done) told_ += what + (done ? " was done\n" : " was refused\n");
  }
  /// Directories have new times, also where what was made in them is taken away again.
  void touch(const std::string& path) {
    for (std::string at = above(path); touched_.insert(at).second && !at.empty();)
      at = above(at);
  }
  void rewrite(const std::string& path) { touched_.insert(path); }

  /// Under names that the fence keeps agents from: a person, or what runs with all rights.
  void by_plain_calls_of_rules(who by) {
    const bool is_hidden = by == who::person && below(4) == 0;
    const std::string& name =
        is_hidden ? hidden_name : read_only_names.at(below(read_only_names.size()));
    if (below(3) == 0 && model_.remove(name)) {
      std::filesystem::remove(real(name));
      said_ += "  removed " + name + '\n';
      return;
    }
    const std::string text = "content " + std::to_string(ledger_.contents.size());
    ledger_.contents[text] = by != who::person;
    model_.write(name, text);
    tree.file("ws/" + name, text);
    said_ += "  wrote " + name + ": " + text + '\n';
  }

  void by_tool(history::store& store) {
    const std::string at = known_path(), other = path(), text = bytes();
    touch(at), touch(other);
    const unsigned what = below(7);
    if (what == 6) return by_refused_tool(store);
    const std::vector<std::string> paths =
        what == 3 ? std::vector{at, other} : std::vector{what == 0 && below(2) == 0 ? other : at};
    const std::string& first = paths.front();
    auto recording = store.before_tool("work", paths);
    if (what == 0) {
      if (model_.is(first, 'l')) return; // it would be followed
      rewrite(first);
      compare("write " + first, model_.write(first, text), !!write_file(*root_, first, text));
    } else if (what == 1) {
      if (model_.is(at, 'l')) return;
      rewrite(at);
      compare("append " + at, model_.append(at, text), !!append_file(*root_, at, text));
    } else if (what == 2) {
      if (model_.is(at, 'l')) return;
      rewrite(at);
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

  void by_refused_tool(history::store& store) {
    const std::string& name =
        below(4) == 0 ? hidden_name : read_only_names.at(below(read_only_names.size()));
    const std::vector<std::string> one{name};
    auto recording = store.before_tool("work", one);
    compare("write " + name, false, !!write_file(*root_, name, "a tool's"));
    if (below(2) == 0) compare("remove " + name, false, !!remove_file(*root_, name));
    told_ += recording.finish();
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
        rewrite(at);
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
      std::filesystem::create_directories(std::filesystem::path(real(other)).parent_path(), failed);
      rewrite(other);
      said_ += "  wrote " + other + write_somehow(real(other), text);
      break;
    case 2:
      if (!model_.make_directory(other)) return;
      std::filesystem::create_directories(real(other), failed);
      said_ += "  made " + other + '\n';
      break;
    case 3:
      if (!model_.link(other, text)) return;
      std::filesystem::create_directories(std::filesystem::path(real(other)).parent_path(), failed);
      std::filesystem::create_symlink(text, real(other), failed);
      said_ += "  linked " + other + '\n';
      break;
    case 4:
      if (!model_.remove(at)) return;
      std::filesystem::remove_all(real(at), failed);
      said_ += "  removed " + at + '\n';
      break;
    case 5:
      if (!model_.move(at, other)) return;
      std::filesystem::create_directories(std::filesystem::path(real(other)).parent_path(), failed);
      std::filesystem::rename(real(at), real(other), failed);
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
    const bool is_there = std::filesystem::exists(file, absent);
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
      has_linked_ = true;
      std::filesystem::create_hard_link(file, beside);
      std::ofstream(beside, std::ios::binary) << text;
      std::filesystem::remove(beside);
      return " by a second name\n";
    case 3:
      has_linked_ = true;
      std::filesystem::create_directory(beside);
      std::filesystem::create_hard_link(file, beside + "/second");
      std::ofstream(beside + "/second", std::ios::binary) << text;
      std::filesystem::remove_all(beside);
      return " by a second name in a new directory\n";
    case 4:
      std::filesystem::copy_file(file, beside);
      std::ofstream(beside, std::ios::binary) << text;
      std::filesystem::rename(beside, file);
      return " as a new file in its place\n";
    default:
      std::ofstream(file, std::ios::binary) << text;
      return "\n";
    }
  }

  std::optional<root> root_;
  std::mt19937 random_;
  history_model model_;
  history_ledger ledger_;
  std::set<std::string> touched_; ///< what may have new times
  bool has_linked_ = false;
  std::string said_, told_;
};

} // namespace paddock::test
