// SPDX-License-Identifier: MIT
#include "text_forms.hpp"

#include <paddock/path/lexical_path.hpp>

namespace paddock::cli {
namespace {

bool holds_only_scalars(mcp::json_view value) {
  bool nested = false;
  const auto look = [&](mcp::json_view inner) {
    nested |= inner.is(mcp::json_kind::object) || inner.is(mcp::json_kind::array);
  };
  value.for_each_element(look);
  value.for_each_member([&](std::string_view, mcp::json_view inner) { look(inner); });
  return !nested;
}

/// The parser's bound on the depth bounds the recursion.
void append_indented(std::string& out, mcp::json_view value, std::size_t depth) {
  if (holds_only_scalars(value)) {
    out += value.text();
    return;
  }
  const bool is_object = value.is(mcp::json_kind::object);
  const auto new_line = [&](std::size_t indent) { out.append("\n").append(2 * indent, ' '); };
  out += is_object ? '{' : '[';
  bool first = true;
  const auto begin_item = [&] {
    if (!first) out += ',';
    first = false;
    new_line(depth + 1);
  };
  value.for_each_element([&](mcp::json_view element) {
    begin_item();
    append_indented(out, element, depth + 1);
  });
  value.for_each_member([&](std::string_view key, mcp::json_view member) {
    begin_item();
    out += mcp::json_writer().string(key).take() + ": ";
    append_indented(out, member, depth + 1);
  });
  new_line(depth);
  out += is_object ? '}' : ']';
}

} // namespace

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_-+=./,:@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return quoted + "'";
}

std::string indented(mcp::json_view value) {
  std::string out;
  append_indented(out, value, 0);
  return out;
}

std::string indented(std::string_view json) {
  mcp::json_document document;
  const auto parsed = document.parse(json);
  return parsed ? indented(*parsed) : std::string(json);
}

void write_names(mcp::json_writer& out, std::string_view key,
                 const std::vector<std::string>& names) {
  out.key(key).begin_array();
  for (const std::string& name : names)
    out.string(encode_name(name));
  out.end_array();
}

void write_event(mcp::json_writer& out, const network_event& event) {
  out.begin_object().member("host", encode_name(event.host));
  out.key("port").unsigned_integer(event.port).member("outcome", wire_name(event.what));
  if (!event.detail.empty()) out.member("detail", encode_name(event.detail));
  if (event.what == network_event::outcome::ended)
    out.key("sent").unsigned_integer(event.sent).key("received").unsigned_integer(event.received);
  out.end_object();
}

std::string toml_string(std::string_view utf8) {
  // JSON's escapes are TOML's; only DEL, which TOML wants escaped, JSON lets pass.
  std::string out;
  for (const char c : mcp::json_writer().string(utf8).take())
    out += c == 0x7F ? std::string(R"(\u007F)") : std::string(1, c);
  return out;
}

} // namespace paddock::cli
