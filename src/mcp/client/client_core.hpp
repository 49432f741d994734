// SPDX-License-Identifier: MIT
#pragma once

// What a client says and what answers mean: revisions, requests and their ids, tools. How messages
// travel belongs to the transport.
//
// An open request lives on the stack of the thread that waits for it. Others reach it through the
// table only, under `guard_`; to call one of its callbacks they take its own lock before they give
// up the table's, and whoever removes it from the table needs both.

#include "mcp/client/client_transport.hpp"
#include "mcp/client/open_request.hpp"
#include "mcp/protocol/parameter_headers.hpp"
#include "mcp/protocol/revision.hpp"

#include <paddock/mcp/client.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/mcp/json_rpc.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::mcp {

class client_core final : public incoming {
public:
  client_core(endpoint to, client_options options);
  client_core(const client_core&) = delete;
  client_core& operator=(const client_core&) = delete;
  ~client_core() override { close(); }

  [[nodiscard]] result<void, detailed_error> connect(const cancellation* cancel);
  [[nodiscard]] result<call_reply, detailed_error>
  call_tool(std::string_view name, std::string_view arguments, const call_options& options);
  [[nodiscard]] result<std::string, detailed_error>
  request(std::string_view method, std::string_view params, const call_options& options);
  [[nodiscard]] result<void, detailed_error> fetch_tools(const call_options& options);
  [[nodiscard]] std::shared_ptr<const std::vector<remote_tool>> tools() const;
  [[nodiscard]] bool connected() const noexcept;
  [[nodiscard]] std::optional<std::int64_t> retry_ms() const noexcept;
  void close() noexcept;

  server_identity identity; ///< written by connect only
  connect_times times;      ///< likewise
  const client_options options;

private:
  struct attempt;
  enum class verdict : std::uint8_t { agreed, refused, gone, failed };

  // --- incoming (client_incoming.cpp)
  void on_message(std::string_view json) override;
  void on_refused(const request_id& id, int status, std::string_view body, paddock::error reason,
                  std::string_view why) override;
  void on_connected(const request_id& id) override;
  void on_log(std::string_view line) override;
  void on_lost(paddock::error reason, std::string_view why) override;

  void take(json_view message);
  void take_response(json_view message);
  void take_request(const message& m);
  void take_progress(json_view params);
  [[nodiscard]] answer read_response(json_view message) const;
  void finish(std::int64_t id, answer a);

  // --- requests
  /// What a server asked for, as JSON; both may be empty.
  struct input {
    std::string responses;
    std::string state;
  };
  [[nodiscard]] result<answer, detailed_error> try_tool(std::string_view name,
                                                        std::string_view arguments,
                                                        const input& given,
                                                        const call_options& options);
  [[nodiscard]] std::optional<input> ask_for_input(std::string_view wanted) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>>
  headers_of_call(std::string_view name, json_view arguments) const;
  [[nodiscard]] answer round_trip(const message_text& text, const call_options& options);
  [[nodiscard]] std::optional<answer> open(open_request& r);
  void forget(open_request& r);
  void abandon(const message_text& text, std::string_view reason);
  [[nodiscard]] result<void, detailed_error> send(const message_text& text);
  void notify(std::string_view method, std::string_view params);
  [[nodiscard]] json_writer begin_request(std::int64_t id, std::string_view method) const;
  void write_meta(json_writer& out, std::int64_t id, const call_options& options,
                  json_view callers) const;
  [[nodiscard]] bool speaks_modern() const noexcept {
    return speaking_.load(std::memory_order_relaxed) == revision::r2026_07_28;
  }

  // --- connecting (client_connect.cpp)
  [[nodiscard]] result<void, detailed_error> negotiate(attempt& a);
  [[nodiscard]] result<void, detailed_error> open_transport(attempt& a, http_kind kind);
  void drop_transport() noexcept;
  [[nodiscard]] answer ask_discover(const attempt& a, std::int64_t timeout_ms);
  [[nodiscard]] verdict discover(attempt& a, std::int64_t timeout_ms);
  [[nodiscard]] verdict initialize(attempt& a);
  void agree_modern(std::string_view discovered);
  void listen_for_changes();
  [[nodiscard]] bool is_http() const noexcept { return std::holds_alternative<http_endpoint>(to_); }

  // --- reuse of parsers
  [[nodiscard]] std::unique_ptr<json_document> take_document();
  void keep_document(std::unique_ptr<json_document> document, std::size_t bytes);

  const endpoint to_;
  std::string client_info_; ///< the Implementation object
  std::atomic<std::int64_t> next_id_{1};
  std::atomic<revision> speaking_{revision::r2026_07_28};
  std::atomic<bool> agreed_{false};
  bool server_tells_changes_ = false;
  std::unique_ptr<client_transport> owned_transport_;
  std::atomic<client_transport*> transport_{nullptr};

  mutable std::mutex guard_;
  std::vector<open_request*> open_;
  std::vector<std::unique_ptr<json_document>> spare_;
  std::shared_ptr<const std::vector<remote_tool>> tools_;
  std::unordered_map<std::string, std::vector<parameter_header>> tool_headers_; ///< if any
  std::optional<detailed_error> lost_;
  bool connected_ = false; ///< connect has succeeded
  bool closing_ = false;

  std::mutex log_guard_;
};

/// The error of JSON-RPC with which the server refused, in whatever way; or a missing view.
[[nodiscard]] json_view refusal_in(const answer& a, json_document& document);

} // namespace paddock::mcp
