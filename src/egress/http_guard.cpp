// SPDX-License-Identifier: MIT
#include "egress/http_guard.hpp"

#include "http/text.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/exec/host_list.hpp>

#include <algorithm>
#include <optional>

namespace paddock::egress {
namespace {

using detail::equal_ignoring_ascii_case;

constexpr std::size_t head_bytes_max = 64UL * 1024;
constexpr std::size_t line_bytes_max = 4UL * 1024;
constexpr std::size_t upgrade_bytes_max = 64UL * 1024;
constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";
constexpr std::string_view switching = "HTTP/1.1 101";

constexpr const char* not_http = "did not get an HTTP/1.1 request";
constexpr const char* ambiguous = "got a request whose end is ambiguous";
constexpr const char* other_host = "got a request for another host";
constexpr const char* too_long = "got a request head longer than 64 KiB";

/// CRLF line ends only: some parsers also end a line at a bare CR, LF or NUL.
bool has_plain_lines(std::string_view head) {
  for (std::size_t i = 0; i < head.size(); ++i) {
    const char c = head[i];
    if (c == '\0' || (c == '\n' && (i == 0 || head[i - 1] != '\r')) ||
        (c == '\r' && (i + 1 == head.size() || head[i + 1] != '\n')))
      return false;
  }
  return true;
}

/// A length, of which every parser makes the same.
std::optional<std::uint64_t> length_of(std::string_view text, int base) {
  const auto value = http::whole_number(text, base);
  return value && *value <= INT64_MAX ? value : std::nullopt;
}

/// The next line of the head, without its end.
std::string_view next_line(std::string_view& rest) {
  const auto end = rest.find(line_end);
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), line.size() + line_end.size()));
  return line;
}

/// The fields that decide the host and the end of a request.
struct head_fields {
  unsigned hosts = 0;
  unsigned lengths = 0;
  unsigned codings = 0;
  bool is_chunked = false;
  bool upgrades = false;
  std::optional<std::uint64_t> length;
  std::string_view host;
};

const char* note_field(std::string_view line, head_fields& seen) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !http::is_token(line.substr(0, colon))) return not_http;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = http::trim_blanks(line.substr(colon + 1));
  if (equal_ignoring_ascii_case(name, "host")) {
    ++seen.hosts;
    seen.host = value;
  } else if (equal_ignoring_ascii_case(name, "content-length")) {
    ++seen.lengths;
    seen.length = length_of(value, 10);
    if (!seen.length) return ambiguous;
  } else if (equal_ignoring_ascii_case(name, "transfer-encoding")) {
    ++seen.codings;
    seen.is_chunked = equal_ignoring_ascii_case(value, "chunked");
    if (!seen.is_chunked) return ambiguous;
  } else if (equal_ignoring_ascii_case(name, "upgrade")) {
    seen.upgrades |= equal_ignoring_ascii_case(value, "websocket");
  }
  return nullptr;
}

/// The head without offers of other protocols. A server that does not read the body would take it
/// for the next request: it is asked to close.
std::string kept_head(std::string_view head, bool has_body) {
  std::string kept(next_line(head));
  kept += line_end;
  while (!head.empty()) {
    const std::string_view line = next_line(head);
    const auto colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    const bool is_offer =
        equal_ignoring_ascii_case(name, "upgrade") &&
        !equal_ignoring_ascii_case(http::trim_blanks(line.substr(colon + 1)), "websocket");
    if (!is_offer && !(has_body && equal_ignoring_ascii_case(name, "connection")))
      kept.append(line).append(line_end);
  }
  return kept.append(has_body ? "Connection: close\r\n\r\n" : "\r\n");
}

} // namespace

const char* http_guard::take(std::string_view bytes, std::string& forward) {
  while (!bytes.empty())
    if (const char* wrong = take_some(bytes, forward); wrong != nullptr) return wrong;
  return nullptr;
}

const char* http_guard::take_some(std::string_view& bytes, std::string& forward) {
  switch (now_) {
  case part::head:
  case part::chunk_size:
  case part::trailer:
    return take_line(bytes, forward);
  case part::body:
  case part::chunk: {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    forward.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    left_ -= size;
    if (left_ != 0) return nullptr;
    if (now_ == part::body) {
      now_ = part::head;
      return nullptr;
    }
    if (bytes.empty()) return nullptr;
    line_ += bytes.front(); // the end of the line behind a chunk
    bytes.remove_prefix(1);
    if (!line_end.starts_with(line_)) return ambiguous;
    if (line_ != line_end) return nullptr;
    forward += line_end;
    line_.clear();
    now_ = part::chunk_size;
    return nullptr;
  }
  case part::upgrading:
    if (held_.size() + bytes.size() > upgrade_bytes_max)
      return "got more than 64 KiB before it answered an upgrade";
    held_.append(bytes);
    bytes = {};
    return nullptr;
  case part::tunnel:
    forward.append(bytes);
    bytes = {};
    return nullptr;
  }
  return not_http;
}

/// Adds to the line, or to the head, until its end has arrived; then it is judged and goes on.
const char* http_guard::take_line(std::string_view& bytes, std::string& forward) {
  const bool is_head = now_ == part::head;
  const std::string_view end = is_head ? head_end : line_end;
  const std::size_t searched = line_.size() < end.size() ? 0 : line_.size() - end.size();
  const std::size_t before = line_.size();
  line_.append(bytes.substr(0, (is_head ? head_bytes_max : line_bytes_max) + end.size()));
  const auto found = line_.find(end, searched);
  const std::size_t size = found == std::string::npos ? line_.size() : found + end.size();
  bytes.remove_prefix(size - before);
  line_.resize(size);
  if (size > (is_head ? head_bytes_max : line_bytes_max)) return too_long;
  if (found == std::string::npos) return nullptr;
  if (!has_plain_lines(line_)) return ambiguous;
  const char* wrong = nullptr;
  if (is_head)
    wrong = judge_head();
  else if (now_ == part::chunk_size)
    wrong = take_chunk_size();
  else if (line_ == line_end)
    now_ = part::head;
  if (wrong != nullptr) return wrong;
  forward += line_;
  line_.clear();
  return nullptr;
}

const char* http_guard::take_chunk_size() {
  const std::string_view line = std::string_view(line_).substr(0, line_.size() - line_end.size());
  const auto size = length_of(line.substr(0, line.find(';')), 16);
  if (!size) return ambiguous;
  left_ = *size;
  now_ = left_ == 0 ? part::trailer : part::chunk;
  return nullptr;
}

const char* http_guard::judge_head() {
  const std::string_view head = std::string_view(line_).substr(0, line_.size() - line_end.size());
  std::string_view rest = head;
  const std::string_view request = next_line(rest);
  const auto first = request.find(' ');
  const auto last = request.rfind(' ');
  if (first == std::string_view::npos || first == last || !http::is_token(request.substr(0, first)))
    return not_http;
  const std::string_view version = request.substr(last + 1);
  const bool is_old = version == "HTTP/1.0";
  if (!is_old && version != "HTTP/1.1") return not_http;
  const std::string_view method = request.substr(0, first);
  if (method == "CONNECT") return other_host;
  if (const char* wrong = judge_target(request.substr(first + 1, last - first - 1));
      wrong != nullptr)
    return wrong;
  head_fields seen;
  while (!rest.empty())
    if (const char* wrong = note_field(next_line(rest), seen); wrong != nullptr) return wrong;
  if (seen.hosts == 0) return "got a request without a Host";
  if (seen.hosts > 1) return ambiguous;
  if (!is_this_host(seen.host)) return other_host;
  if (seen.lengths + seen.codings > 1 || (is_old && seen.codings != 0)) return ambiguous;
  if (seen.upgrades && (!is_first_ || method != "GET" || seen.lengths + seen.codings != 0))
    return "got an upgrade that is not the first request, or not a GET";
  is_first_ = false;
  left_ = seen.length.value_or(0);
  line_ = kept_head(head, seen.is_chunked || left_ != 0);
  now_ = seen.upgrades     ? part::upgrading
         : seen.is_chunked ? part::chunk_size
         : left_ != 0      ? part::body
                           : part::head;
  return nullptr;
}

const char* http_guard::judge_target(std::string_view target) {
  constexpr std::string_view scheme = "http://";
  if (target.find_first_of(" \t") != std::string_view::npos || target.empty()) return not_http;
  if (target.front() == '/' || target == "*") return nullptr;
  if (!equal_ignoring_ascii_case(target.substr(0, scheme.size()), scheme)) return other_host;
  target.remove_prefix(scheme.size());
  return is_this_host(target.substr(0, target.find_first_of("/?#"))) ? nullptr : other_host;
}

bool http_guard::is_this_host(std::string_view authority) {
  std::string_view name = authority;
  const auto colon = name.rfind(':');
  bool is_port = true;
  if (colon != std::string_view::npos) {
    is_port = length_of(name.substr(colon + 1), 10) == port_;
    name = name.substr(0, colon);
  }
  if (is_port && folded_host_name(name) == host_) return true;
  asked_for_ = authority;
  return false;
}

const char* http_guard::answered(std::string_view bytes, std::string& forward) {
  if (now_ != part::upgrading) return nullptr;
  answer_.append(bytes.substr(0, switching.size() - std::min(answer_.size(), switching.size())));
  if (answer_.size() < switching.size()) return nullptr;
  now_ = answer_ == switching ? part::tunnel : part::head;
  const std::string held = std::move(held_);
  return take(held, forward);
}

} // namespace paddock::egress
