// SPDX-License-Identifier: MIT
#pragma once

// One tools/call, or one call of an extension's method, from its request to its answer.

#include "mcp/server/response.hpp"
#include "mcp/server/server_core.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::mcp {

/// What a running call tells its transport. Called from any thread.
class call_events {
public:
  virtual ~call_events() = default;
  /// A notification for the client, which may be dropped while the client is behind with reading.
  /// `line` ends in its only newline.
  virtual void offer(std::string_view line) = 0;
  /// The same for one that comes once and is never dropped. A client that is far behind gets
  /// `brief`, which says it in a few bytes.
  virtual void tell(std::string_view line, std::string_view /*brief*/) { offer(line); }
  /// The call that was started with `token` may block its thread from now on.
  virtual void may_block(std::uint64_t token) = 0;
  /// And from now on does nothing but wait. Called from the thread that runs it.
  virtual void only_waits(std::uint64_t token) { may_block(token); }
  /// Where a call goes on to speak when it was answered with a task; nullptr: nowhere.
  [[nodiscard]] virtual call_events* after_answer() noexcept { return nullptr; }
  /// The same for a subscription, for as long as it lives; empty: nowhere.
  [[nodiscard]] virtual std::weak_ptr<call_events> while_subscribed() noexcept { return {}; }
};

/// What an audit wants to know of a call that is over.
struct call_report {
  call_outcome outcome = call_outcome::succeeded;
  std::string error; ///< the kind of a failure
  std::uint64_t duration_us = 0;
  std::uint64_t bytes_out = 0;
  bool goes_on = false; ///< as a task, which says how it ends
};

class active_call;

/// Who may run a call in a way of its own.
class call_host {
public:
  virtual ~call_host() = default;
  /// Nothing: it cannot now, and need not.
  [[nodiscard]] virtual std::optional<call_answer> run(active_call& c) = 0;
};

class active_call final : public call {
public:
  active_call(call_events& events, const server::core& core, call_request request);

  void on_cancel(std::function<void()> f) override;
  void may_block() override { events_.may_block(token_); }
  void only_waits() override { events_.only_waits(token_); }
  [[nodiscard]] bool wants_progress() const noexcept override {
    return request_.progress_token.has_value() || on_progress_;
  }
  void progress(double progress, std::string_view message) override;
  void log(log_level level, std::string_view message) override;
  [[nodiscard]] std::size_t message_bytes_max() const noexcept override;

  [[nodiscard]] const call_request& request() const noexcept { return request_; }

  /// Says where the text of progress goes besides. Before it runs.
  void follow(std::function<void(std::string_view)> f) { on_progress_ = std::move(f); }
  [[nodiscard]] call_events& events() const noexcept { return events_; }

  /// Checks the arguments and runs the handler. `token` is what the transport hears in may_block.
  [[nodiscard]] call_answer run(std::uint64_t token);
  /// What is wrong with the handler, for logs; empty if nothing.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  void note_trouble(std::string trouble) { trouble_ = std::move(trouble); }
  /// Says what is in `report`.
  void tell_observer() const;

  enum class canceller : std::uint8_t { client, end_of_connection };
  /// Tells the handler. After `client` nothing more may be sent for this call. The caller holds
  /// `guard`.
  void cancel(canceller who);
  [[nodiscard]] bool silenced() const noexcept { return silenced_.load(std::memory_order_acquire); }

  std::mutex guard;   ///< held while the handler's on_cancel function is set or runs
  call_report report; ///< of the thread that runs the call

private:
  [[nodiscard]] rpc_failure broken(std::string_view what) const;
  [[nodiscard]] call_answer run_handler();
  [[nodiscard]] call_answer run_method();
  [[nodiscard]] call_answer checked(tool_result r);
  [[nodiscard]] call_answer checked(method_result r);
  [[nodiscard]] bool take_answers();
  [[nodiscard]] call_answer ask(input_needed needed);
  [[nodiscard]] std::optional<std::int64_t> time_to_live_ms() const;

  call_events& events_;
  const server::core& core_;
  call_request request_;
  std::uint64_t token_ = 0;
  std::optional<json_document> filled_; ///< arguments with fallbacks, when the call gave fewer
  std::string trouble_;
  std::function<void()> on_cancel_;
  std::function<void(std::string_view)> on_progress_;
  std::atomic<bool> silenced_{false};
  std::mutex progress_guard_;
  double last_progress_ = -std::numeric_limits<double>::infinity();
};

} // namespace paddock::mcp
