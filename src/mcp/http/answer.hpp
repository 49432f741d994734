// SPDX-License-Identifier: MIT
#pragma once

// The bytes of HTTP responses. Pure.

#include <string>
#include <string_view>

namespace paddock::mcp {

struct answer_head {
  int status = 200;
  std::string_view lines;   ///< whole header lines to add
  std::string_view session; ///< value of Mcp-Session-Id; may be empty
  std::string_view origin;  ///< a foreign one that may read the answer; may be empty
  bool close = false;       ///< the last answer on its connection
  bool to_head = false;     ///< the request was HEAD: the body's length is told, the body not sent
};

/// A whole response whose body is JSON, or has none when `json` is empty.
[[nodiscard]] std::string json_answer(const answer_head& head, std::string_view json);
/// A refusal that no JSON-RPC request was found for.
[[nodiscard]] std::string refusal_answer(const answer_head& head, std::string_view reason);
[[nodiscard]] std::string health_answer(const answer_head& head);

enum class framing : std::uint8_t { chunked, until_close };
/// The head of a response that is a stream of events.
[[nodiscard]] std::string event_stream_head(const answer_head& head, framing f);
/// One event, or a comment when `line` is empty.
[[nodiscard]] std::string event_text(std::string_view line, framing f);
[[nodiscard]] std::string_view event_stream_end(framing f) noexcept;

} // namespace paddock::mcp
