// SPDX-License-Identifier: MIT
#include "mcp/http_server/parameter_headers.hpp"

#include "mcp/http_server/message_rules.hpp"

#include <charconv>
#include <system_error>

namespace paddock::mcp {
namespace {

constexpr std::string_view mark = "x-mcp-header";
constexpr std::size_t depth_max = 16;

/// As clients write it into the header; nothing for values that no header carries.
std::optional<std::string> text_of(json_view value) {
  if (const auto text = value.string()) return std::string(*text);
  if (const auto truth = value.boolean()) return *truth ? "true" : "false";
  if (const auto number = value.integer()) return std::to_string(*number);
  return std::nullopt;
}

/// 42 and 42.0 are the same.
bool same_number(std::string_view text, json_view value) {
  double given = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), given);
  return status == std::errc() && end == text.data() + text.size() && value.number() == given;
}

} // namespace

parameter_headers::parameter_headers(const std::vector<tool>& tools) {
  for (const tool& t : tools) {
    if (t.input_schema.find(mark) == std::string::npos) continue;
    json_document document;
    const auto schema = document.parse(t.input_schema);
    if (!schema) continue;
    std::vector<std::string> path;
    std::vector<marked> found;
    collect(*schema, path, found);
    if (!found.empty()) by_tool_.emplace(t.name, std::move(found));
  }
}

/// Only what a chain of "properties" reaches counts.
void parameter_headers::collect(json_view schema, std::vector<std::string>& path,
                                std::vector<marked>& out) const {
  if (path.size() > depth_max) return;
  schema["properties"].for_each_member([&](std::string_view key, json_view property) {
    path.emplace_back(key);
    if (const auto name = property[mark].string(); name && is_token(*name))
      out.push_back({.header = "mcp-param-" + ascii_lower(*name),
                     .path = path,
                     .is_integer = property["type"].string() == "integer"});
    collect(property, path, out);
    path.pop_back();
  });
}

std::optional<std::string> parameter_headers::mismatch(json_view params,
                                                       const http_fields& headers) const {
  const auto tool = by_tool_.find(std::string(params["name"].string().value_or("")));
  if (tool == by_tool_.end()) return std::nullopt;
  for (const marked& m : tool->second) {
    json_view value = params["arguments"];
    for (const std::string& key : m.path)
      value = value[key];
    const auto expected = text_of(value);
    if (!expected) continue; // a client leaves the header out, and one too many means nothing
    const std::string about = "Header mismatch: the header " + m.header;
    if (headers.count(m.header) != 1)
      return about + " is missing or came twice, but the body has its parameter";
    const auto given = decoded_header(headers.header(m.header));
    if (!given) return about + " is not valid Base64";
    if (*given != *expected && !(m.is_integer && same_number(*given, value)))
      return about + " and its parameter in the body differ";
  }
  return std::nullopt;
}

} // namespace paddock::mcp
