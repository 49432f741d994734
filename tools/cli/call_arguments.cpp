// SPDX-License-Identifier: MIT
#include "call_arguments.hpp"

#include "common/text_forms.hpp"
#include "input.hpp"

#include <paddock/base/detail/nearest_name.hpp>
#include <paddock/base/detail/utf8.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace paddock::cli {
namespace {

struct value_kind {
  std::string_view schema_type;
  mcp::json_kind json;
  std::string_view wanted; ///< the end of "must be …"
};
constexpr std::array value_kinds{
    value_kind{"integer", mcp::json_kind::integer, "an integer, for example -1"},
    value_kind{"number", mcp::json_kind::number, "a number, for example 1.5"},
    value_kind{"boolean", mcp::json_kind::boolean, "true or false"},
    value_kind{"array", mcp::json_kind::array, R"(a JSON array, for example '["a"]')"},
    value_kind{"object", mcp::json_kind::object, R"(a JSON object, for example '{"a": "b"}')"},
};

bool is_of(const value_kind& kind, mcp::json_view value) {
  if (kind.json == mcp::json_kind::integer) return value.integer().has_value();
  if (kind.json == mcp::json_kind::number) return value.number().has_value();
  return value.is(kind.json);
}

std::string nearest_key(mcp::json_view properties, std::string_view key) {
  std::vector<std::string> keys;
  properties.for_each_member(
      [&](std::string_view each, mcp::json_view) { keys.emplace_back(each); });
  return detail::did_you_mean(key, keys);
}

std::string known_keys(mcp::json_view properties) {
  std::string keys;
  properties.for_each_member([&](std::string_view key, mcp::json_view) {
    keys.append(keys.empty() ? "" : ", ").append(key);
  });
  return keys.empty() ? "it takes none" : "it takes " + keys;
}

/// The value as JSON for a parameter of this schema; empty, and a problem, when it does not fit.
std::string value_for(mcp::json_view schema, std::string_view key, std::string_view value,
                      std::string& problem) {
  const auto type = schema["type"].string();
  const auto kind = std::ranges::find(value_kinds, type.value_or(""), &value_kind::schema_type);
  if (type && kind == value_kinds.end()) // "string"
    return mcp::json_writer().string(value).take();
  mcp::json_document document;
  const auto parsed = document.parse(value);
  // A schema without one type accepts what is JSON as that, and other text as text.
  if (!type) return parsed ? parsed->text() : mcp::json_writer().string(value).take();
  if (parsed && is_of(*kind, *parsed)) return parsed->text();
  problem = "--arg " + std::string(key) + ": the value must be " + std::string(kind->wanted);
  return {};
}

} // namespace

std::optional<std::string> value_or_file(std::string_view given, std::string& problem) {
  if (!given.starts_with('@') || given == "@") return std::string(given);
  given.remove_prefix(1);
  if (given.starts_with('@')) return std::string(given);
  const std::string name(given);
  auto text = read_input(name, problem);
  if (text && detail::first_invalid_utf8(*text) == text->size()) return text;
  if (text) problem = "is not UTF-8 text";
  problem = "the file " + name + " " + problem + "; write @@ for a value that begins with @";
  return std::nullopt;
}

std::optional<std::string> arguments_from_pairs(const mcp::tool& tool,
                                                std::span<const std::string> pairs,
                                                std::string& problem) {
  mcp::json_document schema;
  const auto parsed = schema.parse(mcp::input_schema_of(tool));
  const mcp::json_view properties = parsed ? (*parsed)["properties"] : mcp::json_view();
  std::vector<std::string_view> seen;
  mcp::json_writer out;
  out.begin_object();
  for (const std::string& pair : pairs) {
    const std::string_view text = pair;
    const auto equals = text.find('=');
    const std::string_view key = text.substr(0, equals);
    if (equals == std::string_view::npos || key.empty())
      problem = "--arg takes key=value, not " + pair +
                (properties[text].exists() ? "; write --arg " + pair + "=VALUE" : "");
    else if (!properties[key].exists())
      problem = "--arg " + std::string(key) + ": " + tool.name + " has no such parameter (" +
                known_keys(properties) + ")" + nearest_key(properties, key);
    else if (std::ranges::find(seen, key) != seen.end())
      problem = "--arg " + std::string(key) + " is given twice";
    if (!problem.empty()) return std::nullopt;
    const auto given = value_or_file(text.substr(equals + 1), problem);
    if (!given) problem = "--arg " + std::string(key) + ": " + problem;
    if (!given) return std::nullopt;
    const std::string value = value_for(properties[key], key, *given, problem);
    if (value.empty()) return std::nullopt;
    seen.push_back(key);
    out.key(key).raw(value);
  }
  out.end_object();
  return out.take();
}

std::string pairs_for_shell(mcp::json_view arguments) {
  std::string words;
  arguments.for_each_member([&](std::string_view key, mcp::json_view value) {
    const auto text = value.string();
    words += " --arg ";
    const std::string_view escape = text && text->starts_with('@') ? "@" : "";
    words += shell_word(std::string(key).append("=").append(escape) +
                        (text ? std::string(*text) : value.text()));
  });
  return words;
}

} // namespace paddock::cli
