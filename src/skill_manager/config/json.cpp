// SPDX-License-Identifier: MIT
#include "skill_manager/config/tree.hpp"

#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace paddock::skill_manager {
namespace {

/// The lines on which the keys and values of a text that is known to be JSON begin, in document
/// order. The parser does not keep them.
class line_list {
public:
  explicit line_list(std::string_view json) {
    unsigned line = 1;
    bool in_scalar = false;
    for (std::size_t at = 0; at < json.size(); ++at) {
      const char c = json[at];
      if (c == '"') {
        lines_.push_back(line);
        for (++at; at < json.size() && json[at] != '"'; ++at)
          if (json[at] == '\\') ++at;
      } else if (c == '{' || c == '[') {
        lines_.push_back(line);
      } else if (is_scalar(c)) {
        if (!in_scalar) lines_.push_back(line);
      } else if (c == '\n') {
        ++line;
      }
      in_scalar = is_scalar(c);
    }
  }
  unsigned next() noexcept { return at_ < lines_.size() ? lines_[at_++] : 0; }

private:
  /// A character of a number, or of true, false and null.
  static bool is_scalar(char c) noexcept {
    return std::string_view("+-.").find(c) != std::string_view::npos || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || c == 'E';
  }
  std::vector<unsigned> lines_;
  std::size_t at_ = 0;
};

config_node convert(mcp::json_view from, line_list& lines) {
  config_node made;
  made.line = lines.next();
  switch (from.kind()) {
  case mcp::json_kind::object:
    made.kind = node_kind::table;
    from.for_each_member([&](std::string_view key, mcp::json_view value) {
      const unsigned line = lines.next();
      made.members.push_back({std::string(key), line, convert(value, lines)});
    });
    break;
  case mcp::json_kind::array:
    made.kind = node_kind::array;
    from.for_each_element(
        [&](mcp::json_view element) { made.elements.push_back(convert(element, lines)); });
    break;
  case mcp::json_kind::string:
    made.kind = node_kind::string;
    made.text = from.string().value_or("");
    break;
  case mcp::json_kind::integer:
    made.kind = node_kind::integer;
    made.integer = from.integer().value_or(0);
    break;
  case mcp::json_kind::number:
    made.kind = node_kind::number;
    made.number = from.number().value_or(0);
    break;
  case mcp::json_kind::boolean:
    made.kind = node_kind::boolean;
    made.boolean = from.boolean().value_or(false);
    break;
  case mcp::json_kind::null:
  case mcp::json_kind::missing:
    break;
  }
  return made;
}

/// Finds where text that is known to be no JSON goes wrong; the parser does not say. What only the
/// parser notices (a bad escape, a bad number) stays without a line.
class syntax_error_finder {
public:
  explicit syntax_error_finder(std::string_view text) : text_(text) {}

  unsigned line() {
    while (skip_blanks())
      if (!accept(text_[at_])) return line_;
    return next_ == expected::end ? 0 : line_;
  }

private:
  enum class expected : std::uint8_t { value, value_or_end, key, key_or_end, colon, comma, end };

  bool skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (std::string_view(" \t\r\n").find(text_[at_]) == std::string_view::npos) return true;
    }
    return false;
  }
  [[nodiscard]] bool wants_value() const {
    return next_ == expected::value || next_ == expected::value_or_end;
  }
  void after_value() { next_ = open_.empty() ? expected::end : expected::comma; }

  bool accept(char c) {
    if (c == '{' || c == '[') {
      if (!wants_value()) return false;
      open_ += c;
      next_ = c == '{' ? expected::key_or_end : expected::value_or_end;
    } else if (c == '}' || c == ']') {
      const auto when_empty = c == '}' ? expected::key_or_end : expected::value_or_end;
      if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return false;
      if (next_ != expected::comma && next_ != when_empty) return false;
      open_.pop_back();
      after_value();
    } else if (c == ',') {
      if (next_ != expected::comma) return false;
      next_ = open_.back() == '{' ? expected::key : expected::value;
    } else if (c == ':') {
      if (next_ != expected::colon) return false;
      next_ = expected::value;
    } else {
      return accept_scalar(c);
    }
    ++at_;
    return true;
  }

  bool accept_scalar(char c) {
    const std::size_t begin = at_;
    if (c == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\n') return false;
        if (text_[at_] == '\\') ++at_;
      }
      if (at_ >= text_.size()) return false;
      ++at_;
      if (next_ == expected::key || next_ == expected::key_or_end) {
        next_ = expected::colon;
        return true;
      }
    } else {
      at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", at_), text_.size());
      const std::string_view word = text_.substr(begin, at_ - begin);
      const bool number = c == '-' || (c >= '0' && c <= '9');
      if (!number && word != "true" && word != "false" && word != "null") return false;
    }
    if (!wants_value()) return false;
    after_value();
    return true;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
  expected next_ = expected::value;
  std::string open_; ///< brackets
};

/// The text with blanks in place of comments, and of commas behind the last of their kind, as
/// editors allow them in their settings. Lines stay where they are.
std::string without_comments(std::string_view text) {
  std::string out(text);
  std::size_t comma = std::string::npos; // with nothing but blanks behind it so far
  for (std::size_t at = 0; at < out.size(); ++at) {
    const char c = out[at];
    const std::string_view two = std::string_view(out).substr(at, 2);
    if (c == '"') {
      for (++at; at < out.size() && out[at] != '"'; ++at)
        if (out[at] == '\\') ++at;
    } else if (two == "//" || two == "/*") {
      const std::size_t stop = two == "//" ? out.find('\n', at) : out.find("*/", at + 2);
      const std::size_t end = stop == std::string::npos ? out.size() : stop + (two == "//" ? 0 : 2);
      for (; at < end; ++at)
        if (out[at] != '\n') out[at] = ' ';
      --at;
      continue;
    } else if ((c == '}' || c == ']') && comma != std::string::npos) {
      out[comma] = ' ';
    }
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos)
      comma = c == ',' ? at : std::string::npos;
  }
  return out;
}

void write(mcp::json_writer& out, const config_node& node) {
  switch (node.kind) {
  case node_kind::boolean:
    out.boolean(node.boolean);
    break;
  case node_kind::integer:
    out.integer(node.integer);
    break;
  case node_kind::number:
    out.number(node.number);
    break;
  case node_kind::string:
    out.string(node.text);
    break;
  case node_kind::array:
    out.begin_array();
    for (const config_node& element : node.elements)
      write(out, element);
    out.end_array();
    break;
  case node_kind::table:
    out.begin_object();
    for (const config_member& member : node.members) {
      out.key(member.key);
      write(out, member.value);
    }
    out.end_object();
    break;
  case node_kind::other:
    out.null();
    break;
  }
}

} // namespace

const config_node* config_node::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(members, key, &config_member::key);
  return found == members.end() ? nullptr : &found->value;
}

std::string config_node::json() const {
  mcp::json_writer out;
  write(out, *this);
  return out.take();
}

result<config_node> parse_json(std::string_view text, config_problem& problem) {
  mcp::json_document document;
  std::string plain;
  auto parsed = document.parse(text);
  if (!parsed) {
    plain = without_comments(text);
    text = plain;
    parsed = document.parse(text);
  }
  if (!parsed) {
    problem.line = syntax_error_finder(text).line();
    problem.message = parsed.error().operation;
    return parsed.error();
  }
  line_list lines(text);
  return convert(*parsed, lines);
}

} // namespace paddock::skill_manager
