// SPDX-License-Identifier: MIT
#pragma once

// One connection's side of the protocol: which revision a message speaks, what it asks for, and
// which requests are open. A line goes one way: `accept` reads it, `run` runs the calls that it
// asks for, the transport sends the answer, `finish` tells the observer. Input, output and threads
// belong to the transport.
//
// `accept` is called by one thread at a time, which may change between calls; the others by any.

#include "mcp/server/open_requests.hpp"
#include "mcp/server/task_table.hpp"
#include "mcp/server/transaction.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

class session {
public:
  /// `runner` has the threads of its tasks; nullptr: one of its own.
  explicit session(std::shared_ptr<const server::core> core,
                   std::shared_ptr<task_runner> runner = {});
  /// A session whose tasks are those of others too, and outlive it.
  session(std::shared_ptr<const server::core> core, std::shared_ptr<task_table> tasks);

  /// What one line asks for: calls that are to be run, or else an answer that is ready, or nothing
  /// (nullptr). `events` must live as long as the calls. Precondition: `json_padding` bytes behind
  /// `line` are readable.
  [[nodiscard]] std::unique_ptr<transaction> accept(std::string_view line, call_events& events);
  /// The same for a message that is in `t->document` already, with `t->events` and `t->bytes`.
  [[nodiscard]] std::unique_ptr<transaction> accept(std::unique_ptr<transaction> t);
  /// Runs the calls on this thread; then `t` has its answer. `token` is what the transport hears
  /// when one of them may block.
  void run(transaction& t, std::uint64_t token);
  /// When the answer is sent.
  void finish(std::unique_ptr<transaction> t);

  /// The answer to a line that is longer than message_in_bytes_max.
  [[nodiscard]] std::string refusal_of_long_line() const;
  /// Cancels all calls, those not yet started included. They are still answered, and so are open
  /// subscriptions, with the lines returned.
  [[nodiscard]] std::vector<std::string> end();
  /// The same for a client that has gone: nothing is answered any more.
  void abandon();
  [[nodiscard]] std::size_t calls_open() const { return open_.calls(); }
  /// Whether `initialize` was answered with a revision. To be asked by the accepting thread.
  [[nodiscard]] bool is_initialized() const noexcept { return negotiated_.has_value(); }
  /// Whether the calls that go on as tasks have ended by then. To be asked after `end`. Returns how
  /// many are left.
  std::size_t wait_for_tasks(std::chrono::steady_clock::time_point deadline) const;
  /// Whether a subscription is open.
  [[nodiscard]] bool is_listening() const { return open_.has_subscriptions(); }

private:
  void dispatch(transaction& t, const message& m);
  void dispatch_batch(transaction& t);
  void dispatch_modern(transaction& t, const message& m, json_view meta);
  void dispatch_legacy(transaction& t, const message& m, json_view meta);
  void initialize(transaction& t, const message& m);
  void set_log_level(transaction& t, const message& m);
  void list_tools(transaction& t, const message& m, revision r) const;
  void call_tool(transaction& t, const message& m, json_view meta, revision r);
  void call_method(transaction& t, const message& m, revision r);
  void start(transaction& t, const message& m, call_request request);
  void listen(transaction& t, const message& m, json_view meta);

  // --- session_tasks.cpp
  [[nodiscard]] bool may_be_task(transaction& t, const message& m, json_view meta,
                                 call_request& request);
  [[nodiscard]] bool is_about_tasks(const message& m, revision r) const;
  void ask_task(transaction& t, const message& m);
  void ask_task(transaction& t, const message& m, json_view meta);
  void list_tasks(transaction& t, const message& m);
  /// Those that there are, each once.
  [[nodiscard]] std::vector<std::shared_ptr<task>> tasks_among(json_view ids) const;
  void cancel_task(std::string_view id);

  void answer(transaction& t, const message& m, std::string_view result) const;
  [[nodiscard]] std::size_t line_bytes_max() const noexcept;
  void run_one(transaction& t, active_call& c, std::uint64_t token);
  [[nodiscard]] std::unique_ptr<transaction> take_spare();

  const std::shared_ptr<const server::core> core_;

  // Of the accepting thread.
  std::optional<revision> negotiated_;
  std::shared_ptr<const client_info> client_;
  log_level log_from_ = log_level::info; ///< of legacy clients

  std::shared_ptr<task_table> tasks_; ///< nullptr where no tool allows them
  bool ends_tasks_ = false;           ///< at its own end

  open_requests open_;
  std::mutex spare_guard_;
  std::vector<std::unique_ptr<transaction>> spare_;
};

} // namespace paddock::mcp
