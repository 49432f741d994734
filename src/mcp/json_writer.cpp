// SPDX-License-Identifier: MIT
#include <paddock/mcp/json.hpp>

#include <simdjson.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace paddock::mcp {
namespace {

static_assert(std::endian::native == std::endian::little, "first_escape counts from the low end");

constexpr std::uint64_t every_byte(unsigned char b) {
  return 0x0101010101010101u * b;
}

/// Sets the high bit of each byte below `bound` (at most 0x80); bytes above the lowest hit may be
/// set wrongly.
constexpr std::uint64_t below(std::uint64_t word, unsigned char bound) {
  return (word - every_byte(bound)) & ~word & every_byte(0x80);
}

constexpr bool needs_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

/// How many leading bytes of `text` can be copied as they are.
std::size_t plain_prefix(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    const std::uint64_t hits =
        below(word, 0x20) | below(word ^ every_byte('"'), 1) | below(word ^ every_byte('\\'), 1);
    if (hits != 0) return at + static_cast<unsigned>(std::countr_zero(hits)) / 8;
  }
  while (at < text.size() && !needs_escape(text[at]))
    ++at;
  return at;
}

void append_escape(std::string& out, char c) {
  switch (c) {
  case '"':
    out += "\\\"";
    return;
  case '\\':
    out += "\\\\";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\t':
    out += "\\t";
    return;
  case '\b':
    out += "\\b";
    return;
  case '\f':
    out += "\\f";
    return;
  default:
    break;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

/// Appends `text`, which is UTF-8, escaped.
void append_escaped(std::string& out, std::string_view text) {
  for (;;) {
    const std::size_t plain = plain_prefix(text);
    out.append(text.data(), plain);
    if (plain == text.size()) return;
    append_escape(out, text[plain]);
    text.remove_prefix(plain + 1);
  }
}

struct sequence {
  std::size_t bytes;
  bool valid;
};

/// The character at the beginning of `text`, or the maximal part of one (Unicode, table 3-7 and
/// "U+FFFD Substitution of Maximal Subparts").
sequence first_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size()) return {i, false};
    const bool good = i == 1 ? byte(i) >= low && byte(i) <= high : (byte(i) & 0xC0) == 0x80;
    if (!good) return {i, false};
  }
  return {length, true};
}

void append_replaced(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const sequence s = first_sequence(text);
    if (s.valid)
      append_escaped(out, text.substr(0, s.bytes));
    else
      out += "\xEF\xBF\xBD";
    text.remove_prefix(s.bytes);
  }
}

} // namespace

void json_writer::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

json_writer& json_writer::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  string(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

json_writer& json_writer::string(std::string_view value) {
  separate();
  out_ += '"';
  if (simdjson::validate_utf8(value.data(), value.size()))
    append_escaped(out_, value);
  else
    append_replaced(out_, value);
  out_ += '"';
  return *this;
}

json_writer& json_writer::integer(std::int64_t value) {
  separate();
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
  return *this;
}

json_writer& json_writer::unsigned_integer(std::uint64_t value) {
  separate();
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
  return *this;
}

json_writer& json_writer::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
  return *this;
}

json_writer& json_writer::boolean(bool value) {
  return raw(value ? "true" : "false");
}

json_writer& json_writer::null() {
  return raw("null");
}

json_writer& json_writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

} // namespace paddock::mcp
