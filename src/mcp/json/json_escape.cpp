// SPDX-License-Identifier: MIT
#include "mcp/json/json_escape.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace paddock::mcp {
namespace {

constexpr bool needs_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

// The high bit of each byte of a block that cannot be copied as it is.
using block = std::uint64_t;
constexpr std::size_t block_bytes = 8;
static_assert(std::endian::native == std::endian::little, "first_of counts from the low end");

constexpr block every_byte(unsigned char b) {
  return 0x0101010101010101u * b;
}
block load(const char* from) {
  block b;
  std::memcpy(&b, from, sizeof b);
  return b;
}
void store(char* to, block b) {
  std::memcpy(to, &b, sizeof b);
}
/// Sets the high bit of each byte below `bound` (at most 0x80); no carry crosses into the next
/// byte.
constexpr block below(block b, unsigned char bound) {
  return ~(((b & every_byte(0x7F)) + every_byte(static_cast<unsigned char>(0x80 - bound))) | b) &
         every_byte(0x80);
}
block escapes_in(block b) {
  return below(b, 0x20) | below(b ^ every_byte('"'), 1) | below(b ^ every_byte('\\'), 1);
}
block beyond_ascii_in(block b) {
  return b & every_byte(0x80);
}
std::size_t first_of(block hits) {
  return static_cast<std::size_t>(std::countr_zero(hits)) / 8;
}
block without_first(block hits) {
  return hits & (hits - 1);
}

/// How many leading bytes are ASCII that needs no escape.
std::size_t plain_prefix(std::string_view text) {
  std::size_t at = 0;
  for (; at + block_bytes <= text.size(); at += block_bytes) {
    const block b = load(text.data() + at);
    if (const auto hits = escapes_in(b) | beyond_ascii_in(b); hits != 0) return at + first_of(hits);
  }
  while (at < text.size() && !needs_escape(text[at]) && static_cast<unsigned char>(text[at]) < 0x80)
    ++at;
  return at;
}

constexpr std::size_t escape_bytes_max = 6;

/// Writes the escape of a control character; the end of it.
char* write_control(char* to, char c) {
  constexpr std::string_view short_forms = "\nn\rr\tt\bb\ff";
  *to++ = '\\';
  for (std::size_t i = 0; i < short_forms.size(); i += 2) {
    if (short_forms[i] != c) continue;
    *to++ = short_forms[i + 1];
    return to;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  std::memcpy(to, "u00", 3);
  to[3] = digits[byte >> 4];
  to[4] = digits[byte & 15];
  return to + 5;
}

char* write_escape(char* to, char c) {
  if (c != '"' && c != '\\') return write_control(to, c);
  to[0] = '\\';
  to[1] = c;
  return to + 2;
}

/// Appends `text`, which is UTF-8, escaped.
void append_escaped(std::string& out, std::string_view text) {
  constexpr std::size_t chunk_bytes = 512;
  std::array<char, chunk_bytes * escape_bytes_max + block_bytes> buffer;
  while (!text.empty()) {
    const char* from = text.data();
    const char* const end = from + std::min(text.size(), chunk_bytes);
    char* to = buffer.data();
    // Each piece between two escapes is copied as a whole block of which only a part counts, so
    // that no step waits for the length of the one before.
    for (; from + 2 * block_bytes <= end; from += block_bytes) {
      std::size_t done = 0;
      for (auto hits = escapes_in(load(from)); hits != 0; hits = without_first(hits)) {
        const std::size_t at = first_of(hits);
        store(to, load(from + done));
        to = write_escape(to + (at - done), from[at]);
        done = at + 1;
      }
      store(to, load(from + done));
      to += block_bytes - done;
    }
    for (; from != end; ++from)
      if (needs_escape(*from))
        to = write_escape(to, *from);
      else
        *to++ = *from;
    out.append(buffer.data(), to);
    text.remove_prefix(static_cast<std::size_t>(from - text.data()));
  }
}

struct sequence {
  std::size_t bytes;
  bool valid;
};

/// The character at the beginning of `text`, or the maximal part of one (Unicode, table 3-7).
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

void append_json_string(std::string& out, std::string_view value) {
  out += '"';
  const std::size_t plain = plain_prefix(value);
  out.append(value, 0, plain);
  if (plain != value.size()) {
    const std::string_view rest = value.substr(plain);
    if (simdjson::validate_utf8(rest.data(), rest.size()))
      append_escaped(out, rest);
    else
      append_replaced(out, rest);
  }
  out += '"';
}

} // namespace paddock::mcp
