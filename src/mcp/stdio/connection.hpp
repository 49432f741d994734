// SPDX-License-Identifier: MIT
#pragma once

// The threads of one connection.
//
// One thread at a time is the leader: it reads a message and runs its tool itself, so that a quick
// call never changes threads. When the call says that it may block, or the supervisor sees it run
// for longer than a moment, the leadership is taken from that thread and given to another, which
// reads on; the first one becomes a follower and looks for work when its call is done. A call is
// run by the leader only when somebody is left who could take over; otherwise it waits in a bounded
// queue. One that says that it only waits has a thread beside those, as long as there are not too
// many.
//
// The leadership is taken by exchanging `inline_call_` from the call's number to 0, which either
// the call's end, the call itself or the supervisor achieves, and only one of them.
//
// The supervisor is the thread that called `serve`. It reads up to the first call: a server needs
// no other thread to list its tools. Then it sleeps while nothing runs.

#include "mcp/server/session.hpp"
#include "mcp/stdio/line_output.hpp"
#include "mcp/stdio/line_reader.hpp"

#include <paddock/mcp/stdio_transport.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace paddock::mcp {

class connection final : public call_events, public std::enable_shared_from_this<connection> {
public:
  /// `wake` is an event of the connection's own.
  connection(std::shared_ptr<const server::core> core, int in, int out, file_descriptor wake,
             serve_options options);

  /// Serves until the end. Precondition: owned by a shared_ptr; called once.
  [[nodiscard]] result<serve_outcome> supervise();

  void offer(std::string_view line) override { out_.offer(line); }
  void tell(std::string_view line, std::string_view brief) override {
    out_.send(out_.congested() ? brief : line);
  }
  void may_block(std::uint64_t token) override;
  void only_waits(std::uint64_t token) override;
  [[nodiscard]] call_events* after_answer() noexcept override { return this; }
  [[nodiscard]] std::weak_ptr<call_events> while_subscribed() noexcept override {
    return weak_from_this();
  }

private:
  using lock = std::unique_lock<std::mutex>;
  enum class input : std::uint8_t { ready, ended };

  // --- the leader
  [[nodiscard]] std::unique_ptr<transaction> next_calls();
  [[nodiscard]] bool lead();
  [[nodiscard]] std::optional<line_reader::item> next_line();
  [[nodiscard]] input wait_for_input();
  [[nodiscard]] bool wait_for_capacity();
  [[nodiscard]] bool must_queue() const;
  /// Whether as many followers run as there may be beside the leader.
  [[nodiscard]] bool all_busy() const;
  void queue(std::unique_ptr<transaction> t);
  [[nodiscard]] bool run_inline(std::unique_ptr<transaction> t);
  void run(std::unique_ptr<transaction> t, std::uint64_t token);
  void answer(std::unique_ptr<transaction> t);

  // --- the pool; the caller holds `guard_`
  void work_until_finished();
  bool pass_leadership(std::uint64_t token);
  void end_following();
  void wake_one();
  [[nodiscard]] std::size_t threads_max() const { return options_.threads_max + waiting_.load(); }
  [[nodiscard]] bool add_thread();
  [[nodiscard]] bool idle() const { return followers_busy_ == 0 && queue_.empty(); }

  // --- the supervisor
  void watch(lock& l);
  void end_calls(lock& l);
  [[nodiscard]] std::size_t stop_threads(lock& l);

  const std::shared_ptr<const server::core> core_;
  const int in_;
  const file_descriptor wake_;
  const serve_options options_;
  line_output out_;
  session session_;

  // Of the leader.
  line_reader reader_;
  bool at_end_ = false;
  std::unique_ptr<transaction> first_calls_; ///< read by the supervisor
  end_reason reason_ = end_reason::input_ended;

  std::atomic<std::uint64_t> inline_call_{0}; ///< number of the call the leader runs; 0: it reads
  std::atomic<std::uint64_t> calls_started_{0};
  std::atomic<bool> ending_{false};
  std::atomic<bool> watching_{false}; ///< whether the supervisor looks at inline_call_ regularly
  std::atomic<unsigned> followers_busy_{0}; ///< changed under guard_
  std::atomic<unsigned> waiting_{0};        ///< of them only wait; changed under guard_
  std::atomic<std::size_t> queued_{0};      ///< length of queue_
  std::atomic<std::size_t> open_bytes_{0};  ///< of the lines whose calls wait or run

  std::mutex guard_;
  std::condition_variable pool_wake_;
  std::condition_variable supervisor_wake_;
  std::vector<std::thread> threads_;
  unsigned idle_threads_ = 0; ///< waiting, and not yet called
  unsigned wake_calls_ = 0;   ///< threads called that have not got up yet
  std::deque<std::unique_ptr<transaction>> queue_;
  bool leader_wanted_ = false;
  bool input_done_ = false;
  bool finished_ = false;
  std::size_t tasks_left_ = 0; ///< that did not end in time
};

} // namespace paddock::mcp
