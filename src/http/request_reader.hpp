// SPDX-License-Identifier: MIT
#pragma once

// Reads HTTP/1.1 requests (RFC 9112), one after the other, in bounded memory. Pure: someone else
// reads the bytes, in pieces of any size. Stricter than the RFC asks for where two programs in a
// row could read the same bytes as different requests: lines end in CR LF, a header appears as one
// line, a body has one length.

#include "http/text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::http {

struct request_head : fields {
  std::string method;
  std::string target;
  int minor_version = 1;
};

class request_reader {
public:
  struct limits {
    std::size_t head_bytes_max = std::size_t{32} * 1024; ///< also of trailers
    std::uint64_t body_bytes_max = 0;
  };
  enum class step : std::uint8_t {
    more, ///< all bytes were taken
    head, ///< `head()` is complete
    body, ///< `body()` is the next piece of the body, a part of the bytes given
    end,  ///< the request is complete; bytes may be left over, which belong to the next one
    bad,  ///< not acceptable: `status()` and `problem()` say why. Nothing more can be read
  };

  explicit request_reader(limits l) : limits_(l) {}

  /// Takes bytes from the front of `bytes`. To be called once more after `head`, even without
  /// bytes.
  [[nodiscard]] step next(std::string_view& bytes);
  /// Makes ready for another request. Precondition: the last step was `end`.
  void restart();

  [[nodiscard]] const request_head& head() const noexcept { return head_; }
  [[nodiscard]] std::string_view body() const noexcept { return body_; }
  /// Of `bad`: the status to answer with, and a sentence.
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] const char* problem() const noexcept { return problem_; }

  /// Whether any byte of the request was seen.
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  [[nodiscard]] bool is_head_complete() const noexcept {
    return part_ > part::headers && part_ != part::failed;
  }
  // Valid after `head`.
  [[nodiscard]] bool has_body() const noexcept { return chunked_ || length_ > 0; }
  /// Whether the client waits for leave to send the body.
  [[nodiscard]] bool wants_continue() const noexcept { return wants_continue_; }
  /// Whether the client allows another request on this connection.
  [[nodiscard]] bool keeps_alive() const noexcept { return keeps_alive_; }

private:
  enum class part : std::uint8_t {
    request_line,
    headers,
    body_begin,
    sized_body,
    chunk_size,
    chunk,
    chunk_end,
    trailers,
    finished,
    failed,
  };

  [[nodiscard]] step fail(int status, const char* problem);
  enum class line_state : std::uint8_t { partial, whole, bad };
  [[nodiscard]] line_state take_line(std::string_view& bytes);
  [[nodiscard]] step on_line();
  [[nodiscard]] step on_request_line();
  [[nodiscard]] step on_header(std::string_view line);
  [[nodiscard]] step on_head_end();
  [[nodiscard]] step on_length(std::string_view value);
  [[nodiscard]] step on_chunk_size();
  [[nodiscard]] step take_body(std::string_view& bytes);

  limits limits_;
  part part_ = part::request_line;
  request_head head_;
  std::string line_;
  std::string_view body_;
  std::size_t line_bytes_ = 0; // of the head, the trailers, or one chunk's size
  std::uint64_t length_ = 0;
  std::uint64_t left_ = 0; // of the body, or the chunk
  std::uint64_t taken_ = 0;
  int status_ = 0;
  const char* problem_ = "";
  bool begun_ = false;
  bool blank_seen_ = false;
  bool chunked_ = false;
  bool wants_continue_ = false;
  bool keeps_alive_ = false;
};

} // namespace paddock::http
