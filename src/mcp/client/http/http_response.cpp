// SPDX-License-Identifier: MIT
#include "mcp/client/http/http_response.hpp"

#include "mcp/protocol/http_text.hpp"

#include <algorithm>
#include <optional>

namespace paddock::mcp {
namespace {

constexpr std::size_t headers_max = 256;

bool has_no_body(int status) {
  return status == 204 || status == 304;
}

} // namespace

http_response_reader::step http_response_reader::fail(const char* problem) {
  problem_ = problem;
  reusable_ = false;
  part_ = part::finished;
  return step::bad;
}

/// Moves a whole line to `line_`, without its end; false when its end is not there yet.
bool http_response_reader::take_line(std::string_view& bytes) {
  const std::size_t newline = bytes.find('\n');
  const std::size_t taken = newline == std::string_view::npos ? bytes.size() : newline + 1;
  // One byte beyond the bound is kept, so that it shows.
  const std::size_t room = head_bytes_max + 1 - std::min(head_bytes_, head_bytes_max + 1);
  line_ += bytes.substr(0, std::min(taken, room));
  head_bytes_ += taken;
  bytes.remove_prefix(taken);
  if (newline == std::string_view::npos) return false;
  if (line_.ends_with('\n')) line_.pop_back();
  if (line_.ends_with('\r')) line_.pop_back();
  return true;
}

http_response_reader::step http_response_reader::next(std::string_view& bytes) {
  while (!bytes.empty() || part_ == part::finished) {
    begun_ = true;
    step s = step::more;
    switch (part_) {
    case part::finished:
      return *problem_ != '\0' ? step::bad : step::end;
    case part::sized_body:
    case part::chunk:
    case part::body_until_end:
      return take_body(bytes);
    case part::status_line:
    case part::headers:
    case part::chunk_size:
    case part::chunk_end:
    case part::trailers:
      const bool whole = take_line(bytes);
      if (head_bytes_ > head_bytes_max) return fail("the head of the answer is too long");
      if (!whole) return step::more;
      s = on_line();
      line_.clear();
      break;
    }
    if (s != step::more) return s;
  }
  return step::more;
}

http_response_reader::step http_response_reader::on_line() {
  switch (part_) {
  case part::status_line:
    return on_status_line();
  case part::headers:
    return line_.empty() ? on_head_end() : on_header();
  case part::chunk_size:
    return on_chunk_size();
  case part::chunk_end:
    if (!line_.empty()) return fail("a chunk is longer than it says");
    head_bytes_ = 0;
    part_ = part::chunk_size;
    return step::more;
  case part::trailers:
    if (!line_.empty()) return step::more;
    part_ = part::finished;
    return step::end;
  case part::sized_body:
  case part::body_until_end:
  case part::chunk:
  case part::finished:
    break;
  }
  return fail("the answer goes on after its end");
}

http_response_reader::step http_response_reader::on_status_line() {
  const std::string_view line = line_;
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ' ||
      (line.size() > 12 && line[12] != ' '))
    return fail("the answer is not HTTP/1.1");
  const auto status = whole_number(line.substr(9, 3), 10);
  if (!status || *status < 100 || *status > 599) return fail("the status is not a number");
  head_.status = static_cast<int>(*status);
  reusable_ = line[7] == '1';
  part_ = part::headers;
  return step::more;
}

http_response_reader::step http_response_reader::on_header() {
  const std::string_view line = line_;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return fail("a header has no name");
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (value.find_first_of(std::string_view("\0\r", 2)) != std::string_view::npos)
    return fail("a header has control characters");
  if (head_.headers.size() == headers_max) return fail("the answer has too many headers");
  head_.headers.emplace_back(ascii_lower(line.substr(0, colon)), value);
  return step::more;
}

http_response_reader::step http_response_reader::on_head_end() {
  if (head_.status == 101) return fail("the server wants to speak something else than HTTP");
  head_bytes_ = 0;
  if (head_.status < 200) { // an interim answer; the real one follows
    head_ = {};
    part_ = part::status_line;
    return step::more;
  }
  if (!choose_framing()) return step::bad;
  return step::head;
}

/// How the body's end is known (RFC 9112, section 6.3).
bool http_response_reader::choose_framing() {
  std::optional<std::string_view> length;
  bool encoded = false;
  bool chunked = false;
  for (const auto& [name, value] : head_.headers) {
    if (name == "connection" && list_contains(value, "close")) reusable_ = false;
    if (name == "transfer-encoding") {
      chunked = !encoded && ascii_lower(value) == "chunked";
      encoded = true;
    }
    if (name == "content-length") {
      if (length && *length != value) return (void)fail("the answer has two lengths"), false;
      length = value;
    }
  }
  if (encoded && !chunked) return (void)fail("the transfer encoding is not known"), false;
  if (encoded && length) return (void)fail("the answer is both chunked and of a length"), false;
  if (has_no_body(head_.status)) {
    part_ = part::finished;
  } else if (chunked) {
    part_ = part::chunk_size;
  } else if (length) {
    const auto n = whole_number(*length, 10);
    if (!n) return (void)fail("the length is not a number"), false;
    left_ = *n;
    part_ = left_ == 0 ? part::finished : part::sized_body;
  } else {
    reusable_ = false;
    part_ = part::body_until_end;
  }
  return true;
}

http_response_reader::step http_response_reader::on_chunk_size() {
  const std::string_view line = line_;
  const auto size = whole_number(trim_blanks(line.substr(0, line.find(';'))), 16);
  if (!size) return fail("the size of a chunk is not a number");
  head_bytes_ = 0;
  left_ = *size;
  part_ = left_ == 0 ? part::trailers : part::chunk;
  return step::more;
}

http_response_reader::step http_response_reader::take_body(std::string_view& bytes) {
  std::size_t taken = bytes.size();
  if (part_ != part::body_until_end) {
    taken = static_cast<std::size_t>(std::min<std::uint64_t>(taken, left_));
    left_ -= taken;
  }
  body_ = bytes.substr(0, taken);
  bytes.remove_prefix(taken);
  if (part_ == part::sized_body && left_ == 0) part_ = part::finished;
  if (part_ == part::chunk && left_ == 0) part_ = part::chunk_end;
  return step::body;
}

http_response_reader::step http_response_reader::at_end() {
  if (part_ == part::finished) return *problem_ != '\0' ? step::bad : step::end;
  if (part_ == part::body_until_end) {
    part_ = part::finished;
    return step::end;
  }
  return fail(begun_ ? "the connection ended in the middle of the answer"
                     : "the connection ended without an answer");
}

} // namespace paddock::mcp
