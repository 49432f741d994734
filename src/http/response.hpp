// SPDX-License-Identifier: MIT
#pragma once

// The bytes of HTTP responses. Pure.

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::http {

struct response_head {
  int status = 200;
  std::string_view lines; ///< whole header lines to add
  bool close = false;     ///< the last answer on its connection
  bool to_head = false;   ///< the request was HEAD: the body's length is told, the body not sent
};

/// A response with all of its body, which no cache keeps and no browser takes for another type.
/// `type` may be empty where there is no body.
[[nodiscard]] std::string whole_response(const response_head& head, std::string_view type,
                                         std::string_view body);

/// How the client learns where a stream ends.
enum class framing : std::uint8_t { chunked, until_close };
/// The head of a response whose body follows in pieces.
[[nodiscard]] std::string stream_head(const response_head& head, framing f);
/// One piece of the body; not empty.
[[nodiscard]] std::string stream_piece(std::string_view bytes, framing f);
[[nodiscard]] std::string_view stream_end(framing f) noexcept;

} // namespace paddock::http
