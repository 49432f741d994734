// SPDX-License-Identifier: MIT
#pragma once

// One request of a client: its text, who waits for it, and what became of it.

#include "mcp/protocol/waiter.hpp"

#include <paddock/mcp/client.hpp>
#include <paddock/mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::mcp {

// What is kept or shown of texts that the server chooses.
inline constexpr std::size_t log_bytes_max = std::size_t{8} * 1024;
inline constexpr std::size_t text_bytes_max = 1024;

inline constexpr std::size_t usual_request_bytes = 512;

[[nodiscard]] inline std::string string_or_empty(json_view value) {
  return std::string(value.string().value_or(""));
}

/// What became of one request.
struct answer {
  enum class outcome : std::uint8_t {
    result,
    rpc_error,    ///< the server refused in JSON-RPC: `code`, `text`
    http_refusal, ///< the server refused in HTTP: `code` is the status, `json` the body
    none,         ///< deadline, cancellation, loss of the connection, or no valid answer
  };
  outcome what = outcome::none;
  std::string json;         ///< of a result: the object; of rpc_error: the error object
  bool failed = false;      ///< of a result: isError
  bool wants_input = false; ///< of a result: it is none yet
  bool unreached = false;   ///< there was no connection that the request could go out on
  int code = 0;
  paddock::error reason{}; ///< unless it is a result
  std::string text;        ///< unless it is a result: a sentence for people
};

[[nodiscard]] inline answer no_answer(error_code code, std::string_view text) {
  return {.reason = {code, 0, "server"}, .text = std::string(text)};
}

struct message_text {
  std::int64_t id = 0; ///< 0: a notification
  std::string_view json;
  std::string_view method;
  std::string_view name;
  std::span<const std::pair<std::string, std::string>> parameters = {}; ///< as outgoing has them
  /// How long the server has from when the request goes out; 0: as the call's options say.
  std::int64_t answer_ms = 0;
};

struct open_request {
  open_request(const message_text& text, const call_options& options_, std::int64_t now_ms);

  const std::int64_t id;
  const std::int64_t answer_ms; ///< as in message_text
  const call_options& options;
  const std::int64_t latest_ms; ///< whatever the progress
  bool went_out = false;        ///< where that takes a connection first
  waiter wait;
  answer reply;     ///< valid once the waiter is finished
  std::mutex guard; ///< held while a callback of the caller runs
};

} // namespace paddock::mcp
