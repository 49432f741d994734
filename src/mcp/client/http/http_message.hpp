// SPDX-License-Identifier: MIT
#pragma once

// What both HTTP transports of a client say in headers, and how they read answers.

#include "mcp/client/client_transport.hpp"
#include "mcp/client/http/transfer/address_policy.hpp"
#include "mcp/client/http/transfer/http_loop.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::mcp {

/// `outgoing`, kept beyond the call that brought it.
struct http_message {
  explicit http_message(const outgoing& from);

  std::string json;
  std::optional<request_id> id;
  std::string method;
  std::string name;
  std::string revision;
  bool modern;
  std::vector<std::pair<std::string, std::string>> parameters; ///< names and values, to be encoded
};

/// Counts requests that are under way; the last copy gone ends the count.
class in_flight {
public:
  static constexpr std::size_t max = 256;

  in_flight() = default;
  /// Error: too_many, when there are `max` already.
  [[nodiscard]] static result<in_flight, detailed_error> begin(std::atomic<std::size_t>& count);

private:
  explicit in_flight(std::shared_ptr<void> held) : held_(std::move(held)) {}
  std::shared_ptr<void> held_;
};

/// Where `to` is, judged and ready to connect to. Errors: as open_http.
[[nodiscard]] result<http_origin, detailed_error>
origin_of(const http_endpoint& to, std::int64_t timeout_ms, const host_resolver& resolve);

/// Whether a server may have made this up as the name of a session.
[[nodiscard]] bool is_session_id(std::string_view text);
/// The value of Content-Type without parameters, in lower case.
[[nodiscard]] std::string media_type_of(const http_head& head);
/// Where a redirect leads, if that may be followed: the same origin, and a status that keeps the
/// method.
[[nodiscard]] std::optional<std::string> same_origin_target(const url& from, const http_head& head);
inline constexpr int redirects_max = 3; ///< that are followed for one message

/// Why an answer with this status is none, for people, and as a code.
struct status_report {
  error reason;
  std::string why;
};
[[nodiscard]] status_report report_of(const url& from, const http_head& head);

/// Whether `json` is, or as a batch contains, the answer to the request `id`. `json_padding` bytes
/// behind it are readable.
[[nodiscard]] bool answers(std::string_view json, const request_id& id);

[[nodiscard]] opened_transport open_streamable_http(http_origin server, http_headers headers,
                                                    const client_options& options, incoming& sink);
[[nodiscard]] opened_transport open_http_with_sse(http_origin server, http_headers headers,
                                                  const client_options& options, incoming& sink);

} // namespace paddock::mcp
