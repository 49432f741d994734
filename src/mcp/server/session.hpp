// SPDX-License-Identifier: MIT
#pragma once

// One connection's side of the protocol: which revision a message speaks, what it asks for, and
// which requests are open. Input, output and threads belong to the transport.
//
// `accept` is called by one thread at a time, which may change between calls; `run` by any thread.

#include "mcp/server/active_call.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

/// The tool calls of one line: one call, or those of a batch.
struct work {
  json_document document;
  std::size_t bytes = 0; ///< of the line, as a measure of the memory held
  std::vector<std::unique_ptr<active_call>> calls;
  json_writer response;
  bool batch = false;
  std::vector<std::string> batch_replies; ///< to the batch's other requests
  std::size_t batch_bytes = 0;            ///< of these
  std::size_t batch_messages = 0;
  channel* out = nullptr; ///< where the answers go
  bool modern = false;    ///< the transport knows the era; else the message tells
};

class session {
public:
  explicit session(std::shared_ptr<const server::core> core);

  /// Handles one line. Everything but tools is answered at once; what needs tools is returned, to
  /// be run. All answers go to `out`, which must live as long as the work does, and for an open
  /// subscription as long as the session. Precondition: `json_padding` bytes behind `line` are
  /// readable.
  [[nodiscard]] std::unique_ptr<work> accept(std::string_view line, channel& out);
  /// The same for a message that is in `w->document` already, with `w->out` and `w->bytes`.
  [[nodiscard]] std::unique_ptr<work> accept(std::unique_ptr<work> w);
  /// Runs the tools on this thread and answers. `token` is what the channel hears when one of them
  /// may block.
  void run(std::unique_ptr<work> w, std::uint64_t token);

  /// Answers a line that is longer than message_in_bytes_max.
  void refuse_long_line(channel& out) const;
  /// Cancels all calls, those not yet started included. They are still answered, and so are open
  /// subscriptions.
  void end();
  /// The same for a client that has gone: nothing is answered any more.
  void abandon();
  [[nodiscard]] std::size_t calls_open() const;
  /// Whether `initialize` was answered with a revision. To be asked by the accepting thread.
  [[nodiscard]] bool is_initialized() const noexcept { return negotiated_.has_value(); }
  /// Whether a subscription is open.
  [[nodiscard]] bool is_listening() const;

private:
  struct subscription {
    request_id id;
    channel* out;
  };

  void dispatch(work& w, const message& m);
  void dispatch_batch(work& w);
  void dispatch_modern(work& w, const message& m, json_view meta);
  void dispatch_legacy(work& w, const message& m, json_view meta);
  void initialize(work& w, const message& m);
  void set_log_level(work& w, const message& m);
  void list_tools(work& w, const message& m, revision r);
  void call_tool(work& w, const message& m, json_view meta, revision r);
  void call_method(work& w, const message& m, json_view meta, revision r);
  void start(work& w, const message& m, call_request request, json_view meta);
  void listen(work& w, const message& m);
  void cancel(json_view id);
  [[nodiscard]] std::vector<subscription> cancel_all(active_call::canceller who);

  void reply(work& w, std::string text);
  void reply_result(work& w, const message& m, std::string_view result);
  void reply_error(work& w, const std::optional<request_id>& id, rpc_error code,
                   std::string_view text, std::string_view data = {});
  void keep_reply(work& w, std::string text);
  [[nodiscard]] std::size_t room_in_batch(const work& w) const;
  void refuse(work& w, const std::optional<request_id>& id, rpc_error code, std::string_view text,
              std::string_view data = {});
  void send_batch(work& w);
  [[nodiscard]] bool is_open(const request_id& id) const;
  void close(active_call& c);
  void run_one(work& w, active_call& c, std::uint64_t token);
  void observe(const active_call& c, const tool_result& r, call_outcome outcome,
               std::uint64_t duration_us, std::size_t bytes) const;

  [[nodiscard]] std::unique_ptr<work> take_spare();
  void keep_spare(std::unique_ptr<work> w);

  const std::shared_ptr<const server::core> core_;

  // Of the accepting thread.
  std::optional<revision> negotiated_;
  std::shared_ptr<const client_info> client_;
  log_level log_from_ = log_level::info; ///< of legacy clients

  mutable std::mutex guard_; // before active_call::guard
  std::vector<active_call*> calls_;
  std::vector<subscription> subscriptions_;
  std::vector<std::unique_ptr<work>> spare_;
  std::optional<active_call::canceller> ending_;
};

} // namespace paddock::mcp
