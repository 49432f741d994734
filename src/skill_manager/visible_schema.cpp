// SPDX-License-Identifier: MIT
#include "skill_manager/visible_schema.hpp"

#include <paddock/detail/visible_text.hpp>
#include <paddock/mcp/json.hpp>

namespace paddock::skill_manager {
namespace {

/// The parser's bound on the depth bounds the recursion.
void append_visible(mcp::json_writer& out, mcp::json_view value) {
  if (value.is(mcp::json_kind::array)) {
    out.begin_array();
    value.for_each_element([&](mcp::json_view element) { append_visible(out, element); });
    out.end_array();
  } else if (value.is(mcp::json_kind::object)) {
    out.begin_object();
    value.for_each_member([&](std::string_view key, mcp::json_view member) {
      out.key(key);
      const auto text = member.string();
      if (text && (key == "description" || key == "title"))
        out.string(detail::without_hidden(*text));
      else
        append_visible(out, member);
    });
    out.end_object();
  } else {
    out.raw(value.text());
  }
}

} // namespace

std::string visible_schema(std::string_view json) {
  // Most have nothing but ASCII, and no escapes.
  const bool is_plain = json.find('\\') == std::string_view::npos &&
                        detail::without_hidden(json).size() == json.size();
  mcp::json_document document;
  if (is_plain || !document.parse(json)) return std::string(json);
  mcp::json_writer out;
  append_visible(out, document.root());
  return out.take();
}

} // namespace paddock::skill_manager
