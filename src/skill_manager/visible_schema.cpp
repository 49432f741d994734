// SPDX-License-Identifier: MIT
#include "skill_manager/visible_schema.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/base/detail/visible_text.hpp>
#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <cstdint>

namespace paddock::skill_manager {
namespace {

constexpr std::size_t shown_characters_max = 80;

enum class part : std::uint8_t {
  schema,
  names,   ///< an object whose members are named by the server, each a schema or a list of names
  words,   ///< for people and models
  compared ///< by the server
};

struct keyword {
  std::string_view name;
  part holds;
};

// Of the others, the strings are words and the objects schemas.
constexpr keyword keywords[] = {
    {"properties", part::names},
    {"patternProperties", part::names},
    {"$defs", part::names},
    {"definitions", part::names},
    {"dependentSchemas", part::names},
    {"dependentRequired", part::names},
    {"dependencies", part::names},
    {"default", part::words},
    {"example", part::words},
    {"examples", part::words},
    {"enum", part::compared},
    {"const", part::compared},
    {"required", part::compared},
    {"pattern", part::compared},
    {"type", part::compared},
    {"format", part::compared},
    {"contentEncoding", part::compared},
    {"contentMediaType", part::compared},
    {"$schema", part::compared},
    {"$id", part::compared},
    {"$ref", part::compared},
    {"$anchor", part::compared},
    {"$dynamicRef", part::compared},
    {"$dynamicAnchor", part::compared},
};

part part_of(std::string_view key) {
  const auto* const found = std::ranges::find(keywords, key, &keyword::name);
  return found == std::end(keywords) ? part::schema : found->holds;
}

class reader {
public:
  /// The parser's bound on the depth bounds the recursion.
  void append(mcp::json_view value, part as) {
    if (const auto text = value.string()) {
      if (as == part::compared || as == part::names) expect_visible("value", *text);
      out_.string(detail::without_hidden(*text));
    } else if (value.is(mcp::json_kind::array)) {
      out_.begin_array();
      value.for_each_element([&](mcp::json_view element) {
        append(element, as == part::names ? part::compared : as);
      });
      out_.end_array();
    } else if (value.is(mcp::json_kind::object)) {
      out_.begin_object();
      value.for_each_member([&](std::string_view key, mcp::json_view member) {
        expect_visible("name", key);
        out_.key(key);
        append(member, part_of_member(as, key, member));
      });
      out_.end_object();
    } else {
      out_.raw(value.text());
    }
  }

  readable_schema take() { return {.json = out_.take(), .refused = std::move(refused_)}; }

private:
  static part part_of_member(part as, std::string_view key, mcp::json_view member) {
    if (as == part::schema) return part_of(key);
    if (as != part::names) return as;
    return member.is(mcp::json_kind::object) ? part::schema : part::compared;
  }

  void expect_visible(const char* what, std::string_view text) {
    if (!refused_.empty() || !detail::has_hidden(text)) return;
    refused_ = std::string("the ") + what + " " +
               detail::excerpt(detail::with_hidden_named(text), shown_characters_max);
  }

  mcp::json_writer out_;
  std::string refused_;
};

} // namespace

readable_schema visible_schema(std::string_view json) {
  // Most have no such characters, and no escapes.
  if (json.find('\\') == std::string_view::npos && !detail::has_hidden(json))
    return {.json = std::string(json), .refused = {}};
  mcp::json_document document;
  const auto root = document.parse(json);
  if (!root) return {.json = {}, .refused = "the text, which cannot be read as JSON,"};
  reader made;
  made.append(*root, part::schema);
  return made.take();
}

} // namespace paddock::skill_manager
