// SPDX-License-Identifier: MIT
#pragma once

// Random work in a workspace: by tools, commands and processes of two servers, by a person, and by
// servers that are killed; each as a step of the ledger.

#include "history_work.hpp"
#include "support/fault/kill_at.hpp"
#include "support/model/history_ledger.hpp"

#include <paddock/file/file.hpp>

#include <system_error>

namespace paddock::test {

class history_sequences : public history_work {
protected:
  struct point {
    std::uint64_t number = 0;
    std::size_t step = 0; ///< the copy that it is of
  };
  struct process {
    history::recording recording;
    who by = who::command;
  };

  [[nodiscard]] std::size_t last() const { return ledger_.steps.size() - 1; }

  /// A person's workspace, and the first server on it.
  void start(unsigned seed, wrong rule) {
    random_.seed(seed);
    model_ = {};
    ledger_ = {};
    ledger_.rule = rule;
    said_.clear();
    told_.clear();
    std::filesystem::remove_all(workspace());
    std::filesystem::remove_all(state_directory());
    tree.directory("ws");
    tree.directory("state");
    (void)::chmod(state_directory().c_str(), 0700);
    root_rules = {};
    protect(root_rules.protected_names, {.name = hidden_name, .mode = protection::hidden});
    auto opened = root::open(workspace(), root_rules);
    if (!opened) std::abort();
    root_.emplace(*std::move(opened));
    for (const char* name : {".vscode", ".git/hooks", ".git/objects", ".git/refs"})
      std::filesystem::create_directories(real(name));
    tree.file("ws/.git/HEAD", "ref: refs/heads/main\n");
    model_.now = copy_of(workspace());
    for (int i = 0; i < 6; ++i)
      by_plain_calls();
    for (int i = 0; i < 3; ++i)
      by_plain_calls_of_rules(who::person);
    ledger_.steps = {{.by = bit(who::person), .after = model_.now}};
    touched_.clear();
    how_ = {.watches_max = seed % 2 == 0 ? 0 : history::options{}.watches_max};
    first_ = begun(how_);
    if (!first_) std::abort();
    points_ = {{first_->state().start, 0}};
  }
  void end() {
    end_process();
    second_.reset();
    first_.reset();
  }

  /// A step of what has been done since the last one. What no tool has announced may be a
  /// process's.
  void took(who by, bool is_restore = false) {
    const bool is_process = process_ && ledger_.rule != wrong::process;
    authors all = bit(by);
    if (is_process) all = (by == who::person ? 0U : all) | bit(process_->by);
    ledger_.steps.push_back({.by = all,
                             .after = model_.now,
                             .touched = std::exchange(touched_, {}),
                             .is_restore = is_restore});
  }

  /// The first server's, or the second one's.
  void work_of_agent() {
    const bool is_second = second_ && below(3) == 0;
    history::store& store = is_second ? *second_ : *first_;
    if (is_second) said_ += "second: ";
    if (below(3) != 0) {
      by_tool(store);
      took(is_second ? who::second : who::tool);
    } else {
      by_command(store, is_second ? who::second : who::command);
    }
  }
  void by_command(history::store& store, who by) {
    said_ += "command:\n";
    auto recording = store.before_command("exec", "work");
    has_linked_ = false;
    for (unsigned left = 1 + below(5); left > 0; --left)
      by_plain_calls();
    if (below(3) == 0) by_plain_calls_of_rules(by);
    const auto reach = has_linked_ ? history::command_reach::workspace
                                   : history::command_reach::workspace_without_links;
    if (const auto lost = recording.finish(reach); !lost.empty()) told_ += lost;
    took(by);
  }
  void by_person() {
    by_plain_calls();
    if (below(2) == 0) by_plain_calls_of_rules(process_ ? process_->by : who::person);
    took(who::person);
  }
  /// Starts or ends what goes on while everything else is done, or has it do something.
  void by_process() {
    if (!process_) {
      const bool is_second = second_ && below(2) == 0;
      said_ += is_second ? "second: a process\n" : "a process\n";
      process_.emplace((is_second ? second_ : first_)->before_command("startProcess", "serve"),
                       is_second ? who::second : who::command);
      ++processes_;
    } else if (below(2) == 0) {
      end_process();
    } else {
      said_ += "process:\n";
      by_plain_calls();
      by_plain_calls_of_rules(process_->by);
      took(process_->by);
    }
  }
  void end_process() {
    if (!process_) return;
    said_ += "the process ends\n";
    told_ += process_->recording.finish(history::command_reach::workspace);
    process_.reset();
  }
  void start_or_end_second() {
    if (!second_) {
      said_ += "a second server\n";
      second_ = begun(how_);
      ledger_.second_began = last();
      if (!second_) told_ += "no second server\n";
    } else {
      if (process_ && process_->by == who::second) end_process();
      said_ += "the second server ends\n";
      second_.reset();
    }
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
    if (run_until(work, boundary, stops) == ending::untraceable) return;
    said_ += "a server was killed at " + std::to_string(stops) + '\n';
    model_.now = copy_of(workspace());
    for (const auto& [at, each] : model_.now)
      if (each.kind == 'd' && !is_reserved(at)) touched_.insert(at);
    for (const auto& at : paths)
      rewrite(at);
    took(who::killed);
    ++kills_;
  }

  std::shared_ptr<history::store> first_, second_;
  std::optional<process> process_;
  history::options how_;
  std::vector<point> points_;
  long kills_ = 0, processes_ = 0;
};

} // namespace paddock::test
