// SPDX-License-Identifier: MIT
#include "mcp/client/http/transfer/http_head.hpp"

#include <string>

namespace paddock::mcp {
namespace {

constexpr std::size_t headers_max = 256;
constexpr std::size_t status_digits = 3;

} // namespace

http_head_reader::step http_head_reader::fail(const char* problem) {
  problem_ = problem;
  return step::bad;
}

http_head_reader::step http_head_reader::next(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > head_bytes_max) return fail("the head of the answer is too long");
  if (!line.ends_with('\n')) return fail("the connection ended in the middle of the answer");
  line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  switch (part_) {
  case part::status_line:
    return on_status_line(line);
  case part::headers:
    return line.empty() ? on_end() : on_header(line);
  case part::trailers:
    break;
  }
  return step::more;
}

http_head_reader::step http_head_reader::on_status_line(std::string_view line) {
  const std::size_t blank = line.find(' ');
  const std::string_view version = line.substr(0, blank);
  if (blank == std::string_view::npos ||
      (version != "HTTP/1.0" && version != "HTTP/1.1" && !(version == "HTTP/2" && over_tls_)))
    return fail("the answer is not HTTP");
  line.remove_prefix(blank + 1);
  const auto status = http::whole_number(line.substr(0, status_digits), 10);
  if (!status || *status < 100 || *status > 599 ||
      (line.size() > status_digits && line[status_digits] != ' '))
    return fail("the status of the answer is not a number");
  head_.status = static_cast<int>(*status);
  part_ = part::headers;
  return step::more;
}

http_head_reader::step http_head_reader::on_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !http::is_token(line.substr(0, colon)))
    return fail("a header has no name");
  const std::string_view value = http::trim_blanks(line.substr(colon + 1));
  if (value.find_first_of(std::string_view("\0\r", 2)) != std::string_view::npos)
    return fail("a header has control characters");
  if (head_.headers.size() == headers_max) return fail("the answer has too many headers");
  std::string name = http::ascii_lower(line.substr(0, colon));
  const bool is_coding = name == "transfer-encoding";
  if (name == "content-length" && !http::whole_number(value, 10))
    return fail("the length of the answer is not a number");
  if (name == "content-length" && head_.count(name) != 0 && head_.header(name) != value)
    return fail("the answer has two lengths");
  if (is_coding && (head_.count(name) != 0 || http::ascii_lower(value) != "chunked"))
    return fail("the transfer encoding is not known");
  head_.headers.emplace_back(std::move(name), value);
  return step::more;
}

http_head_reader::step http_head_reader::on_end() {
  if (head_.status == 101) return fail("the server wants to speak something else than HTTP");
  if (head_.count("transfer-encoding") != 0 && head_.count("content-length") != 0)
    return fail("the answer is both chunked and of a length");
  if (head_.status < 200) { // an interim answer; the real one follows
    head_ = {};
    part_ = part::status_line;
    return step::more;
  }
  part_ = part::trailers;
  return step::head;
}

} // namespace paddock::mcp
