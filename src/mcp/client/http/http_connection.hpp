// SPDX-License-Identifier: MIT
#pragma once

// One connection to an HTTP server, which carries one request at a time. It never waits: whoever
// owns it polls its socket and calls `advance`. All of it belongs to one thread.

#include "mcp/client/http/http_response.hpp"
#include "mcp/client/http/tls_session.hpp"
#include "mcp/client/http/url.hpp"
#include "sys/socket.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

struct http_failure {
  error reason;
  std::string why; ///< a sentence for people
};

/// Receives the answer to one request.
class http_exchange {
public:
  virtual ~http_exchange() = default;
  /// False: the rest is not wanted. The connection is closed, and nothing more is called.
  [[nodiscard]] virtual bool on_head(const http_head& head) = 0;
  [[nodiscard]] virtual bool on_body(std::string_view piece) = 0;
  /// The answer is complete, or `failed` says why there is none, or not all of it.
  virtual void on_end(const http_failure* failed) = 0;
};

/// Where to connect to, the same for all connections of a client.
struct http_origin {
  url to;
  std::vector<sys::ip_address> addresses;   ///< tried in this order
  std::optional<tls_context> tls;           ///< for https
  std::int64_t connect_timeout_ms = 10'000; ///< to each address, with the handshake of TLS
};

class http_connection {
public:
  /// Begins to connect. `server` must outlive the connection.
  http_connection(const http_origin& server, std::int64_t now_ms);

  /// Precondition: is_idle(), or nothing was started yet. `deadline_ms`: for the whole of it; 0 for
  /// none.
  void start(std::uint64_t number, std::string request, std::unique_ptr<http_exchange> exchange,
             std::int64_t deadline_ms);
  /// The number of the exchange that is under way; 0 for none.
  [[nodiscard]] std::uint64_t exchange() const noexcept { return exchange_ ? number_ : 0; }
  /// Closes the connection; nothing is called any more.
  void abandon() noexcept;

  void set_deadline(std::int64_t at_ms) noexcept { deadline_ms_ = at_ms; }
  [[nodiscard]] bool is_idle() const noexcept { return phase_ == phase::open && !exchange_; }
  [[nodiscard]] bool is_closed() const noexcept { return phase_ == phase::closed; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] short wanted_events() const noexcept;
  /// When `advance` has to be called even if the socket has nothing to say.
  [[nodiscard]] std::int64_t deadline_ms() const noexcept;
  /// `events` as poll reported them; 0 when only time has passed. `buffer` is scratch space.
  void advance(short events, std::int64_t now_ms, std::span<char> buffer);

private:
  enum class phase : std::uint8_t { connecting, handshaking, open, closed };

  void connect_next(std::int64_t now_ms);
  void on_connected();
  void on_ready_to_send();
  void read_some(std::int64_t now_ms, std::span<char> buffer);
  void write_some();
  void on_network_end(std::int64_t now_ms);
  void feed(std::string_view bytes, std::int64_t now_ms);
  void finish(bool reusable, std::int64_t now_ms);
  void try_next_or_fail(error reason, std::string why, std::int64_t now_ms);
  void fail(error reason, std::string why);

  const http_origin& server_;
  file_descriptor fd_;
  phase phase_ = phase::connecting;
  std::size_t next_address_ = 0;
  std::int64_t connect_deadline_ms_ = 0;
  std::int64_t idle_deadline_ms_ = 0;
  std::optional<tls_session> tls_;
  std::string out_; // as the network gets it
  std::size_t out_sent_ = 0;

  std::uint64_t number_ = 0;
  std::unique_ptr<http_exchange> exchange_;
  std::unique_ptr<http_exchange> abandoned_; // kept: one of its members may be running
  std::string request_;                      // until it can be sent
  http_response_reader reader_;
  std::int64_t deadline_ms_ = 0;
};

} // namespace paddock::mcp
