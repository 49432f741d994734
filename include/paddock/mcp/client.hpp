// SPDX-License-Identifier: MIT
#pragma once

/// An MCP client: one connection to one server, over standard input and output, Streamable HTTP, or
/// the older HTTP with SSE. It speaks every revision from 2024-11-05 to 2026-07-28 and finds out
/// which one the server knows (`server/discover` first, `initialize` when that is not understood).
///
/// Every call ends: with the answer, a failure of the server, the deadline, or cancellation. What a
/// server sends is bounded and never trusted: lines that are not JSON are skipped, answers nobody
/// waits for are dropped, a line without end closes the connection. No string of a server ever
/// reaches a shell. Requests of an older server are answered (`ping`), or refused (everything
/// else); what one of 2026-07-28 asks for is up to `on_input`.
///
/// Over Streamable HTTP a session that the server has forgotten (it was restarted) is begun anew,
/// and what was refused for the old one is sent again: that was not executed. Nothing else is ever
/// sent twice.
///
/// A stdio server runs in a session of its own with only the environment and the three standard
/// streams it is given. `close` ends its standard input, waits, then sends SIGTERM, then SIGKILL,
/// and reaps it. Where the helper program is found, it supervises the server: everything that the
/// server has started ends with it, and all of it ends with this process, even when that is killed
/// (but set-user-ID programs give the server no privileges then). Without the helper a daemon that
/// leaves the server's process group is out of reach, and so is a server that ignores the end of
/// its input when this process is killed.
///
/// Thread-safety: all members of `client` may be called from any number of threads at once; many
/// calls may be in flight. Callbacks run on threads of the client or on those that wait for an
/// answer, must be quick and must not call the client (but on_input may); on_log never runs twice
/// at a time.

#include <paddock/base/cancellation.hpp>
#include <paddock/base/detailed_error.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/mcp/json.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::mcp {

enum class protocol_choice : std::uint8_t {
  automatic,
  modern, ///< 2026-07-28 only
  legacy, ///< `initialize` only
};

/// A server program that speaks on its standard input and output.
struct stdio_endpoint {
  /// Not empty; argv[0] without a slash is looked up in the PATH of `environment`. Never a shell.
  std::vector<std::string> argv{};
  /// "NAME=value", complete.
  std::vector<std::string> environment{};
  std::string working_directory{}; ///< empty: this process's
  /// Resource limits of the server, and what else it may touch; its workspace is the working
  /// directory. The helper program is required then. None by default.
  std::optional<confinement_policy> confinement{};
  std::string helper{}; ///< as in command::helper
};

/// Which addresses an HTTP endpoint may have. Checked on the address that is connected to, not on
/// how the URL spells it.
enum class address_policy : std::uint8_t {
  public_only, ///< https, and no private, loopback, link-local, multicast or reserved address
  any,         ///< also plain http and this machine; for tests and trusted networks
};

enum class http_kind : std::uint8_t {
  automatic,  ///< Streamable HTTP, then HTTP with SSE
  streamable, ///< 2025-03-26 and later
  sse,        ///< 2024-11-05
};

struct http_endpoint {
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{}; ///< sent with every request
  http_kind kind = http_kind::automatic;
  address_policy addresses = address_policy::public_only;
  /// "http://host:port" or "https://…", whose own address may be any. It looks up the names of
  /// servers, so `addresses` judges only what the URL says: https, and no address of another kind.
  /// Empty: none, whatever the environment says.
  std::string proxy{};
  /// Files in the format PEM with which this client shows who it is; the key may be in the first.
  std::string client_certificate{};
  std::string client_key{};
};

using endpoint = std::variant<stdio_endpoint, http_endpoint>;

/// What a server offers, as it describes it. Texts are the server's: not to be trusted.
struct remote_tool {
  std::string name{};
  std::string title{};
  std::string description{};
  std::string input_schema{}; ///< JSON text, an object
  std::string definition{};   ///< the whole definition as JSON text
};

struct server_identity {
  std::string name{};
  std::string version{};
  std::string instructions{};
  std::string revision{}; ///< of the protocol, as negotiated
};

struct client_options {
  std::string name = "paddock";
  std::string version = "0";
  protocol_choice protocol = protocol_choice::automatic;
  std::int64_t discover_timeout_ms = 2'000; ///< for `server/discover`, before `initialize` is tried
  std::int64_t connect_timeout_ms = 30'000; ///< for everything until the tools are known
  std::int64_t close_grace_ms = 2'000;      ///< after closing stdin, and again after SIGTERM
  std::size_t message_bytes_max = std::size_t{16} * 1024 * 1024; ///< one message of the server
  std::size_t tools_max = 10'000;                                ///< over all pages
  /// A line of a stdio server's standard error, or one of its standard output that is not JSON.
  std::function<void(std::string_view line)> on_log{};
  std::function<void()> on_tools_changed{};
  /// Answers what a server of 2026-07-28 asks of this client's user or model during a call:
  /// `requests` is a JSON object, name → {"method", "params"}; the result another, name → what that
  /// method answers. Nothing ends the call. Runs on the thread that called, may take its time, and
  /// may call the client. Requests are the server's: not to be trusted.
  std::function<std::optional<std::string>(std::string_view requests)> on_input{};
  /// What `on_input` can answer, as the protocol's ClientCapabilities: R"({"elicitation":{}})".
  std::string capabilities = "{}";
  /// Called once when the connection is lost without `close`.
  std::function<void(std::string_view why)> on_lost{};
};

struct call_options {
  std::int64_t timeout_ms = 60'000;      ///< without progress
  std::int64_t timeout_ms_max = 600'000; ///< in all, whatever the progress
  std::function<void(double progress, double total, std::string_view message)> on_progress{};
  const cancellation* cancel = nullptr;
};

struct call_reply {
  std::string json{};  ///< the whole result object
  bool failed = false; ///< the tool reported an error (isError)

  /// The texts of its content, one below the other.
  [[nodiscard]] std::string text() const;
  /// Its structured content, as JSON; empty: it has none.
  [[nodiscard]] std::string structured() const;
};

/// How long each part of connecting took.
struct connect_times {
  std::int64_t spawn_us = 0; ///< or the HTTP connection
  std::int64_t handshake_us = 0;
  std::int64_t tools_us = 0;
};

/// One connection to one server.
class client {
public:
  /// Starts or reaches the server, agrees on a revision, and fetches the tools. The detail of an
  /// error, here and below, is a sentence for people; it may be empty. Errors: not_found,
  /// permission_denied (the program), denied_by_policy (the address), timed_out, unsupported (no
  /// common revision; built without HTTP), io (the connection), invalid_argument (the endpoint),
  /// cancelled.
  [[nodiscard]] static result<client, detailed_error>
  connect(endpoint to, client_options options = {}, const cancellation* cancel = nullptr);
  client(client&&) noexcept;
  client& operator=(client&&) noexcept;
  ~client(); ///< closes

  /// What the server said of itself when it was connected.
  [[nodiscard]] const server_identity& server() const noexcept;
  /// How long the parts of connecting took, in microseconds.
  [[nodiscard]] const connect_times& times() const noexcept;
  /// As fetched by connect or the last refresh_tools.
  [[nodiscard]] std::shared_ptr<const std::vector<remote_tool>> tools() const;
  /// Fetches the tools again, as on_tools_changed suggests. Errors: as call_tool; the old list
  /// stays.
  [[nodiscard]] result<void, detailed_error> refresh_tools();

  /// `arguments` is JSON text, an object, or empty. Errors: timed_out, cancelled, too_large, io
  /// (the connection was lost, or the answer is none), invalid_argument (the server refused the
  /// request), unsupported (it asks for input, and nobody answers).
  [[nodiscard]] result<call_reply, detailed_error>
  call_tool(std::string_view name, std::string_view arguments, const call_options& options = {});
  /// Any request; the result as JSON text. Errors: as call_tool.
  [[nodiscard]] result<std::string, detailed_error>
  request(std::string_view method, std::string_view params, const call_options& options = {});

  /// False once the connection was lost or closed.
  [[nodiscard]] bool connected() const noexcept;
  /// How long a server that speaks HTTP with SSE asked to wait (`retry:`) before a connection that
  /// was lost is made again. Untrusted, as all that servers say.
  [[nodiscard]] std::optional<std::int64_t> retry_ms() const noexcept;
  /// Ends the connection and the server's processes; waits for both. Calls in flight fail with
  /// `cancelled`. May be repeated.
  void close() noexcept;

private:
  struct state;
  explicit client(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

} // namespace paddock::mcp
