// SPDX-License-Identifier: MIT
#pragma once

// Reads one HTTP/1.1 response (RFC 9112), in bounded memory. Pure: someone else reads the bytes, in
// pieces of any size. Strict where leniency is how responses are smuggled: folded lines, blanks
// before the colon, two lengths, a length that is no number.

#include "mcp/protocol/http_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::mcp {

struct http_head : http_fields {
  int status = 0;
};

class http_response_reader {
public:
  enum class step : std::uint8_t {
    more, ///< all bytes were taken
    head, ///< `head()` is complete
    body, ///< `body()` is the next piece of the body, a part of the bytes given
    end,  ///< the response is complete; bytes may be left over
    bad,  ///< this is no HTTP; `problem()` says why
  };

  static constexpr std::size_t head_bytes_max = std::size_t{64} * 1024;

  /// Takes bytes from the front of `bytes`.
  [[nodiscard]] step next(std::string_view& bytes);
  /// The connection ended: end, or bad if something is missing.
  [[nodiscard]] step at_end();

  [[nodiscard]] const http_head& head() const noexcept { return head_; }
  [[nodiscard]] std::string_view body() const noexcept { return body_; }
  [[nodiscard]] const char* problem() const noexcept { return problem_; }
  /// Whether the connection can carry another request. Valid after `end`.
  [[nodiscard]] bool reusable() const noexcept { return reusable_; }
  /// Whether any byte of the response was seen.
  [[nodiscard]] bool begun() const noexcept { return begun_; }

private:
  enum class part : std::uint8_t {
    status_line,
    headers,
    sized_body,
    body_until_end,
    chunk_size,
    chunk,
    chunk_end,
    trailers,
    finished,
  };

  [[nodiscard]] step fail(const char* problem);
  [[nodiscard]] bool take_line(std::string_view& bytes);
  [[nodiscard]] step on_line();
  [[nodiscard]] step on_status_line();
  [[nodiscard]] step on_header();
  [[nodiscard]] step on_head_end();
  [[nodiscard]] step on_chunk_size();
  [[nodiscard]] step take_body(std::string_view& bytes);
  [[nodiscard]] bool choose_framing();

  part part_ = part::status_line;
  http_head head_;
  std::string line_;
  std::string_view body_;
  std::size_t head_bytes_ = 0; // of the head, the trailers, or one chunk's size
  std::uint64_t left_ = 0;     // of the body, or the chunk
  const char* problem_ = "";
  bool reusable_ = false;
  bool begun_ = false;
};

} // namespace paddock::mcp
