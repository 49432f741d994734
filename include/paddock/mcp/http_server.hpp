// SPDX-License-Identifier: MIT
#pragma once

/// Serves MCP over Streamable HTTP, in every revision from 2024-11-05 to 2026-07-28, to any number
/// of clients at once.
///
/// One endpoint (`path`) takes POST, and DELETE for sessions. A request of 2026-07-28 stands for
/// itself: its headers must agree with its body, and closing the connection cancels the call; so
/// does closing only the sending side of it over TCP, where both look the same. What takes less
/// than a tenth of a second is done all the same, so that a client may send a whole request and go.
/// Older clients get a session at `initialize`; there a call ends by itself or by
/// `notifications/cancelled`, and a lost connection loses the answer only. Answers are
/// JSON, or an event stream when the request has a progress token or its tool writes a log, and the
/// client accepts one. GET streams, resumption and the transport of 2024-11-05 with two endpoints
/// are not offered. All clients work with the one workspace of the server, and share what the tools
/// keep (the todo list).
///
/// Who may connect. Without a token only loopback addresses and Unix sockets (mode 0600) can be
/// listened on. A request over TCP has to name this machine in `Host` ("localhost", "127.0.0.1",
/// "[::1]", any port) or one of `allowed_hosts`; an `Origin` has to be that of the request itself
/// or one of `allowed_origins`: no web page reaches the server by having its own name point here.
/// With a token and no `allowed_hosts` any `Host` will do on addresses other than loopback, because
/// such a page does not know the token. GET /healthz, which says "ok" and nothing else, asks for
/// neither token nor `Host`, so that orchestrators can probe; it too refuses foreign origins. Pages
/// of allowed origins can read every answer, errors too.
///
/// Guaranteed: memory, threads, connections and sessions are bounded, and slow clients are cut off.
/// Probes are answered also when all connections are taken: some more are kept for them. An answer
/// goes to the connection that asked and to no other. HTTP that two programs could read differently
/// is refused.
///
/// Not guaranteed: secrecy (put TLS in front for other machines), fairness between clients, and
/// that a handler which ignores `call::cancelled()` is stopped.
///
/// Thread-safety: `run` once, on one thread; `stop` and `address` from any.

#include <paddock/base/result.hpp>
#include <paddock/mcp/server.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace paddock::mcp {

struct http_server_options {
  /// "127.0.0.1:8080", "[::1]:8080", "localhost:8080" or "unix:/run/paddock.sock"; port 0 stands
  /// for any that is free. Other addresses need a token.
  std::string listen = "127.0.0.1:0";
  std::string path = "/mcp"; ///< of the endpoint
  std::string token{};       ///< what `Authorization: Bearer` has to carry; empty for none
  std::vector<std::string> allowed_hosts{};   ///< "name" or "name:port", beside the loopback names
  std::vector<std::string> allowed_origins{}; ///< "https://host[:port]"; they get CORS headers

  /// Fewer if the process may not have that many descriptors. When all are taken, requests that
  /// are slow to arrive and idle connections give way; other requests get 503.
  unsigned connections_max = 1024;
  unsigned calls_running_max = 32; ///< each on a thread of its own
  /// For their turn, or for what others do: a task, a process. Each of the latter has a thread,
  /// too. Beyond both, or when a session has more than the former and half of these: 503.
  unsigned calls_waiting_max = 256;
  unsigned sessions_max = 256; ///< beyond it the one that was idle for longest is ended
  /// Requests being received and answers not yet taken, of all connections: requests beyond it get
  /// 503. Answers of calls that are running then may exceed it.
  std::size_t buffered_bytes_max = std::size_t{128} * 1024 * 1024;
  std::size_t head_bytes_max = std::size_t{32} * 1024; ///< request line and headers

  unsigned head_timeout_ms = 10'000;    ///< from a connection's or head's first byte to its last
  unsigned body_timeout_ms = 60'000;    ///< for the whole of a body
  unsigned write_timeout_ms = 30'000;   ///< without the client taking any byte of an answer
  unsigned idle_timeout_ms = 60'000;    ///< of a connection between two requests
  unsigned session_idle_ms = 1'800'000; ///< of a session between two requests
  unsigned keep_alive_ms = 15'000;      ///< between comments on a silent event stream
  unsigned stop_grace_ms = 5'000;       ///< for calls to end by themselves when the server stops
};

struct http_serve_outcome {
  std::size_t calls_abandoned =
      0; ///< handlers that did not return in time; their threads still run
  /// Of the loop itself, which ended it: io, too_many. Troubles of one client never end it.
  std::optional<error> failure{};
};

/// One listening socket, one endpoint, one `server`.
class http_server {
public:
  /// Binds and listens; connections wait until `run`. `s` may be destroyed before the result is.
  /// Errors: invalid_argument (an option; `operation` says what is wrong with it), denied_by_policy
  /// (an address that needs a token), already_exists (the port, or the socket file, is in use),
  /// permission_denied, too_many (no descriptors left), io.
  [[nodiscard]] static result<http_server> make(const server& s, http_server_options options = {});
  http_server(http_server&&) noexcept;
  http_server& operator=(http_server&&) noexcept;
  ~http_server(); ///< closes; removes the socket file

  /// "http://127.0.0.1:4567/mcp", or "unix:///run/paddock.sock#/mcp".
  [[nodiscard]] const std::string& address() const noexcept;

  /// Serves until `stop`, or until `stop_fd` (-1 for none) becomes readable: then no connection is
  /// accepted any more, calls get `stop_grace_ms` to end, the rest is cancelled, and answers that
  /// are ready go out, for about a second. SIGPIPE is ignored from then on in the whole process.
  /// Errors: too_many (no thread), before anything was answered; later the outcome has the failure.
  [[nodiscard]] result<http_serve_outcome> run(int stop_fd = -1);
  /// The same until SIGTERM, SIGINT or SIGHUP arrives; once per process at a time. `ready` is
  /// called as soon as these signals end the server properly. Errors: those of `run`.
  [[nodiscard]] result<http_serve_outcome>
  run_until_terminated(const std::function<void()>& ready = {});
  /// Ends `run`, also one that comes later. May be called in a signal handler.
  void stop() noexcept;

private:
  class service;
  explicit http_server(std::unique_ptr<service> s) noexcept;
  std::unique_ptr<service> service_;
};

} // namespace paddock::mcp
