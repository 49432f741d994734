// SPDX-License-Identifier: MIT
#pragma once

/// The scanner: proves a block to be YAML of the everyday kind, or declines it. Part of
/// frontmatter.hpp.
///
/// It knows block mappings with bare keys, block sequences, plain and quoted scalars over one or
/// more lines, `|` and `>`, flow collections on one line, and comments. It declines whatever it is
/// not sure of, above all where YAML parsers disagree: tabs, control characters, continuation lines
/// that are not indented, lines of blanks in block scalars, anchors, tags, directives. One pass;
/// the only memory it takes is that of the values it is asked for.

#include <paddock/frontmatter/detail/lines.hpp>
#include <paddock/frontmatter/detail/text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::frontmatter::detail {

/// Flow collections on one line: `[a, "b"]`, `{a: b}`. Plain scalars inside are of characters that
/// no YAML parser gives a meaning to.
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

/// A sink is told about the keys of the top level:
///   std::string* key(std::string_view key, std::uint32_t line, std::size_t column, std::size_t
///   begin) — where the value's text is to go, or null when nobody asks for it;
///   void value(value_kind, std::size_t end) — the value ends there.
/// What a sink got from a block that is declined means nothing.
template <class Sink> class scanner {
public:
  /// Precondition: `block` is empty or ends in a line break.
  scanner(std::string_view block, Sink& sink) noexcept : line_(block), sink_(sink) {}

  /// Whether the block is proven.
  [[nodiscard]] bool run() {
    return line_.next_content() && line_.has_line() && line_.indent() == 0 && mapping(0, 0) &&
           !line_.has_line();
  }

private:
  static constexpr unsigned depth_max = 12;

  /// Ends a value at `at`: only blanks and a comment may follow on the line.
  [[nodiscard]] bool end_value(const char* at) noexcept {
    value_end_ = at;
    const char* rest = line_.blanks(at);
    if (rest != line_.end() && (rest == at || *rest != '#')) return false;
    return line_.next_content();
  }

  // --- collections ---

  [[nodiscard]] bool is_dash(const char* at) const noexcept {
    return *at == '-' && (at + 1 == line_.end() || at[1] == ' ');
  }

  [[nodiscard]] bool mapping(std::size_t column, unsigned depth) {
    if (depth > depth_max) return false;
    const std::size_t first_key = keys_.open();
    do {
      const std::string_view text = line_.from(line_.content());
      const std::string_view key = text.substr(0, bare_key_size(text));
      if (key.empty() || !keys_.add(key, first_key)) return false;
      std::string* out = nullptr;
      if (depth == 0)
        out = sink_.key(key, line_.number(), line_.indent(), line_.offset(line_.content()));
      if (!value(line_.content() + key.size() + 1, column, depth, out)) return false;
      if (depth == 0) sink_.value(kind_, line_.offset(value_end_));
    } while (line_.has_line() && line_.indent() == column);
    keys_.close(first_key);
    return !line_.has_line() || line_.indent() < column;
  }

  [[nodiscard]] bool sequence(std::size_t column, unsigned depth) {
    if (depth > depth_max) return false;
    do {
      const char* at = line_.blanks(line_.content() + 1);
      if (at == line_.end() || is_dash(at)) return false;
      if (bare_key_size(line_.from(at)) > 0) {
        line_.set_content(at);
        if (!mapping(line_.indent(), depth + 1)) return false;
      } else if (!scalar_or_flow(at, column, nullptr)) {
        return false;
      }
    } while (line_.has_line() && line_.indent() == column && is_dash(line_.content()));
    return true;
  }

  /// The value of a key, from behind its colon. `column` is the mapping's.
  [[nodiscard]] bool value(const char* at, std::size_t column, unsigned depth, std::string* out) {
    value_end_ = at;
    at = line_.blanks(at);
    if (at != line_.end()) return scalar_or_flow(at, column, out);
    if (!line_.next_content()) return false;
    kind_ = value_kind::null;
    if (!line_.has_line() || line_.indent() < column) return true;
    const bool is_item = is_dash(line_.content());
    if (line_.indent() == column && !is_item) return true;
    const std::string_view text = line_.from(line_.content());
    if (!is_item && bare_key_size(text) == 0) return scalar_or_flow(line_.content(), column, out);
    if (!(is_item ? sequence(line_.indent(), depth + 1) : mapping(line_.indent(), depth + 1)))
      return false;
    kind_ = is_item ? value_kind::sequence : value_kind::mapping;
    return true;
  }

  /// A value that begins at `at`; lines that belong to it are indented by more than `column`.
  [[nodiscard]] bool scalar_or_flow(const char* at, std::size_t column, std::string* out) {
    kind_ = value_kind::text;
    switch (*at) {
    case '"':
    case '\'':
      return quoted(at, column, out);
    case '|':
    case '>':
      return block_scalar(at, column, out);
    case '[':
    case '{':
      kind_ = *at == '[' ? value_kind::sequence : value_kind::mapping;
      at = flow_scanner(line_.end(), keys_).collection(at, 0);
      return at != nullptr && end_value(at);
    default:
      return plain(at, column, out);
    }
  }

  // --- scalars ---

  /// Text that goes on after a line break: one break is a space, more are one less.
  static void fold(std::string* out, std::size_t empty_lines) {
    if (out == nullptr) return;
    empty_lines == 0 ? out->push_back(' ') : static_cast<void>(out->append(empty_lines, '\n'));
  }

  /// The end of the plain text of this line, without blanks; null when a colon ends it.
  [[nodiscard]] const char* plain_end(const char* from, bool& has_comment) const noexcept {
    const char* end = line_.end();
    for (const char* at = find(from + 1, end, '#'); at != nullptr; at = find(at + 1, end, '#')) {
      if (at[-1] != ' ') continue;
      has_comment = true;
      end = at;
      break;
    }
    for (const char* at = find(from, end, ':'); at != nullptr; at = find(at + 1, end, ':'))
      if (at + 1 == end || at[1] == ' ') return nullptr;
    while (end[-1] == ' ')
      --end;
    return end;
  }

  [[nodiscard]] static bool may_begin_plain(const char* at, const char* end) noexcept {
    static constexpr byte_set indicators("-?:,[]{}#&*!|>'\"%@`");
    if (!indicators.contains(*at)) return true;
    return *at == '-' && at + 1 != end && at[1] != ' ';
  }

  [[nodiscard]] bool plain(const char* at, std::size_t column, std::string* out) {
    if (!may_begin_plain(at, line_.end())) return false;
    bool has_comment = false;
    const char* end = plain_end(at, has_comment);
    if (end == nullptr) return false;
    if (out != nullptr) out->assign(at, distance(at, end));
    for (;;) {
      value_end_ = end;
      std::size_t empty_lines = 0;
      if (!line_.next_text(empty_lines)) return false;
      if (!line_.has_line() || line_.indent() <= column || *line_.content() == '#') break;
      if (has_comment) return false;
      end = plain_end(line_.content(), has_comment);
      if (end == nullptr) return false;
      fold(out, empty_lines);
      if (out != nullptr) out->append(line_.content(), distance(line_.content(), end));
    }
    if (out != nullptr) kind_ = resolve_plain(*out);
    return line_.this_content();
  }

  [[nodiscard]] bool quoted(const char* at, std::size_t column, std::string* out) {
    const char quote = *at++;
    std::size_t kept = 0;       // what an escape wrote stays when blanks before a line break go
    const char* stop = nullptr; // the next quote of this line, if `at` is not beyond it
    bool searched = false;
    for (;;) {
      if (!searched || (stop != nullptr && stop < at)) stop = find(at, line_.end(), quote);
      searched = true;
      const char* end = stop != nullptr ? stop : line_.end();
      const char* escape = quote == '"' ? find(at, end, '\\') : nullptr;
      if (escape != nullptr) end = escape;
      if (out != nullptr) out->append(at, distance(at, end));
      at = end + 1;
      if (escape != nullptr && at != line_.end()) {
        const std::size_t escaped = read_escape(line_.from(at), out);
        if (escaped == 0) return false;
        at += escaped;
      } else if (escape == nullptr && stop != nullptr) {
        if (quote == '"' || at == line_.end() || *at != quote) return end_value(at);
        if (out != nullptr) out->push_back(quote);
        ++at;
      } else {
        if (out != nullptr && escape == nullptr)
          while (out->size() > kept && out->back() == ' ')
            out->pop_back();
        std::size_t empty_lines = 0;
        if (!line_.next_text(empty_lines) || !line_.has_line() || line_.indent() <= column)
          return false;
        if (escape == nullptr)
          fold(out, empty_lines);
        else if (empty_lines > 0)
          return false;
        at = line_.content();
        searched = false;
      }
      if (out != nullptr && (escape != nullptr || !searched)) kept = out->size();
    }
  }

  [[nodiscard]] bool block_scalar(const char* at, std::size_t column, std::string* out) {
    const bool folded = *at++ == '>';
    const char chomping = at != line_.end() && (*at == '-' || *at == '+') ? *at++ : ' ';
    if (line_.blanks(at) != line_.end()) return false;
    std::size_t empty_lines = 0;
    if (!line_.next_block_line(empty_lines) || !line_.has_line() || line_.indent() <= column)
      return false;
    const std::size_t margin = line_.indent();
    if (out != nullptr) out->assign(empty_lines, '\n');
    bool was_indented = false;
    for (bool is_first = true;; is_first = false) {
      const char* text = line_.line() + margin;
      const bool is_indented = *text == ' ';
      if (out != nullptr) {
        if (!is_first && folded && !was_indented && !is_indented)
          fold(out, empty_lines);
        else if (!is_first)
          out->append(empty_lines + 1, '\n');
        out->append(text, distance(text, line_.end()));
      }
      was_indented = is_indented;
      value_end_ = line_.end();
      if (!line_.next_block_line(empty_lines)) return false;
      if (!line_.has_line() || line_.indent() < margin) break;
    }
    if (line_.has_line() && line_.indent() > column) return false;
    while (value_end_[-1] == ' ')
      --value_end_;
    if (out != nullptr && chomping != '-') out->push_back('\n');
    if (out != nullptr && chomping == '+') out->append(empty_lines, '\n');
    return line_.this_content();
  }

  line_walker line_;
  Sink& sink_;
  key_stack keys_;
  value_kind kind_ = value_kind::null;
  const char* value_end_ = nullptr;
};

} // namespace paddock::frontmatter::detail
