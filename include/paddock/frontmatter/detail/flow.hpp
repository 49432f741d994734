// SPDX-License-Identifier: MIT
#pragma once

/// Flow collections on one line: `[a, "b"]`, `{a: b}`. Part of frontmatter.hpp.
///
/// Plain scalars inside are of characters that no YAML parser gives a meaning to.

#include <paddock/frontmatter/detail/lines.hpp>

#include <cstddef>
#include <string_view>

namespace paddock::frontmatter::detail {

class flow_scanner {
public:
  flow_scanner(const char* line_end, key_stack& keys) noexcept : end_(line_end), keys_(keys) {}

  /// The end of the collection that begins at `at`; null when it is declined.
  [[nodiscard]] const char* collection(const char* at, unsigned depth) noexcept {
    if (depth > depth_max) return nullptr;
    const bool is_mapping = *at == '{';
    const char closing = is_mapping ? '}' : ']';
    const std::size_t first_key = keys_.open();
    at = behind_blanks(at + 1, end_);
    if (at != end_ && *at == closing) return at + 1;
    while (at != nullptr && at != end_) {
      if (is_mapping) at = key(at, first_key);
      if (at != nullptr) at = value(at, depth);
      if (at == nullptr) return nullptr;
      at = behind_blanks(at, end_);
      if (at == end_) return nullptr;
      if (*at == closing) {
        keys_.close(first_key);
        return at + 1;
      }
      if (*at != ',') return nullptr;
      at = behind_blanks(at + 1, end_);
    }
    return nullptr;
  }

private:
  static constexpr unsigned depth_max = 12;

  [[nodiscard]] const char* key(const char* at, std::size_t first_key) noexcept {
    if (*at == '"' || *at == '\'') {
      const char* end = quoted(at);
      if (end == nullptr || end == end_ || *end != ':') return nullptr;
      const std::string_view text(at + 1, distance(at, end) - 2);
      if (text.find_first_of("\\'") != std::string_view::npos || !keys_.add(text, first_key))
        return nullptr;
      return behind_blanks(end + 1, end_);
    }
    const std::string_view text(at, distance(at, end_));
    const std::size_t key_size = bare_key_size(text);
    if (key_size == 0 || !keys_.add(text.substr(0, key_size), first_key)) return nullptr;
    return behind_blanks(at + key_size + 1, end_);
  }

  [[nodiscard]] const char* value(const char* at, unsigned depth) noexcept {
    if (at == end_) return nullptr;
    if (*at == '[' || *at == '{') return collection(at, depth + 1);
    if (*at == '"' || *at == '\'') return quoted(at);
    return plain(at);
  }

  [[nodiscard]] const char* quoted(const char* at) const noexcept {
    const char quote = *at++;
    for (; at != end_; ++at) {
      if (*at == quote) {
        ++at;
        if (quote == '"' || at == end_ || *at != quote) return at;
      } else if (quote == '"' && *at == '\\') {
        const std::size_t escaped = read_escape({at + 1, distance(at + 1, end_)}, nullptr);
        if (escaped == 0) return nullptr;
        at += escaped;
      }
    }
    return nullptr;
  }

  [[nodiscard]] const char* plain(const char* at) const noexcept {
    static constexpr byte_set marks("_./+*()@$=~;<>!^|&%-");
    static constexpr byte_set not_first("-*@!|>&%");
    const auto is_ordinary = [](char c) {
      return static_cast<unsigned char>(c) >= 0x80 || letters.contains(c) ||
             (c >= '0' && c <= '9') || marks.contains(c);
    };
    if (!is_ordinary(*at) || not_first.contains(*at)) return nullptr;
    for (; at != end_; ++at) {
      if (is_ordinary(*at) || *at == ' ') continue;
      // A colon inside a word: followed by something that can be part of it.
      if (*at == ':' && at + 1 != end_ && is_ordinary(at[1])) continue;
      break;
    }
    while (at[-1] == ' ')
      --at;
    return at;
  }

  const char* end_;
  key_stack& keys_;
};

} // namespace paddock::frontmatter::detail
