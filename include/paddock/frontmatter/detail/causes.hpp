// SPDX-License-Identifier: MIT
#pragma once

/// What people get wrong in YAML: the likely causes in a block that is not valid, line by line.
/// Part of frontmatter.hpp.

#include <paddock/frontmatter/detail/block.hpp>
#include <paddock/frontmatter/detail/scan.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace paddock::frontmatter::detail {

inline constexpr std::size_t causes_max = 8; ///< after those a person corrects and tries again

/// Looks at each line of a block and remembers what the value of the key above is.
class cause_finder {
public:
  explicit cause_finder(std::vector<diagnostic>& found) noexcept : found_(found) {}

  void look_at(std::string_view line, std::uint32_t number) {
    line_ = line;
    number_ = number;
    if (const std::size_t at = find_control(line); at < line.size())
      add(diagnostic_code::control_character, at);
    if (const std::size_t at = find_surrogate(line); at < line.size())
      add(diagnostic_code::surrogate_escape, at);
    const std::string_view content = without_leading_blanks(line);
    if (content.empty() || content.front() == '#') return;
    if (line.starts_with('\t')) return add(diagnostic_code::tab_indentation, 0);
    if (line.front() != ' ') return look_at_key();
    if (inside_ == inside::plain) look_at_plain(line.size() - content.size());
  }

private:
  enum class inside : std::uint8_t { plain, other };

  void add(diagnostic_code code, std::size_t at) {
    if (found_.size() < causes_max)
      found_.push_back({code, number_, static_cast<std::uint32_t>(at + 1)});
  }

  [[nodiscard]] static std::size_t find_control(std::string_view line) noexcept {
    const auto is_refused = [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
    };
    std::size_t at = 0;
    while (at < line.size() && !is_refused(line[at]))
      ++at;
    return at;
  }

  [[nodiscard]] static std::size_t find_surrogate(std::string_view line) noexcept {
    for (std::size_t at = line.find("\\u"); at < line.size(); at = line.find("\\u", at + 2))
      if (line.size() - at > 4 && (line[at + 2] | 0x20) == 'd' &&
          std::string_view("89abcdefABCDEF").find(line[at + 3]) != std::string_view::npos)
        return at;
    return line.size();
  }

  void look_at_key() {
    inside_ = inside::other;
    if (without_trailing_blanks(line_) == "...") return add(diagnostic_code::document_end, 0);
    if (line_.starts_with("- ") || line_ == "-" || line_.front() == '"' || line_.front() == '\'')
      return;
    const std::size_t key_size = bare_key_size(line_);
    if (key_size == 0) return add(diagnostic_code::line_without_key, 0);
    std::size_t at = key_size + 1;
    while (at < line_.size() && is_blank(line_[at]))
      ++at;
    if (at == line_.size()) return;
    look_at_value(at);
  }

  void look_at_value(std::size_t at) {
    switch (line_[at]) {
    case '*':
    case '@':
    case '`':
    case '%':
    case ',':
    case ']':
    case '}':
      return add(diagnostic_code::reserved_character, at);
    case '|':
    case '>':
      return look_at_indicator(at + 1);
    case '"':
    case '\'':
      return look_at_quote(at);
    case '[':
    case '{':
      return look_at_flow(at);
    case '&':
    case '!':
    case '#':
      return;
    default:
      inside_ = inside::plain;
      return look_at_plain(at);
    }
  }

  void look_at_indicator(std::size_t at) {
    at = found_or_end(line_.find_first_not_of("+-0123456789", at), line_);
    while (at < line_.size() && is_blank(line_[at]))
      ++at;
    if (at < line_.size() && line_[at] != '#') add(diagnostic_code::text_after_indicator, at);
  }

  void look_at_quote(std::size_t at) {
    const char quote = line_[at];
    const std::size_t begin = at;
    for (++at; at < line_.size(); ++at) {
      if (quote == '"' && line_[at] == '\\') {
        ++at;
      } else if (line_[at] == quote) {
        if (quote == '"' || at + 1 == line_.size() || line_[at + 1] != quote)
          return look_behind(at + 1);
        ++at;
      }
    }
    add(diagnostic_code::unterminated_value, begin);
  }

  void look_at_flow(std::size_t at) {
    const std::size_t begin = at;
    std::size_t depth = 0;
    for (; at < line_.size(); ++at) {
      const char c = line_[at];
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && --depth == 0) return look_behind(at + 1);
    }
    add(diagnostic_code::unterminated_value, begin);
  }

  /// Behind a value that is complete.
  void look_behind(std::size_t at) {
    while (at < line_.size() && is_blank(line_[at]))
      ++at;
    if (at < line_.size() && line_[at] != '#') add(diagnostic_code::text_after_value, at);
  }

  void look_at_plain(std::size_t at) {
    const std::size_t end = found_or_end(line_.find(" #", at), line_);
    for (at = line_.find(':', at); at < end; at = line_.find(':', at + 1))
      if (at + 1 == end || line_[at + 1] == ' ') return add(diagnostic_code::unquoted_colon, at);
  }

  std::vector<diagnostic>& found_;
  std::string_view line_;
  std::uint32_t number_ = 1;
  inside inside_ = inside::other;
};

[[nodiscard]] inline std::vector<diagnostic> likely_causes(std::string_view block) {
  std::vector<diagnostic> found;
  cause_finder finder(found);
  for (std::uint32_t line = 2; !block.empty(); ++line, block = after_first_line(block))
    finder.look_at(first_line(block), line);
  return found;
}

} // namespace paddock::frontmatter::detail
