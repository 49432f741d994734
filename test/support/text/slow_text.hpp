// SPDX-License-Identifier: MIT
#pragma once

// What texts mean, said as slowly and obviously as possible, to judge the fast code by. Written
// from the standards (RFC 3629 for UTF-8), and sharing no line with the product: this header
// includes nothing of paddock, and must not.

#include "support/campaign.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::slow {

/// One step of decoding: a character, or a byte that is part of none.
struct unit {
  std::string_view bytes;
  std::uint32_t code = 0;
  bool valid = false;
};

/// The bytes of a number as UTF-8 would write it, surrogates and too large ones included.
inline std::string encoded(std::uint32_t code) {
  const auto tail = [](std::uint32_t part) { return static_cast<char>(128 + part % 64); };
  if (code <= 0x7F) return {static_cast<char>(code)};
  if (code <= 0x7FF) return {static_cast<char>(192 + code / 64), tail(code)};
  if (code <= 0xFFFF) return {static_cast<char>(224 + code / 4096), tail(code / 64), tail(code)};
  return {static_cast<char>(240 + code / 262144), tail(code / 4096), tail(code / 64), tail(code)};
}

/// RFC 3629, sections 3 and 4: a sequence counts when encoding its number gives the same bytes.
inline unit first_unit(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead <= 0x7F) return {text.substr(0, 1), lead, true};
  const unit bad{text.substr(0, 1), 0, false};
  std::size_t size = 0;
  std::uint32_t code = 0;
  if (lead >= 192 && lead <= 223) size = 2, code = lead - 192;
  if (lead >= 224 && lead <= 239) size = 3, code = lead - 224;
  if (lead >= 240 && lead <= 247) size = 4, code = lead - 240;
  if (size == 0 || text.size() < size) return bad;
  for (std::size_t i = 1; i < size; ++i) {
    if (byte(i) < 128 || byte(i) > 191) return bad;
    code = code * 64 + byte(i) - 128;
  }
  if ((code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return bad;
  if (encoded(code) != text.substr(0, size)) return bad; // longer than it need be
  return {text.substr(0, size), code, true};
}

template <class Visitor> void for_each_unit(std::string_view text, Visitor visit) {
  while (!text.empty()) {
    const unit next = first_unit(text);
    visit(next);
    text.remove_prefix(next.bytes.size());
  }
}

/// Where the first byte stands that is part of no character; the size when there is none.
inline std::size_t first_invalid(std::string_view text) {
  std::size_t at = 0;
  for (; at < text.size(); at += first_unit(text.substr(at)).bytes.size())
    if (!first_unit(text.substr(at)).valid) return at;
  return at;
}

/// White space that lists show as one blank: ASCII's, and the line breaks of Unicode (NEL, LS, PS).
inline bool is_white_space(std::uint32_t c) {
  return c == 0x20 || c == 0x09 || c == 0x0A || c == 0x0B || c == 0x0C || c == 0x0D || c == 0x85 ||
         c == 0x2028 || c == 0x2029;
}

/// The words of a text with one blank between two.
inline std::string collapsed(std::string_view text) {
  std::string joined;
  bool word_ended = false;
  for_each_unit(text, [&](const unit& u) {
    if (u.valid && is_white_space(u.code)) {
      word_ended = true;
      return;
    }
    if (word_ended && !joined.empty()) joined += ' ';
    word_ended = false;
    joined += u.bytes;
  });
  return joined;
}

/// What a YAML stream may contain as it is (YAML 1.2.2, c-printable), but for what this project
/// leaves to escapes: line breaks, tabs and the byte order mark.
inline bool stands_for_itself(std::uint32_t c) {
  if (c == 0x2028 || c == 0x2029 || c == 0xFEFF) return false;
  return (c >= 0x20 && c <= 0x7E) || (c >= 0xA0 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD) ||
         (c >= 0x10000 && c <= 0x10FFFF);
}

/// WHATWG MIME Sniffing, section 3: "binary data byte".
inline bool is_binary_data(unsigned char b) {
  return b <= 0x08 || b == 0x0B || (b >= 0x0E && b <= 0x1A) || (b >= 0x1C && b <= 0x1F);
}

/// Whether this is how a character begins, and not the whole of it.
inline bool is_proper_beginning(std::string_view text) {
  static const std::set<std::string, std::less<>> all = [] {
    std::set<std::string, std::less<>> made;
    for (std::uint32_t c = 0x80; c < 0x110000; ++c) {
      if (c >= 0xD800 && c < 0xE000) continue;
      const std::string whole = encoded(c);
      for (std::size_t size = 1; size < whole.size(); ++size)
        made.insert(whole.substr(0, size));
    }
    return made;
  }();
  return !text.empty() && static_cast<unsigned char>(text[0]) >= 192 && all.contains(text);
}

/// A JSON string by RFC 8259, section 7, with the two-character forms where there are any. What is
/// no character becomes U+FFFD, one for each maximal beginning of one (Unicode, section 3.9).
inline std::string json_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const unit next = first_unit(text);
    std::size_t size = next.bytes.size();
    if (!next.valid) {
      while (size < text.size() && is_proper_beginning(text.substr(0, size + 1)))
        ++size;
      out += "\xEF\xBF\xBD";
    } else if (next.code == '"') {
      out += "\\\"";
    } else if (next.code == '\\') {
      out += "\\\\";
    } else if (next.code == '\n') {
      out += "\\n";
    } else if (next.code == '\r') {
      out += "\\r";
    } else if (next.code == '\t') {
      out += "\\t";
    } else if (next.code == '\b') {
      out += "\\b";
    } else if (next.code == '\f') {
      out += "\\f";
    } else if (next.code <= 0x1F) {
      out += "\\u00";
      out += digits[next.code / 16];
      out += digits[next.code % 16];
    } else {
      out += next.bytes;
    }
    text.remove_prefix(size);
  }
  return out + '"';
}

// --- the sweep -----------------------------------------------------------------------------------

/// A text with what is known of it.
struct sample {
  std::string_view text;
  std::size_t valid = 0; ///< bytes before the first that is part of no character

  [[nodiscard]] bool is_valid() const { return valid == text.size(); }
};

/// Calls `check` with texts that together have every code point (the surrogates and some numbers
/// above U+10FFFF too) and every pair of bytes at every offset modulo 16 (of planes 2 to 13, 15 and
/// 16 each code point at two of them, unless PADDOCK_TEST_WHOLE_SWEEP is set), between different
/// neighbours, with ends at every length modulo 16; and with random ones. Stops when `check`
/// returns false. A text ends where its memory ends, so that a sanitizer sees reads behind it.
template <class Check> bool sweep(Check check) {
  constexpr std::size_t room = 128;
  std::vector<char> memory(room);
  const auto run = [&](std::string_view text) {
    char* const at = memory.data() + room - text.size();
    std::memcpy(at, text.data(), text.size());
    const std::string_view placed(at, text.size());
    return check(sample{placed, first_invalid(placed)});
  };
  const auto filled = [](std::size_t bytes, unsigned kind) {
    constexpr std::array<std::string_view, 6> fillers = {
        "x", " ", "\xC3\xA9", "\xE6\x9F\xA5", "\xE2\x80\xA8", "\xF0\x9F\x98\x80"};
    const std::string_view filler = fillers[kind % fillers.size()];
    std::string text(bytes % filler.size(), 'y');
    while (text.size() < bytes)
      text += filler;
    return text;
  };
  std::array<std::array<std::string, 16>, 6> fills;
  for (unsigned kind = 0; kind < 6; ++kind)
    for (std::size_t bytes = 0; bytes < 16; ++bytes)
      fills.at(kind).at(bytes) = filled(bytes, kind);
  std::string text;
  const auto around = [&](std::string_view middle, std::uint32_t turn, std::size_t before,
                          std::size_t behind) {
    text = fills.at((turn + before) % 6).at(before);
    text += middle;
    text += fills.at((turn / 6 + behind) % 6).at(behind);
    return run(text);
  };
  const bool whole = std::getenv("PADDOCK_TEST_WHOLE_SWEEP") != nullptr;
  const auto step = static_cast<std::uint32_t>(test::campaign_step());
  for (std::uint32_t code = 0; code < 0x110000 + 0x400; code += step) {
    const std::string character = encoded(code);
    // The planes without text of their own: eight neighbours take turns at the sixteen places.
    const bool is_far = code >= 0x20000 && code / 0x10000 != 0xE && code < 0x110000 && !whole;
    for (std::size_t before = is_far ? code % 8 : 0; before < 16; before += is_far ? 8 : 1)
      if (!around(character, code, before, (code / 8 + 5 * before) % 16)) return false;
  }
  for (const std::uint32_t code :
       {0x0U,    0x9U,    0x20U,    0x22U,    0x7FU,     0x85U,    0xE9U,
        0x7FFU,  0x800U,  0x2028U,  0x2029U,  0x60C5U,   0xD7FFU,  0xD800U,
        0xFFFDU, 0xFFFFU, 0x10000U, 0x1F600U, 0x10FFFFU, 0x110000U})
    for (std::uint32_t turn = 0; turn < 36; ++turn)
      for (std::size_t before = 0; before < 16; ++before)
        for (std::size_t behind = 0; behind < 16; ++behind)
          if (!around(encoded(code), turn, before, behind)) return false;
  for (std::uint32_t pair = 0; pair < 0x10000; pair += step)
    for (std::size_t before = 0; before < 16; ++before)
      if (!around(std::string{static_cast<char>(pair / 256), static_cast<char>(pair % 256)}, pair,
                  before, (pair + 3 * before) % 16))
        return false;
  std::mt19937 random(1);
  constexpr std::array<std::string_view, 24> pieces = {"a",
                                                       "bc",
                                                       " ",
                                                       "  ",
                                                       "\t",
                                                       "\n",
                                                       "\r\n",
                                                       "\"",
                                                       "\\",
                                                       "\x7F",
                                                       "\x01",
                                                       "\xC2\x85",
                                                       "\xC2\xA0",
                                                       "\xC3\xA9",
                                                       "\xE6\x9F\xA5",
                                                       "\xE8\xAF\xA2",
                                                       "\xE2\x80\xA8",
                                                       "\xE2\x80\xA9",
                                                       "\xE3\x80\x80",
                                                       "\xF0\x9F\x98\x80",
                                                       "\xE6\x83\x85",
                                                       "-",
                                                       ":",
                                                       "\xEF\xBB\xBF"};
  for (int round = 0; round < 400'000; ++round) {
    text.clear();
    for (std::size_t size = random() % 80; text.size() < size;)
      text += pieces.at(random() % pieces.size());
    if (round % 4 == 0 && !text.empty()) text[random() % text.size()] = static_cast<char>(random());
    if (!run(text)) return false;
  }
  return true;
}

} // namespace paddock::slow
