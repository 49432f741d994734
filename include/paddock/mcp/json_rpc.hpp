// SPDX-License-Identifier: MIT
#pragma once

/// JSON-RPC 2.0 as MCP uses it: what kind of message a value is, ids, error codes, error responses.
///
/// Only the shape of a message is judged here; what a method means is the server's business. Ids
/// are strings or integers, never null, and keep their JSON type.
///
/// Thread-safety: values; distinct objects are independent.

#include <paddock/mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// The codes of JSON-RPC 2.0 and those that MCP 2026-07-28 adds.
enum class rpc_error : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  header_mismatch = -32020, ///< over HTTP: headers and body disagree
  missing_client_capability = -32021,
  unsupported_protocol_version = -32022,
};

/// Longer ids and progress tokens are refused, because they are kept and sent back.
inline constexpr std::size_t id_bytes_max = 1024;

/// The id of a request (or a progress token): a string or an integer, kept as JSON text, so that 1
/// and "1" differ, and 1 and 1.0 do not.
class request_id {
public:
  request_id() = default;
  explicit request_id(std::int64_t number) : json_(std::to_string(number)) {}
  /// Nothing when `value` is neither a string nor a whole number of 64 bits (7, 7.0, 7e0), or
  /// longer than `id_bytes_max`.
  [[nodiscard]] static std::optional<request_id> from(json_view value);
  /// What the client wrote: a number, without fraction or exponent, or a string with its quotes.
  [[nodiscard]] const std::string& json() const noexcept { return json_; }

  friend bool operator==(const request_id& a, const request_id& b) noexcept {
    return a.json_ == b.json_;
  }

private:
  std::string json_;
};

enum class message_kind : std::uint8_t { request, notification, response, invalid };

struct message {
  message_kind kind = message_kind::invalid;
  std::optional<request_id> id;    ///< of a request
  std::string_view method;         ///< of a request or notification; valid as long as the document
  json_view params;                ///< an object; missing when there is none, or null
  std::string_view problem;        ///< of an invalid message: a sentence for people
  std::string_view params_problem; ///< of a request with an id, when its params are no object
};

/// Tells what `value` is. A response (result or error without a method) is not looked at further.
[[nodiscard]] message classify(json_view value);

/// What a request gets instead of a result.
struct rpc_failure {
  rpc_error code = rpc_error::internal_error;
  std::string message{}; ///< for the people behind the client
  std::string data{};    ///< JSON text on one line; may be empty
};

/// Writes a response that reports an error; without `id` when it is not known.
void write_error_response(json_writer& out, const std::optional<request_id>& id,
                          const rpc_failure& failure);
/// The same as text.
[[nodiscard]] std::string error_response(const std::optional<request_id>& id, rpc_error code,
                                         std::string_view text, std::string_view data = {});

} // namespace paddock::mcp
