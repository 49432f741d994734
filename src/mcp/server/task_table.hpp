// SPDX-License-Identifier: MIT
#pragma once

// The tasks of one connection or session, or of all clients of 2026-07-28 of an HTTP server. They
// end with it.
//
// Thread-safety: from any thread.

#include "mcp/server/task.hpp"
#include "mcp/server/task_runner.hpp"

#include <paddock/mcp/extension.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

class task_table final : public call_host {
public:
  task_table(std::shared_ptr<const server::core> core, std::shared_ptr<task_runner> runner);
  task_table(const task_table&) = delete;
  task_table& operator=(const task_table&) = delete;
  ~task_table() override { close(); }

  /// Runs the call as a task.
  [[nodiscard]] std::optional<call_answer> run(active_call& c) override;
  /// nullptr: there is none, or it was kept for long enough.
  [[nodiscard]] std::shared_ptr<task> find(std::string_view id);
  /// A page of tasks/list, from behind the one that `cursor` stands for; empty: the first page.
  /// Nothing when no page gave this cursor.
  [[nodiscard]] std::optional<std::string> list(std::string_view cursor);
  /// tasks/result of 2025-11-25.
  [[nodiscard]] const extension_method& result_method() const noexcept { return result_; }

  /// Ends all, and those to come at once.
  void close();
  [[nodiscard]] task_runner& runner() const noexcept { return *runner_; }

private:
  struct entry {
    std::uint64_t number = 0;
    std::shared_ptr<task> it;
  };
  [[nodiscard]] std::shared_ptr<task> make(const active_call& c) const;
  [[nodiscard]] std::optional<call_answer> run_asked(active_call& c);
  [[nodiscard]] std::optional<call_answer> run_long(active_call& c);
  /// Where there is room, or will be: see make_room.
  [[nodiscard]] bool keep(const std::shared_ptr<task>& it);
  /// Drops the oldest that are over, when it is known that this one runs.
  void make_room(const std::shared_ptr<task>& it);
  void forget(const std::shared_ptr<task>& it);
  void drop_stale();
  [[nodiscard]] method_result result_of(call& c);

  const std::shared_ptr<const server::core> core_;
  const std::shared_ptr<task_runner> runner_;
  const extension_method result_;
  std::mutex guard_;
  std::vector<entry> entries_; ///< in the order of their numbers
  std::uint64_t last_number_ = 0;
  bool closed_ = false;
};

/// What is said of an id that is not there.
[[nodiscard]] rpc_failure no_such_task(std::string_view id);

} // namespace paddock::mcp
