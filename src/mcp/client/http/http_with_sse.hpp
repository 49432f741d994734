// SPDX-License-Identifier: MIT
#pragma once

// HTTP with SSE (2024-11-05): one stream of events carries everything the server says, and its
// first event names the address that messages are posted to.
//
// Everything but the constructor, `start`, `send`, `forget` and `close` runs on the loop's thread.

#include "mcp/client/client_transport.hpp"
#include "mcp/client/http/http_message.hpp"
#include "mcp/client/http/sse_parser.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace paddock::mcp {

class http_with_sse final : public client_transport {
public:
  http_with_sse(http_headers headers, const client_options& options, incoming& sink);
  ~http_with_sse() override { close(); }
  /// Waits until the server has named the address for messages.
  [[nodiscard]] result<void, detailed_error> start(http_origin server, std::int64_t timeout_ms);

  [[nodiscard]] result<void, detailed_error> send(const outgoing& message) override;
  void forget(const request_id&) noexcept override {}
  [[nodiscard]] std::optional<std::int64_t> retry_ms() const noexcept override;
  void close() noexcept override;

private:
  class stream;
  class post;

  void open_stream(const std::string& target, int redirects);
  [[nodiscard]] url stream_url() const;
  void submit(const http_message& m, const in_flight& counted);
  void on_endpoint(std::string_view reference);
  void on_stream_gone(detailed_error reason);
  void settle(result<void, detailed_error> how);

  const http_headers headers_;
  const std::size_t message_bytes_max_;
  incoming& sink_;
  std::atomic<std::size_t> in_flight_{0};
  std::atomic<std::int64_t> retry_ms_{-1}; ///< -1: the server has not said

  // Of the loop's thread.
  std::string stream_target_; ///< where the stream is asked for: the server may have led there
  std::string post_target_;

  std::mutex guard_;
  std::condition_variable changed_;
  std::optional<result<void, detailed_error>> start_result_; // under guard_
  bool closed_ = false;                                      // under guard_
  bool gone_ = false;                                        // under guard_

  std::unique_ptr<http_loop> loop_; // last: its thread uses all of the above
};

} // namespace paddock::mcp
