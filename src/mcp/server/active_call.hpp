// SPDX-License-Identifier: MIT
#pragma once

// One tools/call, or one call of an extension's method, from its arrival to its response.

#include "mcp/server/server_core.hpp"

#include <paddock/mcp/json_rpc.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// Where a session's lines go, and what a running call tells its transport. Called from any thread.
class channel {
public:
  virtual ~channel() = default;
  /// Sends `line`, which ends in its only newline, whole and not mixed with others.
  virtual void send(std::string_view line) = 0;
  /// Sends `line`, unless the client is behind with reading.
  virtual void offer(std::string_view line) = 0;
  /// Sends `line`, which refuses a request for what it is (no tool or method was asked), or for
  /// what its client cannot do. For transports that say such things twice.
  virtual void refuse(std::string_view line, rpc_error code) {
    (void)code;
    send(line);
  }
  /// The call that was started with `token` may block its thread from now on.
  virtual void may_block(std::uint64_t token) = 0;
};

struct client_info {
  std::string name;
  std::string version;
};

/// What a call asks for; views refer to the parsed message.
struct call_request {
  request_id id;
  const paddock::mcp::tool* tool = nullptr; ///< this,
  const extension_method* method = nullptr; ///< or this
  json_view arguments;
  json_view params; ///< all of the request
  paddock::mcp::revision revision = newest_legacy;
  std::optional<request_id> progress_token;
  std::optional<log_level> log_from; ///< nothing: the client hears no log
  json_view client_capabilities;     ///< of a modern client
  std::string_view traceparent;
  std::string_view client_name;
  std::string_view client_version;
  std::shared_ptr<const client_info> client; ///< keeps the two views above alive in the legacy era
};

class active_call final : public call {
public:
  active_call(channel& c, const server::core& core, call_request request);

  void on_cancel(std::function<void()> f) override;
  void may_block() override { channel_.may_block(token_); }
  [[nodiscard]] bool wants_progress() const noexcept override {
    return request_.progress_token.has_value();
  }
  void progress(double progress, std::string_view message) override;
  void log(log_level level, std::string_view message) override;
  [[nodiscard]] std::size_t message_bytes_max() const noexcept override;

  [[nodiscard]] const request_id& id() const noexcept { return request_.id; }
  [[nodiscard]] const std::string& name() const noexcept {
    return request_.method != nullptr ? request_.method->name : request_.tool->name;
  }
  [[nodiscard]] const call_request& request() const noexcept { return request_; }

  /// Checks the arguments and runs the handler. `token` is what the channel hears in may_block. The
  /// result's text is what `write_response` wraps: a tool's result, a method's, or an error object.
  [[nodiscard]] tool_result run(std::uint64_t token);
  /// Makes `out` the response, or an error when that would exceed `room` bytes. Says which.
  call_outcome write_response(json_writer& out, const tool_result& r, std::size_t room) const;
  /// The error of JSON-RPC that the response is, if it is one that a transport has to know of.
  [[nodiscard]] std::optional<rpc_error> refusal() const noexcept { return refusal_; }
  /// What is wrong with the handler, for logs; empty if nothing.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

  enum class canceller : std::uint8_t { client, end_of_connection };
  /// Tells the handler. After `client` nothing more may be sent for this call. The caller holds
  /// `guard`.
  void cancel(canceller who);
  [[nodiscard]] bool silenced() const noexcept { return silenced_.load(std::memory_order_acquire); }

  std::mutex guard; ///< held while the handler's on_cancel function is set or runs

private:
  enum class shape : std::uint8_t { result, error, input_required };

  [[nodiscard]] tool_result refuse(rpc_error code, std::string_view message,
                                   std::string_view data = {});
  [[nodiscard]] tool_result broken(std::string_view what);
  [[nodiscard]] std::string problem_of_result(const tool_result& r) const;
  [[nodiscard]] std::optional<std::int64_t> time_to_live_ms() const;
  [[nodiscard]] tool_result run_handler();
  [[nodiscard]] tool_result run_method();
  [[nodiscard]] bool take_answers();
  [[nodiscard]] tool_result ask(const input_needed& needed);
  void write(json_writer& out, const tool_result& r, shape s) const;
  [[nodiscard]] tool_result too_large(std::size_t needed, std::size_t room) const;

  channel& channel_;
  const server::core& core_;
  call_request request_;
  std::uint64_t token_ = 0;
  shape shape_ = shape::result;
  std::optional<rpc_error> refusal_;
  std::string trouble_;
  std::function<void()> on_cancel_;
  std::atomic<bool> silenced_{false};
  std::mutex progress_guard_;
  double last_progress_ = -std::numeric_limits<double>::infinity();
};

} // namespace paddock::mcp
