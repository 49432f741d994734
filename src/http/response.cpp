// SPDX-License-Identifier: MIT
#include "http/response.hpp"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <utility>

namespace paddock::http {
namespace {

constexpr std::pair<int, std::string_view> reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

std::string_view reason_of(int status) {
  for (const auto& [number, text] : reasons)
    if (number == status) return text;
  return "Error";
}

/// The value of Date (RFC 9110, section 5.6.7).
std::string date_now() {
  using namespace std::chrono;
  static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto now = floor<seconds>(system_clock::now());
  const auto day = floor<std::chrono::days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(now - day);
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02u %s %04d %02ld:%02ld:%02ld GMT",
                days[weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                static_cast<long>(time.hours().count()), static_cast<long>(time.minutes().count()),
                static_cast<long>(time.seconds().count()));
  return text;
}

std::string begin(const response_head& head) {
  std::string out = "HTTP/1.1 " + std::to_string(head.status) + " ";
  out.append(reason_of(head.status)).append("\r\nDate: ").append(date_now()).append("\r\n");
  out.append(head.lines);
  if (head.status == 503) out.append("Retry-After: 1\r\n");
  if (head.close) out.append("Connection: close\r\n");
  return out;
}

} // namespace

std::string whole_response(const response_head& head, std::string_view type,
                           std::string_view body) {
  std::string out = begin(head);
  out.reserve(out.size() + body.size() + 160);
  if (!type.empty()) out.append("Content-Type: ").append(type).append("\r\n");
  out.append("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
  if (head.status != 204)
    out.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  return out.append("\r\n").append(head.to_head ? std::string_view() : body);
}

std::string stream_head(const response_head& head, framing f) {
  std::string out = begin(head);
  if (f == framing::chunked) out.append("Transfer-Encoding: chunked\r\n");
  return out.append("\r\n");
}

std::string stream_piece(std::string_view bytes, framing f) {
  if (f == framing::until_close) return std::string(bytes);
  char size[16];
  const auto [end, status] = std::to_chars(size, size + sizeof size, bytes.size(), 16);
  std::string out;
  out.reserve(bytes.size() + 16);
  return out.append(size, end).append("\r\n").append(bytes).append("\r\n");
}

std::string_view stream_end(framing f) noexcept {
  return f == framing::chunked ? "0\r\n\r\n" : "";
}

} // namespace paddock::http
