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

/// Finds where text that is known to be no JSON goes wrong; the parser does not say.
class syntax_error_finder {
public:
  explicit syntax_error_finder(std::string_view text) : text_(text) {}

  /// False where only the parser sees what is wrong.
  bool find(config_problem& problem) {
    while (skip_blanks())
      if (!accept(text_[at_])) {
        problem.line = line_;
        problem.message = "not JSON: " + std::string(trouble_) + " at column " +
                          std::to_string(at_ - line_begin_ + 1);
        return true;
      }
    if (next_ == expected::end) return false;
    problem.line = line_;
    problem.message = "not JSON: it ends where " + std::string(wanted());
    return true;
  }

private:
  enum class expected : std::uint8_t { value, value_or_end, key, key_or_end, colon, comma, end };

  [[nodiscard]] std::string_view wanted() const {
    switch (next_) {
    case expected::value:
      return "a value is expected";
    case expected::value_or_end:
      return "a value or ] is expected";
    case expected::key:
      return "a name in double quotes is expected";
    case expected::key_or_end:
      return "a name in double quotes or } is expected";
    case expected::colon:
      return "a colon is expected";
    case expected::comma:
      return open_.ends_with('{') ? "a comma or } is expected" : "a comma or ] is expected";
    case expected::end:
      break;
    }
    return "nothing more is expected";
  }
  bool refuse() {
    trouble_ = wanted();
    return false;
  }
  bool skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      if (std::string_view(" \t\r\n").find(text_[at_]) == std::string_view::npos) return true;
      if (text_[at_] != '\n') continue;
      ++line_;
      line_begin_ = at_ + 1;
    }
    return false;
  }
  [[nodiscard]] bool wants_value() const {
    return next_ == expected::value || next_ == expected::value_or_end;
  }
  void after_value() { next_ = open_.empty() ? expected::end : expected::comma; }

  bool accept(char c) {
    if (c == '{' || c == '[') {
      if (!wants_value()) return refuse();
      open_ += c;
      next_ = c == '{' ? expected::key_or_end : expected::value_or_end;
    } else if (c == '}' || c == ']') {
      const auto when_empty = c == '}' ? expected::key_or_end : expected::value_or_end;
      if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return refuse();
      if (next_ != expected::comma && next_ != when_empty) return refuse();
      open_.pop_back();
      after_value();
    } else if (c == ',') {
      if (next_ != expected::comma || open_.empty()) return refuse();
      next_ = open_.back() == '{' ? expected::key : expected::value;
    } else if (c == ':') {
      if (next_ != expected::colon) return refuse();
      next_ = expected::value;
    } else {
      return c == '"' ? accept_string() : accept_word();
    }
    ++at_;
    return true;
  }

  bool accept_string() {
    const bool is_key = next_ == expected::key || next_ == expected::key_or_end;
    if (!is_key && !wants_value()) return refuse();
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != '"'; ++end) {
      if (static_cast<unsigned char>(text_[end]) < ' ') break;
      if (text_[end] != '\\') continue;
      if (!is_escape(text_.substr(end))) {
        at_ = end;
        trouble_ = "there is no such escape (a backslash itself is written twice)";
        return false;
      }
      ++end;
    }
    if (end >= text_.size() || text_[end] != '"') {
      trouble_ = "the closing quote is missing on the line of the text that begins";
      return false;
    }
    at_ = end + 1;
    if (is_key)
      next_ = expected::colon;
    else
      after_value();
    return true;
  }
  static bool is_escape(std::string_view text) {
    if (text.size() < 2) return false;
    if (text[1] != 'u') return std::string_view("\"\\/bfnrt").find(text[1]) != text.npos;
    const std::string_view digits = text.substr(2, 4);
    return digits.size() == 4 &&
           digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  }

  bool accept_word() {
    if (!wants_value()) return refuse();
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    if (word != "true" && word != "false" && word != "null" && !is_number(word)) return refuse();
    at_ = end;
    after_value();
    return true;
  }
  static bool is_number(std::string_view word) {
    const auto skip_digits = [&] {
      const std::size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
      word.remove_prefix(count);
      return count > 0;
    };
    if (word.starts_with('-')) word.remove_prefix(1);
    if (word.size() > 1 && word[0] == '0' && word[1] >= '0' && word[1] <= '9') return false;
    if (!skip_digits()) return false;
    if (word.starts_with('.')) {
      word.remove_prefix(1);
      if (!skip_digits()) return false;
    }
    if (!word.starts_with('e') && !word.starts_with('E')) return word.empty();
    word.remove_prefix(1);
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    return skip_digits() && word.empty();
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  unsigned line_ = 1;
  expected next_ = expected::value;
  std::string_view trouble_;
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
    problem.message = parsed.error().operation;
    if (problem.message == "not JSON") (void)syntax_error_finder(text).find(problem);
    return parsed.error();
  }
  line_list lines(text);
  return convert(*parsed, lines);
}

} // namespace paddock::skill_manager
