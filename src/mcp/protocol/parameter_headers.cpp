// SPDX-License-Identifier: MIT
#include "mcp/protocol/parameter_headers.hpp"

#include "http/text.hpp"

#include <algorithm>
#include <optional>

namespace paddock::mcp {
namespace {

constexpr std::string_view prefix = "Mcp-Param-";

/// Keywords whose value is data and not a schema.
constexpr std::string_view data_keywords[] = {"const", "default", "enum", "examples",
                                              header_annotation};
/// Keywords whose value is an object of schemas, under any names.
constexpr std::string_view map_keywords[] = {"$defs", "definitions", "dependentSchemas",
                                             "patternProperties", "properties"};

bool contains(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

class walk {
public:
  parameter_headers found;

  /// `reachable`: by a chain of "properties" alone, so that `path_` is that of a parameter.
  void look_at(json_view schema, bool reachable) {
    if (const json_view name = schema[header_annotation]; name.exists())
      take(name, schema["type"], reachable && !path_.empty());
    schema.for_each_member([&](std::string_view keyword, json_view value) {
      if (contains(data_keywords, keyword)) return;
      if (contains(map_keywords, keyword))
        return look_at_each(value, reachable && keyword == "properties");
      if (value.is(json_kind::object)) look_at(value, false);
      value.for_each_element([&](json_view each) { look_at(each, false); });
    });
  }

private:
  void look_at_each(json_view schemas, bool reachable) {
    schemas.for_each_member([&](std::string_view name, json_view each) {
      path_.emplace_back(name);
      look_at(each, reachable);
      path_.pop_back();
    });
  }

  void take(json_view name, json_view type, bool reachable) {
    constexpr std::string_view types[] = {"boolean", "integer", "string"};
    const auto text = name.string();
    if (!reachable)
      complain("is not at a parameter");
    else if (!text || !http::is_token(*text))
      complain("is no name for a header");
    else if (!contains(types, type.string().value_or("")))
      complain("is at a parameter that is neither string nor integer nor boolean");
    else if (const std::string lower = http::ascii_lower(*text); contains(names_, lower))
      complain("names the same header twice");
    else {
      names_.push_back(lower);
      found.headers.push_back({.name = std::string(prefix).append(*text), .path = path_});
    }
  }
  void complain(std::string_view what) {
    if (found.problem.empty())
      found.problem = std::string(header_annotation).append(" ").append(what);
  }

  std::vector<std::string> path_;
  std::vector<std::string> names_; ///< in lower case
};

std::optional<std::string> header_text_of(json_view value) {
  if (const auto text = value.string()) return std::string(*text);
  if (const auto number = value.integer()) return std::to_string(*number);
  if (const auto truth = value.boolean()) return *truth ? "true" : "false";
  return std::nullopt;
}

} // namespace

parameter_headers parameter_headers_of(json_view input_schema) {
  walk w;
  w.look_at(input_schema, true);
  return std::move(w.found);
}

std::vector<std::pair<std::string, std::string>>
values_of(const std::vector<parameter_header>& headers, json_view arguments) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const parameter_header& each : headers) {
    json_view value = arguments;
    for (const std::string& name : each.path)
      value = value[name];
    if (auto text = header_text_of(value)) values.emplace_back(each.name, *std::move(text));
  }
  return values;
}

} // namespace paddock::mcp
