// SPDX-License-Identifier: MIT
#include "output.hpp"

#include "terminal.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/base/detail/visible_text.hpp>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace paddock::cli {
namespace {

/// Those of `styled`.
constexpr std::array<std::string_view, 5> own_codes{"\x1B[0m", "\x1B[1m", "\x1B[2m", "\x1B[31m",
                                                    "\x1B[32m"};

std::size_t own_code_at(std::string_view text) {
  if (!output_has_colours()) return 0;
  const auto found = std::ranges::find_if(
      own_codes, [&](std::string_view code) { return text.starts_with(code); });
  return found == own_codes.end() ? 0 : found->size();
}

bool is_kept(char c) {
  return c == '\n' || c == '\t';
}

bool is_plain_or_kept(char c) {
  return is_kept(c) || c == '\v' || c == '\f' || (c >= 0x20 && c < 0x7F); // those feed lines, too
}

/// Whether all are. Eight bytes at once, for all that is printed is asked; lines end often.
bool is_plain(std::string_view bytes) {
  constexpr std::uint64_t each = 0x0101'0101'0101'0101;
  for (std::uint64_t eight = 0; bytes.size() >= sizeof eight; bytes.remove_prefix(sizeof eight)) {
    std::memcpy(&eight, bytes.data(), sizeof eight);
    const std::uint64_t ends = eight ^ '\n' * each; // zero where a line ends
    const std::uint64_t others = ~((ends - each) & ~ends) & 0x80 * each;
    const bool may_differ = ((eight | (eight - 0x20 * each) | (eight + each)) & others) != 0;
    if (may_differ && !std::ranges::all_of(bytes.substr(0, sizeof eight), is_plain_or_kept))
      return false;
  }
  return std::ranges::all_of(bytes, is_plain_or_kept);
}

/// Control characters, also those of one byte beyond ASCII, and what turns the direction of text.
bool commands_terminals(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::string formatted(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  (void)std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  return text;
}

void write_out(std::string_view bytes, std::FILE* to) {
  (void)std::fwrite(bytes.data(), 1, bytes.size(), to);
}

} // namespace

std::string harmless_words(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t code = own_code_at(text); code > 0) {
      shown += text.substr(0, code);
      text.remove_prefix(code);
      continue;
    }
    if (is_kept(text.front()) || text.starts_with("\r\n")) {
      shown += text.front() == '\r' ? '\n' : text.front();
      text.remove_prefix(text.front() == '\r' ? 2 : 1);
      continue;
    }
    std::size_t end = 1;
    while (end < text.size() && !is_kept(text[end]) && text[end] != '\r' && text[end] != '\x1B')
      ++end;
    shown += without_controls(text.substr(0, end));
    text.remove_prefix(end);
  }
  return shown;
}

std::string harmless_content(std::string_view bytes) {
  std::string shown;
  shown.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(bytes, is_plain_or_kept) - bytes.begin());
    shown += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    std::size_t size = bytes.starts_with("\r\n") ? 2 : own_code_at(bytes);
    const bool is_own = size > 0;
    if (!is_own) size = detail::first_sequence(bytes).size;
    const std::string_view one = bytes.substr(0, size);
    shown += is_own || !commands_terminals(detail::code_point(one)) ? one : "?";
    bytes.remove_prefix(size);
  }
  return shown;
}

std::string harmless_json(std::string_view json) {
  std::string shown;
  shown.reserve(json.size());
  while (!json.empty()) {
    const std::string_view one = json.substr(0, detail::first_sequence(json).size);
    const char32_t point = detail::code_point(one);
    json.remove_prefix(one.size());
    if (point < 0x80 ? point >= 0x20 && point != 0x7F : without_controls(one) == one) {
      shown += one;
      continue;
    }
    if (point < 0x20) { // between tokens: a writer escapes it within
      shown += ' ';
      continue;
    }
    std::array<char, 16> escape{};
    if (point > 0xFFFF)
      (void)std::snprintf(escape.data(), escape.size(), "\\u%04x\\u%04x",
                          static_cast<unsigned>(0xD7C0 + (point >> 10U)),
                          static_cast<unsigned>(0xDC00 | (point & 0x3FFU)));
    else
      (void)std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(point));
    shown += escape.data();
  }
  return shown;
}

void print_words(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_out(harmless_words(formatted(format, arguments)), stdout);
  va_end(arguments);
}

void print_problem(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_out(harmless_words(formatted(format, arguments)), stderr);
  va_end(arguments);
}

void print_json_line(std::string_view json) {
  write_out(harmless_json(json) + '\n', stdout);
}

bool print_content(std::string_view bytes) {
  const bool is_terminal = output_is_terminal();
  if (!is_terminal && is_plain(bytes)) return pass_on(bytes), true;
  const std::string shown = is_terminal ? harmless_words(bytes) : harmless_content(bytes);
  write_out(shown, stdout);
  return is_terminal || shown == bytes;
}

void pass_on(std::string_view bytes, output_to where) {
  write_out(bytes, where == output_to::out ? stdout : stderr);
}

} // namespace paddock::cli
