// SPDX-License-Identifier: MIT
#pragma once

/// How a client's messages travel. The client's core decides what is said and what answers mean; a
/// transport only carries messages, both ways, and knows nothing of eras, ids or tools beyond what
/// `outgoing` tells it.

#include "mcp/protocol/waiter.hpp"

#include <paddock/base/detailed_error.hpp>
#include <paddock/mcp/client.hpp>
#include <paddock/mcp/json_rpc.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::mcp {

/// One message to the server, with what HTTP has to say about it in headers.
struct outgoing {
  std::string_view json; ///< one JSON-RPC message without newlines
  /// Of a request; null for notifications and responses.
  const request_id* id = nullptr;
  std::string_view method;
  std::string_view name;     ///< params.name or params.uri, where the method has one
  std::string_view revision; ///< negotiated, or asked for; empty before that
  bool modern = false;
  /// Parameters that have headers of their own: the header's name, and the value as it is.
  std::span<const std::pair<std::string, std::string>> parameters = {};
};

/// Where a transport delivers. Called from the transport's threads and from those that wait in it,
/// several at once for HTTP; possibly before the transport has been handed to its owner.
class incoming {
public:
  virtual ~incoming() = default;
  /// One message (or batch) of the server, or what should have been one.
  virtual void on_message(std::string_view json) = 0;
  /// HTTP refused a request outright: no JSON-RPC answer will come. `status` is the HTTP status,
  /// 0 where none arrived (connection, TLS, address policy); `why` is for people.
  virtual void on_refused(const request_id& id, int status, std::string_view body,
                          paddock::error reason, std::string_view why) = 0;
  /// There is a connection to the server, and the request goes out; not said by transports that
  /// have one from the start. Possibly more than once.
  virtual void on_connected(const request_id&) {}
  virtual void on_log(std::string_view line) = 0;
  /// The connection is gone; called at most once, not after close. `reason` is `io`, or why the
  /// server could not be run or reached at all.
  virtual void on_lost(paddock::error reason, std::string_view why) = 0;
};

class client_transport {
public:
  virtual ~client_transport() = default; ///< closes
  /// Hands the message over without waiting for the server; answers arrive at the sink. Errors: io,
  /// too_many (the server does not read); the detail is a sentence for people, as all of them here.
  [[nodiscard]] virtual result<void, detailed_error> send(const outgoing& message) = 0;
  /// Nobody waits for this request any more.
  virtual void forget(const request_id& id) noexcept = 0;
  /// Until the waiter is over. A transport may use the thread to receive.
  virtual void wait(waiter& w) {
    while (!w.is_over())
      w.sleep();
  }
  /// How long the server asked to wait before a connection that was lost is made again.
  [[nodiscard]] virtual std::optional<std::int64_t> retry_ms() const noexcept { return {}; }
  /// Ends everything and waits for it; nothing is delivered afterwards. Threads in `wait` come back
  /// when their waiters are over. May be repeated.
  virtual void close() noexcept = 0;
};

using opened_transport = result<std::unique_ptr<client_transport>, detailed_error>;

/// Starts the program. The sink must outlive the transport.
[[nodiscard]] opened_transport start_stdio(const stdio_endpoint& to, const client_options& options,
                                           incoming& sink);

/// `kind` is streamable or sse. Opens connections when they are needed; for sse it waits for the
/// `endpoint` event. Errors: unsupported where the library was built without HTTP,
/// denied_by_policy, invalid_argument (the URL).
[[nodiscard]] opened_transport open_http(const http_endpoint& to, http_kind kind,
                                         const client_options& options, incoming& sink);

} // namespace paddock::mcp
