// SPDX-License-Identifier: MIT
#include "http/request_reader.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace paddock::http {
namespace {

constexpr std::size_t headers_max = 100;
constexpr std::size_t target_bytes_max = 8192;
constexpr std::size_t chunk_line_bytes_max = 256;
constexpr std::size_t method_bytes_max = 32;

bool is_visible(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// The forms that servers get to see (RFC 9112, section 3.2).
bool has_form_of_target(std::string_view target) {
  return target.starts_with('/') || target == "*" ||
         ascii_lower(target.substr(0, 7)) == "http://" ||
         ascii_lower(target.substr(0, 8)) == "https://";
}

/// Takes a token or a quoted string from the front of `text`, and the blanks around it.
bool take_word(std::string_view& text, bool may_be_quoted) {
  text = trim_blanks(text);
  std::size_t end = 0;
  if (may_be_quoted && text.starts_with('"')) {
    for (end = 1; end < text.size() && text[end] != '"'; ++end)
      if (text[end] == '\\') ++end;
    if (end++ >= text.size()) return false;
  } else {
    while (end < text.size() && is_token(text.substr(end, 1)))
      ++end;
    if (end == 0) return false;
  }
  text = trim_blanks(text.substr(end));
  return true;
}

/// What may follow the size of a chunk (RFC 9112, section 7.1.1): *( ";" name [ "=" value ] ).
bool is_chunk_extension(std::string_view text) {
  if (text.ends_with(' ') || text.ends_with('\t')) return false;
  while (text.starts_with(';')) {
    text.remove_prefix(1);
    if (!take_word(text, false)) return false;
    if (!text.starts_with('=')) continue;
    text.remove_prefix(1);
    if (!take_word(text, true)) return false;
  }
  return text.empty();
}

/// Of all headers Connection; nothing when one of them is no list of tokens.
std::optional<std::vector<std::string>> connection_options(const request_head& head) {
  std::vector<std::string> out;
  for (const auto& [name, value] : head.headers) {
    if (name != "connection") continue;
    const bool bad = any_item(value, [&](std::string_view item) {
      item = trim_blanks(item);
      if (!item.empty()) out.push_back(ascii_lower(item));
      return !item.empty() && !is_token(item);
    });
    if (bad) return std::nullopt;
  }
  return out;
}

} // namespace

void request_reader::restart() {
  *this = request_reader(limits_);
}

request_reader::step request_reader::fail(int status, const char* problem) {
  status_ = status;
  problem_ = problem;
  keeps_alive_ = false;
  part_ = part::failed;
  return step::bad;
}

/// Moves a line to `line_`, without its end.
request_reader::line_state request_reader::take_line(std::string_view& bytes) {
  const bool in_chunks = part_ == part::chunk_size || part_ == part::chunk_end;
  const std::size_t max = in_chunks ? chunk_line_bytes_max : limits_.head_bytes_max;
  const std::size_t newline = bytes.find('\n');
  const std::size_t taken = newline == std::string_view::npos ? bytes.size() : newline + 1;
  if (taken > max - std::min(line_bytes_, max)) {
    (void)fail(in_chunks ? 400 : 431, in_chunks ? "the line of a chunk's size is too long"
                                                : "the request's head is too long");
    return line_state::bad;
  }
  line_ += bytes.substr(0, taken);
  line_bytes_ += taken;
  bytes.remove_prefix(taken);
  if (newline == std::string_view::npos) return line_state::partial;
  line_.pop_back();
  if (!line_.ends_with('\r')) {
    (void)fail(400, "a line ends in LF without CR");
    return line_state::bad;
  }
  line_.pop_back();
  return line_state::whole;
}

request_reader::step request_reader::next(std::string_view& bytes) {
  for (;;) {
    if (part_ == part::failed) return step::bad;
    if (part_ == part::body_begin)
      part_ = chunked_ ? part::chunk_size : length_ > 0 ? part::sized_body : part::finished;
    if (part_ == part::finished) return step::end;
    if (bytes.empty()) return step::more;
    begun_ = true;
    if (part_ == part::sized_body || part_ == part::chunk) return take_body(bytes);
    const line_state line = take_line(bytes);
    if (line == line_state::bad) return step::bad;
    if (line == line_state::partial) return step::more;
    const step s = on_line();
    line_.clear();
    if (s != step::more) return s;
  }
}

request_reader::step request_reader::on_line() {
  switch (part_) {
  case part::request_line:
    return on_request_line();
  case part::headers:
    return line_.empty() ? on_head_end() : on_header(line_);
  case part::chunk_size:
    return on_chunk_size();
  case part::chunk_end:
    if (!line_.empty()) return fail(400, "a chunk is longer than it says");
    line_bytes_ = 0;
    part_ = part::chunk_size;
    return step::more;
  case part::trailers:
    if (line_.empty()) {
      part_ = part::finished;
      return step::more;
    }
    return on_header(line_);
  case part::body_begin:
  case part::sized_body:
  case part::chunk:
  case part::finished:
  case part::failed:
    break;
  }
  return fail(400, "the request goes on after its end");
}

request_reader::step request_reader::on_request_line() {
  if (line_.empty() && !blank_seen_) { // some clients send one after a body
    blank_seen_ = true;
    return step::more;
  }
  const std::string_view line = line_;
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return fail(400, "the first line is not: method, target, version");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || method.size() > method_bytes_max)
    return fail(400, "the method is not one");
  if (!is_visible(target)) return fail(400, "the target has blanks or other than visible ASCII");
  if (!has_form_of_target(target)) return fail(400, "the target is not a path, an address or *");
  if (target.size() > target_bytes_max) return fail(414, "the target is too long");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    const bool of_http = version.size() == 8 && version.starts_with("HTTP/") && version[6] == '.' &&
                         whole_number(version.substr(5, 1), 10) &&
                         whole_number(version.substr(7, 1), 10);
    return of_http ? fail(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
                   : fail(400, "the version of HTTP is not one");
  }
  head_.method = method;
  head_.target = target;
  head_.minor_version = version.back() - '0';
  part_ = part::headers;
  return step::more;
}

/// Of the head; those of trailers are checked and dropped.
request_reader::step request_reader::on_header(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return fail(400, "a header is folded");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return fail(400, "a header's name is not one, or blanks follow it");
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (has_control_characters(value)) return fail(400, "a header has control characters");
  if (part_ == part::trailers) {
    const std::string name = ascii_lower(line.substr(0, colon));
    if (name == "content-length" || name == "transfer-encoding")
      return fail(400, "a trailer says how long the body is");
    return step::more;
  }
  if (head_.headers.size() == headers_max) return fail(431, "the request has too many headers");
  head_.headers.emplace_back(ascii_lower(line.substr(0, colon)), value);
  return step::more;
}

request_reader::step request_reader::on_head_end() {
  line_bytes_ = 0;
  const auto options = connection_options(head_);
  if (!options) return fail(400, "the header Connection is not a list of names");
  const auto asks_for = [&](std::string_view what) {
    return std::ranges::count(*options, what) > 0;
  };
  keeps_alive_ = head_.minor_version == 1 ? !asks_for("close") : asks_for("keep-alive");
  const std::size_t encodings = head_.count("transfer-encoding");
  const std::size_t lengths = head_.count("content-length");
  if (encodings > 0 && lengths > 0) return fail(400, "the body is both chunked and of a length");
  if (encodings > 0) {
    if (head_.minor_version == 0) return fail(400, "HTTP/1.0 has no transfer encodings");
    if (encodings > 1 || ascii_lower(head_.header("transfer-encoding")) != "chunked")
      return fail(501, "the transfer encoding is not known; use chunked, or a length");
    chunked_ = true;
  }
  if (lengths > 1) return fail(400, "the body has more than one length");
  if (lengths == 1)
    if (const step s = on_length(head_.header("content-length")); s == step::bad) return s;
  if (const std::string_view expected = head_.header("expect"); !expected.empty()) {
    if (ascii_lower(expected) != "100-continue")
      return fail(417, "the only expectation that is met is 100-continue");
    wants_continue_ = head_.minor_version == 1 && has_body();
  }
  part_ = part::body_begin;
  return step::head;
}

request_reader::step request_reader::on_length(std::string_view value) {
  const bool digits =
      std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  const auto n = whole_number(value, 10);
  if (value.empty() || !digits) return fail(400, "the length is not a number");
  if (!n || *n > limits_.body_bytes_max) return fail(413, "the body is too long");
  length_ = left_ = *n;
  return step::more;
}

request_reader::step request_reader::on_chunk_size() {
  const std::string_view line = line_;
  const std::string_view digits = line.substr(0, line.find(';'));
  const auto size = whole_number(digits, 16);
  if (size && !is_chunk_extension(line.substr(digits.size())))
    return fail(400, "what follows the size of a chunk is not an extension");
  if (!size || digits.size() > 16 || has_control_characters(line))
    return fail(400, "the size of a chunk is not a number");
  if (*size > limits_.body_bytes_max - taken_) return fail(413, "the body is too long");
  line_bytes_ = 0;
  left_ = *size;
  part_ = left_ == 0 ? part::trailers : part::chunk;
  return step::more;
}

request_reader::step request_reader::take_body(std::string_view& bytes) {
  const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
  left_ -= taken;
  taken_ += taken;
  body_ = bytes.substr(0, taken);
  bytes.remove_prefix(taken);
  if (left_ == 0) part_ = part_ == part::chunk ? part::chunk_end : part::finished;
  return step::body;
}

} // namespace paddock::http
