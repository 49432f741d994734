// SPDX-License-Identifier: MIT
#pragma once

// One request as our reader and Boost.Beast read it, and where they may differ: we may refuse more,
// for listed reasons; where both accept, they read the same.

#include "http/request_reader.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

struct request_read {
  enum class end : std::uint8_t { whole, incomplete, refused };
  end ended = end::incomplete;
  std::string why; ///< of a refusal
  std::string method;
  std::string target;
  int minor_version = 0;
  std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case
  std::string body;
  std::size_t used = 0; ///< bytes; what follows is the next request

  [[nodiscard]] bool says_the_same_as(const request_read& other) const {
    return method == other.method && target == other.target &&
           minor_version == other.minor_version && headers == other.headers && body == other.body &&
           used == other.used;
  }
  friend std::ostream& operator<<(std::ostream& out, const request_read& r) {
    out << (r.ended == end::whole     ? "whole"
            : r.ended == end::refused ? "refused: "
                                      : "incomplete")
        << r.why << " [" << r.method << "] [" << r.target << "] 1." << r.minor_version;
    for (const auto& [name, value] : r.headers)
      out << " [" << name << "]=[" << value << "]";
    return out << " body [" << r.body << "] used " << r.used;
  }
};

inline request_read read_by_us(std::string_view stream) {
  using step = http::request_reader::step;
  http::request_reader reader({.head_bytes_max = 8192, .body_bytes_max = 4096});
  request_read out;
  std::string_view bytes = stream;
  for (;;) {
    const step s = reader.next(bytes);
    if (s == step::body) out.body += reader.body();
    if (s == step::more) return out;
    if (s == step::bad) {
      out.ended = request_read::end::refused;
      out.why = reader.problem();
      return out;
    }
    if (s == step::end) break;
  }
  out.ended = request_read::end::whole;
  out.method = reader.head().method;
  out.target = reader.head().target;
  out.minor_version = reader.head().minor_version;
  out.headers = reader.head().headers;
  out.used = stream.size() - bytes.size();
  return out;
}

/// Collects what Beast reads.
class beast_reader final : public boost::beast::http::basic_parser<true> {
public:
  request_read out;

private:
  using code = boost::beast::error_code;
  using text = boost::beast::string_view;
  bool in_trailers_ = false;

  void on_request_impl(boost::beast::http::verb, text method, text target, int version,
                       code& ec) override {
    out.method.assign(method.data(), method.size());
    out.target.assign(target.data(), target.size());
    out.minor_version = version - 10;
    ec = {};
  }
  void on_response_impl(int, text, int, code&) override {}
  void on_field_impl(boost::beast::http::field, text name, text value, code& ec) override {
    ec = {};
    if (!in_trailers_)
      out.headers.emplace_back(http::ascii_lower({name.data(), name.size()}),
                               std::string(value.data(), value.size()));
  }
  void on_header_impl(code& ec) override {
    in_trailers_ = true;
    ec = {};
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, code& ec) override { ec = {}; }
  std::size_t on_body_impl(text bytes, code& ec) override {
    ec = {};
    out.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, text, code& ec) override { ec = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, text bytes, code& ec) override {
    return on_body_impl(bytes, ec);
  }
  void on_finish_impl(code& ec) override { ec = {}; }
};

inline request_read read_by_beast(std::string_view stream) {
  beast_reader parser;
  parser.eager(true);
  parser.header_limit(1024 * 1024);
  parser.body_limit(1024 * 1024);
  std::size_t used = 0;
  while (!parser.is_done()) { // it stops between the parts of a request
    boost::beast::error_code problem;
    const std::size_t n =
        parser.put(boost::asio::const_buffer(stream.data() + used, stream.size() - used), problem);
    used += n;
    if (problem == boost::beast::http::error::need_more || (!problem && n == 0)) return parser.out;
    if (problem) {
      parser.out.ended = request_read::end::refused;
      parser.out.why = problem.message();
      return parser.out;
    }
  }
  parser.out.ended = request_read::end::whole;
  parser.out.used = used;
  return parser.out;
}

/// What we refuse and Beast accepts, and why we do.
struct stricter {
  std::string_view problem;
  std::string_view reason;
};
inline constexpr stricter stricter_classes[] = {
    {"a header is folded", "RFC 9112, 5.2: programs disagree on where a folded value ends"},
    {"HTTP/1.0 has no transfer encodings", "RFC 9112, 6.1: its framing is to be taken as faulty"},
    {"the body has more than one length", "RFC 9112, 6.3: some take the first, some the last"},
    {"the body is both chunked and of a length",
     "RFC 9112, 6.3: some take the one, some the other"},
    {"the length is not a number",
     "a list of equal lengths, which programs take apart differently"},
    {"the transfer encoding is not known; use chunked, or a length",
     "Beast takes what it does not know for no body at all"},
    {"the size of a chunk is not a number", "blanks behind it, which some take for a part of it"},
    {"the line of a chunk's size is too long", "a bound"},
    {"what follows the size of a chunk is not an extension", "blanks where no name follows"},
    {"the only expectation that is met is 100-continue", "RFC 9110, 10.1.1: answered with 417"},
    {"the request's head is too long", "a bound"},
    {"the request has too many headers", "a bound"},
    {"the body is too long", "a bound"},
    {"the method is not one", "a bound: 32 bytes"},
    {"the target is too long", "a bound"},
    {"the target has blanks or other than visible ASCII", "RFC 3986, 2: to be escaped"},
    {"the target is not a path, an address or *", "RFC 9112, 3.2: CONNECT is not served"},
    {"a line ends in LF without CR",
     "LF in the quoted text of an extension: smuggling lives there"},
    {"a header has control characters", "RFC 9110, 5.5: dangerous in what is shown or passed on"},
};

/// What we accept and Beast refuses: where a request says it, and why that is harmless.
struct looser {
  std::string_view beast_says;
  bool (*applies)(std::string_view stream);
  std::string_view reason;
};
inline constexpr looser looser_classes[] = {
    {"bad method", [](std::string_view stream) { return stream.starts_with("\r\n"); },
     "RFC 9112, 2.2: one empty line before a request is skipped"},
};

/// Nothing when they agree as far as they have to; else the difference.
inline std::optional<std::string> difference(const request_read& ours, const request_read& beast,
                                             std::string_view stream) {
  using end = request_read::end;
  if (ours.ended == end::whole && beast.ended == end::whole)
    return ours.says_the_same_as(beast) ? std::nullopt
                                        : std::optional<std::string>("both accept, differently");
  if (ours.ended == end::whole) {
    for (const looser& each : looser_classes)
      if (beast.ended == end::refused && each.beast_says == beast.why && each.applies(stream))
        return std::nullopt;
    return "only we accept";
  }
  if (beast.ended != end::whole) return std::nullopt; // neither accepts
  if (ours.ended == end::incomplete) return "only we wait for more";
  for (const stricter& each : stricter_classes)
    if (each.problem == ours.why) return std::nullopt;
  return "we refuse for a reason that is not listed";
}

} // namespace paddock::test
