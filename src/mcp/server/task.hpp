// SPDX-License-Identifier: MIT
#pragma once

// A call that may outlive the request that began it. It runs on a thread of its own with a copy of
// what was asked. As long as it has not `begun`, the request waits for it and takes its answer;
// from then on it is a task that clients ask for by its id.
//
// Thread-safety: from any thread.

#include "mcp/server/active_call.hpp"
#include "mcp/server/subscription.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

enum class task_status : std::uint8_t { working, completed, failed, cancelled };
[[nodiscard]] std::string_view name_of(task_status status) noexcept;

class task final : public call_events {
public:
  /// `asked` is what `from` is asked for.
  task(std::shared_ptr<const server::core> core, const active_call& from, std::string id);

  void offer(std::string_view line) override;
  void may_block(std::uint64_t) override {}

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// Runs the call on this thread; says so before its result can be had.
  void run(const std::function<void()>& settle);
  /// Ends the call, soon. Returns the status before.
  task_status cancel();

  // --- before it has begun
  /// Until the call is over, at most for so long.
  void wait_for(std::chrono::milliseconds time);
  /// From here on it is a task, and its request is answered. False when it is over already.
  [[nodiscard]] bool begin();
  /// Of a call that is over and did not begin.
  [[nodiscard]] call_answer take_answer();
  [[nodiscard]] const std::string& trouble() const noexcept { return asked_->call->trouble(); }

  // --- afterwards
  /// Until the call is over, or `given_up`, which whoever sets it says with `wake`.
  void wait(const std::atomic<bool>& given_up);
  void wake();
  /// Tells of the end of the work, which may be over: then at once. Once, as its client knows it.
  void follow(const std::shared_ptr<subscription>& by);
  /// Nothing is said to the client any more.
  void detach();
  [[nodiscard]] bool is_over() const;
  /// Whether it is over and nobody is to ask for it any more.
  [[nodiscard]] bool is_stale() const;
  enum class extent : std::uint8_t { state, outcome };
  /// The task as its client knows it: an object. With `outcome` that of 2026-07-28 has its result.
  [[nodiscard]] std::string json(extent wanted) const;
  /// What the call was answered with, for clients of 2025-11-25.
  [[nodiscard]] method_result result() const;

private:
  using clock = std::chrono::system_clock;
  void note(std::string_view message);
  void end(const call_answer& answer, std::chrono::microseconds took);
  void write_state(json_writer& out) const;
  void write_outcome(json_writer& out) const;
  void tell_client();
  void tell_followers();

  const std::shared_ptr<const server::core> core_;
  const std::string id_;
  const std::int64_t kept_ms_;
  /// What was asked for, which may be large: it goes with the end of a task.
  struct asked {
    json_document document;          ///< the params
    std::optional<active_call> call; ///< refers to the document
  };
  const bool is_modern_;
  std::shared_ptr<asked> asked_;
  std::mutex voice_guard_;
  call_events* events_;

  mutable std::mutex guard_; // after those of calls and tables; never held while others are called
  std::condition_variable changed_;
  bool begun_ = false;
  bool over_ = false;
  task_status status_ = task_status::working;
  std::string message_;
  const clock::time_point created_ = clock::now();
  clock::time_point updated_ = created_;
  const std::int64_t created_ms_; ///< monotonic, as `ended_ms_`
  std::int64_t ended_ms_ = 0;
  call_answer answer_; ///< of a call that did not begin
  kept_answer kept_;   ///< of a task
  std::vector<std::weak_ptr<subscription>> followers_;
};

} // namespace paddock::mcp
