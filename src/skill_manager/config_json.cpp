// SPDX-License-Identifier: MIT
#include "skill_manager/config_tree.hpp"

#include <paddock/mcp/json.hpp>

#include <algorithm>
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
  const auto parsed = document.parse(text);
  if (!parsed) {
    problem.message = std::string("not JSON: ") + parsed.error().operation;
    return parsed.error();
  }
  line_list lines(text);
  return convert(*parsed, lines);
}

} // namespace paddock::skill_manager
