// SPDX-License-Identifier: MIT
#pragma once

/// The lines of a block as the scanner walks over them, and the keys it met. Part of
/// frontmatter.hpp.

#include <paddock/frontmatter/detail/text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace paddock::frontmatter::detail {

inline constexpr byte_set letters("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
inline constexpr byte_set key_characters("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_-.");

/// Size of the bare key, at most 128 bytes, at the beginning of `text` when a colon and a blank or
/// the end follow it; 0 otherwise.
[[nodiscard]] constexpr std::size_t bare_key_size(std::string_view text) noexcept {
  constexpr std::size_t size_max = 128;
  if (text.empty() || !letters.contains(text.front())) return 0;
  std::size_t size = 1;
  while (size < text.size() && size < size_max && key_characters.contains(text[size]))
    ++size;
  if (size == text.size() || text[size] != ':') return 0;
  return size + 1 < text.size() && text[size + 1] != ' ' ? 0 : size;
}

/// The keys of all mappings that are open at a time, the innermost at the end.
class key_stack {
public:
  /// Begins a mapping: what to give to `add` and `close`.
  [[nodiscard]] std::size_t open() const noexcept { return size_; }
  void close(std::size_t first) noexcept { size_ = first; }

  /// False when the mapping has the key already, and when there are too many.
  [[nodiscard]] bool add(std::string_view key, std::size_t first) noexcept {
    if (size_ == keys_.size()) return false;
    for (std::size_t i = first; i < size_; ++i)
      if (keys_[i] == key) return false;
    keys_[size_++] = key;
    return true;
  }

private:
  std::size_t size_ = 0;
  std::array<std::string_view, 64> keys_;
};

[[nodiscard]] inline std::size_t distance(const char* from, const char* to) noexcept {
  return static_cast<std::size_t>(to - from);
}
/// The first `c`, or null.
[[nodiscard]] inline const char* find(const char* from, const char* to, char c) noexcept {
  return static_cast<const char*>(std::memchr(from, c, distance(from, to)));
}
[[nodiscard]] inline const char* behind_blanks(const char* at, const char* end) noexcept {
  while (at != end && *at == ' ')
    ++at;
  return at;
}

/// One line of the block after the other, each looked at for bytes that are refused.
class line_walker {
public:
  /// Precondition: `block` is empty or ends in a line break.
  explicit line_walker(std::string_view block) noexcept
      : begin_(block.data()), block_end_(block.data() + block.size()), next_(begin_) {}

  /// Steps to the next line; false when its bytes are refused.
  [[nodiscard]] bool next_line() noexcept {
    has_line_ = next_ != block_end_;
    if (!has_line_) return true;
    line_ = next_;
    const char* line_break = find(next_, block_end_, '\n');
    if (line_break == nullptr) return false;
    next_ = line_break + 1;
    line_end_ = line_break != line_ && line_break[-1] == '\r' ? line_break - 1 : line_break;
    ++number_;
    const std::string_view text(line_, distance(line_, line_end_));
    const line_bytes bytes = classify_line(text);
    if (bytes == line_bytes::refused) return false;
    if (bytes == line_bytes::unicode && !is_printable_line(text)) return false;
    content_ = blanks(line_);
    return true;
  }

  /// False behind the last line.
  [[nodiscard]] bool has_line() const noexcept { return has_line_; }
  [[nodiscard]] bool is_empty_line() const noexcept { return content_ == line_end_; }
  [[nodiscard]] const char* line() const noexcept { return line_; }
  [[nodiscard]] const char* content() const noexcept { return content_; } ///< behind the blanks
  [[nodiscard]] const char* end() const noexcept { return line_end_; }    ///< before the break
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] std::size_t indent() const noexcept { return distance(line_, content_); }
  [[nodiscard]] std::size_t offset(const char* at) const noexcept { return distance(begin_, at); }
  [[nodiscard]] std::string_view from(const char* at) const noexcept {
    return {at, distance(at, line_end_)};
  }
  /// Makes the text from `at` on the content of this line: a mapping behind a dash.
  void set_content(const char* at) noexcept { content_ = at; }

  /// Steps to the next line that is not empty, and counts the empty ones.
  [[nodiscard]] bool next_text(std::size_t& empty_lines) noexcept {
    for (empty_lines = 0;; ++empty_lines) {
      if (!next_line()) return false;
      if (!has_line_ || !is_empty_line()) return true;
    }
  }

  /// Passes empty lines and comments, this line included.
  [[nodiscard]] bool this_content() noexcept {
    while (has_line_ && (is_empty_line() || *content_ == '#'))
      if (!next_line()) return false;
    return true;
  }
  [[nodiscard]] bool next_content() noexcept { return next_line() && this_content(); }

  [[nodiscard]] const char* blanks(const char* at) const noexcept {
    return behind_blanks(at, line_end_);
  }

  /// Steps like next_text, but a line of blanks is refused.
  [[nodiscard]] bool next_block_line(std::size_t& empty_lines) noexcept {
    for (empty_lines = 0;; ++empty_lines) {
      if (!next_line()) return false;
      if (!has_line_ || !is_empty_line()) return true;
      if (line_ != line_end_) return false;
    }
  }

private:
  const char* begin_;
  const char* block_end_;
  const char* next_; ///< the line behind this one
  bool has_line_ = false;
  const char* line_ = nullptr;
  const char* content_ = nullptr;
  const char* line_end_ = nullptr;
  std::uint32_t number_ = 1; ///< in the file, where the fence is line 1
};

} // namespace paddock::frontmatter::detail
