// SPDX-License-Identifier: MIT
#include "skill_manager/config/tree.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <utility>

namespace paddock::skill_manager {
namespace {

/// Reads JSON with what editors allow in their settings: comments, and a comma behind the last of
/// its kind. Knows the line of each key and value, and where the text goes wrong.
class json_reader {
public:
  json_reader(std::string_view text, config_problem& problem) : text_(text), problem_(problem) {}

  bool read(config_node& made) {
    if (!value(made, "a value is expected", 0)) return false;
    skip_blanks();
    return at_ == text_.size() || refuse("nothing more is expected");
  }

private:
  bool refuse(std::string_view wanted) {
    if (at_ < text_.size()) return refuse_here(wanted);
    return fail("not JSON: it ends where " + std::string(wanted));
  }
  bool refuse_here(std::string_view trouble) {
    return fail("not JSON: " + std::string(trouble) + " at column " +
                std::to_string(at_ - line_begin_ + 1));
  }
  bool fail(std::string message) {
    problem_.line = line_;
    problem_.message = std::move(message);
    return false;
  }

  [[nodiscard]] bool is_at(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }
  bool take(char c) {
    skip_blanks();
    const bool is_there = is_at({&c, 1});
    at_ += is_there ? 1 : 0;
    return is_there;
  }
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_at("//"))
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (is_at("/*"))
        skip_to(text_.find("*/", at_ + 2));
      else if (std::string_view(" \t\r\n").find(text_[at_]) != text_.npos)
        skip_to(at_);
      else
        return;
    }
  }
  /// Behind what ends there: a blank, or a comment.
  void skip_to(std::size_t last) {
    const std::size_t end = last >= text_.size() ? text_.size() : last + (is_at("/*") ? 2 : 1);
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      line_begin_ = at_ + 1;
    }
  }

  bool value(config_node& made, std::string_view wanted, std::size_t depth) {
    skip_blanks();
    made.line = line_;
    if (depth == mcp::json_depth_max) return fail("nested too deeply");
    if (take('{')) return table(made, depth + 1);
    if (take('[')) return array(made, depth + 1);
    std::string_view token;
    if (is_at("\"")) return string_token(token) && scalar(token, made);
    token = text_.substr(at_, text_.find_first_of(" \t\r\n,:{}[]\"/", at_) - at_);
    if (!scalar(token, made)) return refuse(wanted);
    at_ += token.size();
    return true;
  }

  bool table(config_node& made, std::size_t depth) {
    made.kind = node_kind::table;
    std::string_view wanted = "a name in double quotes or } is expected";
    while (!take('}')) {
      if (!is_at("\"")) return refuse(wanted);
      config_member& member = made.members.emplace_back();
      member.line = line_;
      std::string_view token;
      config_node name;
      if (!string_token(token) || !scalar(token, name)) return false;
      member.key = std::move(name.text);
      if (!take(':')) return refuse("a colon is expected");
      if (!value(member.value, "a value is expected", depth)) return false;
      if (take('}')) return true;
      if (!take(',')) return refuse("a comma or } is expected");
      wanted = "a name in double quotes is expected";
    }
    return true;
  }

  bool array(config_node& made, std::size_t depth) {
    made.kind = node_kind::array;
    std::string_view wanted = "a value or ] is expected";
    while (!take(']')) {
      if (!value(made.elements.emplace_back(), wanted, depth)) return false;
      if (take(']')) return true;
      if (!take(',')) return refuse("a comma or ] is expected");
      wanted = "a value is expected";
    }
    return true;
  }

  /// Takes a string with its quotes.
  bool string_token(std::string_view& token) {
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != '"'; ++end) {
      if (static_cast<unsigned char>(text_[end]) < ' ') break;
      if (text_[end] != '\\') continue;
      if (!is_escape(text_.substr(end))) {
        at_ = end;
        return refuse_here("there is no such escape (a backslash itself is written twice)");
      }
      ++end;
    }
    if (end >= text_.size() || text_[end] != '"')
      return refuse_here("the closing quote is missing on the line of the text that begins");
    token = text_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    return true;
  }
  static bool is_escape(std::string_view text) {
    if (text.size() < 2) return false;
    if (text[1] != 'u') return std::string_view("\"\\/bfnrt").find(text[1]) != text.npos;
    const std::string_view digits = text.substr(2, 4);
    return digits.size() == 4 &&
           digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  }

  /// A string with its quotes, a number, or a word.
  bool scalar(std::string_view token, config_node& made) {
    const auto parsed = document_.parse(token);
    if (!parsed) return false;
    if (const auto text = parsed->string()) {
      made.kind = node_kind::string;
      made.text = *text;
    } else if (parsed->is(mcp::json_kind::integer)) {
      made.kind = node_kind::integer;
      made.integer = parsed->integer().value_or(0);
    } else if (const auto number = parsed->number()) {
      made.kind = node_kind::number;
      made.number = *number;
    } else if (const auto boolean = parsed->boolean()) {
      made.kind = node_kind::boolean;
      made.boolean = *boolean;
    }
    return true;
  }

  const std::string_view text_;
  config_problem& problem_;
  mcp::json_document document_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  unsigned line_ = 1;
};

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
  constexpr error not_json{error_code::invalid_argument, 0, "JSON"};
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (!detail::is_valid_utf8(text)) {
    problem.message = "not UTF-8";
    return not_json;
  }
  config_node made;
  if (!json_reader(text, problem).read(made)) return not_json;
  return made;
}

} // namespace paddock::skill_manager
