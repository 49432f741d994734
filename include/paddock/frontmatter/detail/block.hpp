// SPDX-License-Identifier: MIT
#pragma once

/// Where the frontmatter of a file begins and ends, and why there is none. Part of frontmatter.hpp.

#include <paddock/base/detail/utf8.hpp>
#include <paddock/frontmatter/detail/diagnostics.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace paddock::frontmatter::detail {

inline constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

enum class fence_state : std::uint8_t {
  found,
  none,     ///< the file does not open a block
  unclosed, ///< it does, but the bytes end before the block
};

/// The text between the fences, as offset and size in the file, with the line break before the
/// closing fence.
struct found_block {
  fence_state state = fence_state::none;
  std::size_t begin = 0;
  std::size_t size = 0;
};

[[nodiscard]] constexpr bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

/// The first line of `text`, without its line break.
[[nodiscard]] inline std::string_view first_line(std::string_view text) noexcept {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() < text.size() && line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// `text` without its first line; empty when that is the last.
[[nodiscard]] inline std::string_view after_first_line(std::string_view text) noexcept {
  const std::size_t line_break = text.find('\n');
  return line_break == std::string_view::npos ? std::string_view{} : text.substr(line_break + 1);
}

[[nodiscard]] constexpr std::string_view without_leading_blanks(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  return text;
}

[[nodiscard]] constexpr std::string_view without_trailing_blanks(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Whether a line is three dashes and blanks.
[[nodiscard]] constexpr bool is_fence(std::string_view line) noexcept {
  return line.starts_with("---") && without_leading_blanks(line.substr(3)).empty();
}

/// Whether a line closes the block: also with a heading that got onto the line, as in `---# Title`,
/// which the reference parser leaves to the body, and YAML takes for the end of a document.
[[nodiscard]] constexpr bool is_closing(std::string_view line) noexcept {
  return is_fence(line) ||
         (line.starts_with("---") && without_leading_blanks(line.substr(3)).starts_with('#'));
}

/// Finds the block in the beginning of a file. `at_end` says whether the file ends with `bytes`, so
/// that the last line is whole without a line break.
[[nodiscard]] inline found_block find_block(std::string_view bytes, bool at_end) noexcept {
  if (!at_end && utf8_mark.starts_with(bytes)) return {fence_state::unclosed};
  std::string_view rest = bytes;
  if (rest.starts_with(utf8_mark)) rest.remove_prefix(utf8_mark.size());
  const bool first_is_whole = at_end || rest.find('\n') != std::string_view::npos;
  if (!is_fence(first_line(rest))) {
    // The beginning of a fence may still become one.
    const bool open =
        !first_is_whole &&
        (rest.size() < 3 ? std::string_view("---").starts_with(rest) : rest == "---\r");
    return {open ? fence_state::unclosed : fence_state::none};
  }
  if (!first_is_whole) return {fence_state::unclosed};
  rest = after_first_line(rest);
  const std::size_t begin = bytes.size() - rest.size();
  while (!rest.empty()) {
    if (rest.front() == '-' && is_closing(first_line(rest))) {
      if (!at_end && rest.find('\n') == std::string_view::npos) break;
      return {fence_state::found, begin, bytes.size() - rest.size() - begin};
    }
    rest = after_first_line(rest);
  }
  return {fence_state::unclosed, begin, bytes.size() - begin};
}

/// Why a file that does not open a block does not: what stands where the fence should.
[[nodiscard]] inline diagnostic why_not_opened(std::string_view bytes) noexcept {
  using enum diagnostic_code;
  if (bytes.empty()) return {empty_file};
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return {utf16};
  if (bytes.starts_with(utf8_mark)) bytes.remove_prefix(utf8_mark.size());
  if (bytes.substr(0, 4).find('\0') != std::string_view::npos) return {utf16};
  std::uint32_t line = 1;
  std::string_view first = first_line(bytes);
  while (without_leading_blanks(first).empty()) {
    bytes = after_first_line(bytes);
    if (bytes.empty()) return {no_frontmatter};
    first = first_line(bytes);
    ++line;
  }
  const std::string_view content = without_leading_blanks(first);
  const auto column = static_cast<std::uint32_t>(first.size() - content.size() + 1);
  if (line > 1 && is_fence(content)) return {leading_blank_line};
  if (content.starts_with("----")) return {long_fence, line, column};
  if (content.size() < first.size() && is_fence(content)) return {indented_fence, line, column};
  if (content.starts_with("---")) return {fence_with_text, line, column + 3};
  if (content.starts_with("<!--")) return {leading_comment, line, column};
  if (content.starts_with("```") || content.starts_with("~~~"))
    return {leading_code_fence, line, column};
  return {no_frontmatter, line, column};
}

/// The first line of an unclosed block that looks as if it was meant to close it.
[[nodiscard]] inline std::optional<diagnostic> almost_closed(std::string_view rest) noexcept {
  for (std::uint32_t line = 2; !rest.empty(); ++line, rest = after_first_line(rest)) {
    const std::string_view whole = first_line(rest);
    const std::string_view content = without_leading_blanks(whole);
    const auto column = static_cast<std::uint32_t>(whole.size() - content.size() + 1);
    if (without_trailing_blanks(whole) == "...")
      return diagnostic{diagnostic_code::document_end, line};
    if (!content.starts_with("---")) continue;
    if (is_fence(content)) return diagnostic{diagnostic_code::indented_fence, line, column};
    if (column > 1) continue;
    return diagnostic{content.starts_with("----") ? diagnostic_code::long_fence
                                                  : diagnostic_code::fence_with_text,
                      line, content.starts_with("----") ? 1U : 4U};
  }
  return std::nullopt;
}

/// Bytes that no text has, wherever they are in the block.
[[nodiscard]] inline std::optional<diagnostic> check_bytes(std::string_view block) noexcept {
  const std::size_t nul = block.find('\0');
  const std::size_t invalid = paddock::detail::first_invalid_utf8(block);
  if (nul == std::string_view::npos && invalid == block.size()) return std::nullopt;
  const std::size_t at = nul < invalid ? nul : invalid;
  diagnostic found{nul < invalid ? diagnostic_code::nul_byte : diagnostic_code::not_utf8, 2, 1};
  for (const char c : block.substr(0, at)) {
    ++found.column;
    if (c == '\n') ++found.line, found.column = 1;
  }
  return found;
}

} // namespace paddock::frontmatter::detail
