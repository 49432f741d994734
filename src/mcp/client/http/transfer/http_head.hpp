// SPDX-License-Identifier: MIT
#pragma once

// The head of an HTTP response, line by line as libcurl hands it over, in bounded memory. Pure.
// Strict where leniency is how responses are smuggled: folded lines, blanks before the colon, two
// lengths.

#include "http/text.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace paddock::mcp {

struct http_head : http::fields {
  int status = 0;
};

class http_head_reader {
public:
  enum class step : std::uint8_t {
    more,
    head, ///< `head()` is complete; what follows are trailers
    bad,  ///< this is no answer; `problem()` says why
  };

  /// Who speaks HTTP/2 has agreed on that during the handshake of TLS, so others only pretend.
  explicit http_head_reader(bool over_tls) : over_tls_(over_tls) {}

  /// Of all lines, those of interim answers and trailers included.
  static constexpr std::size_t head_bytes_max = std::size_t{64} * 1024;

  /// `line` with its end.
  [[nodiscard]] step next(std::string_view line);

  [[nodiscard]] const http_head& head() const noexcept { return head_; }
  [[nodiscard]] const char* problem() const noexcept { return problem_; }
  [[nodiscard]] bool is_complete() const noexcept { return part_ == part::trailers; }

private:
  enum class part : std::uint8_t { status_line, headers, trailers };

  [[nodiscard]] step fail(const char* problem);
  [[nodiscard]] step on_status_line(std::string_view line);
  [[nodiscard]] step on_header(std::string_view line);
  [[nodiscard]] step on_end();

  const bool over_tls_;
  part part_ = part::status_line;
  http_head head_;
  std::size_t bytes_ = 0;
  const char* problem_ = "";
};

} // namespace paddock::mcp
