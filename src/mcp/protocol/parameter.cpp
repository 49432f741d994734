// SPDX-License-Identifier: MIT
#include <paddock/mcp/parameter.hpp>

#include <algorithm>
#include <set>

// What follows from a table alone, or from arguments that fit it: schema, fallbacks, the check of
// the table. The check of arguments is in parameter_check.cpp.

namespace paddock::mcp {
namespace {

using type = parameter_type;

void write_string_schema(json_writer& out, const parameter& p) {
  out.member("type", "string");
  if (p.characters_min > 0) out.key("minLength").unsigned_integer(p.characters_min);
  if (p.characters_max > 0) out.key("maxLength").unsigned_integer(p.characters_max);
  if (p.choices.empty()) return;
  out.key("enum").begin_array();
  for (const std::string_view choice : p.choices)
    out.string(choice);
  out.end_array();
}

void write_number_schema(json_writer& out, const parameter& p, std::string_view name) {
  out.member("type", name);
  if (p.minimum) out.key("minimum").integer(*p.minimum);
  if (p.maximum) out.key("maximum").integer(*p.maximum);
}

void write_object_schema(json_writer& out, std::span<const parameter> members);

/// Begins the array's schema and that of its elements.
json_writer& begin_elements(json_writer& out, const parameter& p) {
  out.member("type", "array");
  if (p.elements_min > 0) out.key("minItems").unsigned_integer(p.elements_min);
  if (p.elements_max > 0) out.key("maxItems").unsigned_integer(p.elements_max);
  return out.key("items").begin_object();
}

/// The members of the schema that say what values are taken.
void write_type(json_writer& out, const parameter& p) { // as deep as the table is nested
  switch (p.type) {
  case type::string:
    return write_string_schema(out, p);
  case type::integer:
    return write_number_schema(out, p, "integer");
  case type::number:
    return write_number_schema(out, p, "number");
  case type::boolean:
    out.member("type", "boolean");
    return;
  case type::string_array:
    write_string_schema(begin_elements(out, p), p);
    out.end_object();
    return;
  case type::integer_array:
    write_number_schema(begin_elements(out, p), p, "integer");
    out.end_object();
    return;
  case type::string_map:
    write_string_schema(out.member("type", "object").key("additionalProperties").begin_object(), p);
    out.end_object();
    return;
  case type::object:
    return write_object_schema(out, p.members);
  case type::object_array:
    write_object_schema(begin_elements(out, p), p.members);
    out.end_object();
    return;
  }
}

void write_schema(json_writer& out, const parameter& p) {
  out.begin_object();
  write_type(out, p);
  if (!p.fallback.empty()) out.key("default").raw(p.fallback);
  if (!p.description.empty()) out.member("description", p.description);
  if (!p.header.empty()) out.member("x-mcp-header", p.header);
  out.end_object();
}

void write_object_schema(json_writer& out, std::span<const parameter> members) {
  out.member("type", "object");
  out.key("properties").begin_object(); // some hosts refuse a schema without it
  for (const parameter& p : members)
    write_schema(out.key(p.name), p);
  out.end_object();
  if (std::ranges::find(members, presence::required, &parameter::presence) != members.end()) {
    out.key("required").begin_array();
    for (const parameter& p : members)
      if (p.presence == presence::required) out.string(p.name);
    out.end_array();
  }
  out.key("additionalProperties").boolean(false);
}

// --- fallbacks ---------------------------------------------------------------------------------

const parameter* find(std::span<const parameter> parameters, std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &parameter::name);
  return found == parameters.end() ? nullptr : &*found;
}

bool lacks_fallbacks(std::span<const parameter> parameters, json_view object) {
  bool lacks = false;
  for (const parameter& p : parameters) {
    const json_view value = object[p.name];
    if (!value.exists())
      lacks = lacks || !p.fallback.empty();
    else if (p.type == type::object)
      lacks = lacks || lacks_fallbacks(p.members, value);
    else if (p.type == type::object_array)
      value.for_each_element(
          [&](json_view element) { lacks = lacks || lacks_fallbacks(p.members, element); });
  }
  return lacks;
}

void write_filled(json_writer& out, std::span<const parameter> parameters, json_view object) {
  out.begin_object();
  object.for_each_member([&](std::string_view name, json_view value) {
    const parameter* const p = find(parameters, name);
    out.key(name);
    if (p != nullptr && p->type == type::object) {
      write_filled(out, p->members, value);
    } else if (p != nullptr && p->type == type::object_array) {
      out.begin_array();
      value.for_each_element([&](json_view element) { write_filled(out, p->members, element); });
      out.end_array();
    } else {
      out.raw(value.text());
    }
  });
  for (const parameter& p : parameters)
    if (!p.fallback.empty() && !object[p.name].exists()) out.key(p.name).raw(p.fallback);
  out.end_object();
}

// --- the table itself --------------------------------------------------------------------------

bool holds_strings(type t) {
  return t == type::string || t == type::string_array || t == type::string_map;
}
bool holds_numbers(type t) {
  return t == type::integer || t == type::number || t == type::integer_array;
}
bool is_array(type t) {
  return t == type::string_array || t == type::integer_array || t == type::object_array;
}
bool holds_objects(type t) {
  return t == type::object || t == type::object_array;
}

std::string problem_of_fallback(const parameter& p) {
  if (p.fallback.empty()) return {};
  if (p.presence == presence::required) return "is required and has a fallback";
  if (p.fallback.find_first_of("\r\n") != std::string_view::npos)
    return "has a fallback of several lines";
  parameter given = p;
  given.presence = presence::required;
  std::string text = "{\"";
  text.append(p.name).append("\":").append(p.fallback).append("}");
  json_document document;
  const auto parsed = document.parse(text);
  if (!parsed) return "has a fallback that is " + std::string(parsed.error().operation);
  const std::string problems = problems_of({&given, 1}, *parsed, {});
  return problems.empty() ? "" : "has a fallback that does not fit: " + problems;
}

std::string problem_of(const parameter& p) {
  if (!p.choices.empty() && !holds_strings(p.type)) return "has choices, and is no string";
  if ((p.minimum || p.maximum) && !holds_numbers(p.type)) return "has bounds, and is no number";
  if ((p.characters_min > 0 || p.characters_max > 0) && !holds_strings(p.type))
    return "has a length, and is no string";
  if ((p.elements_min > 0 || p.elements_max > 0) && !is_array(p.type))
    return "counts elements, and is no array";
  if (p.members.empty() == holds_objects(p.type))
    return p.members.empty() ? "is an object without members" : "has members, and is no object";
  if (const std::string inner = problem_of_table(p.members); !inner.empty())
    return "has members, of which " + inner;
  return problem_of_fallback(p);
}

} // namespace

std::string schema_of(std::span<const parameter> parameters) {
  json_writer out;
  out.begin_object();
  write_object_schema(out, parameters);
  return out.end_object().take();
}

std::optional<std::string> with_fallbacks(std::span<const parameter> parameters,
                                          json_view arguments) {
  if (!lacks_fallbacks(parameters, arguments)) return std::nullopt;
  json_writer out;
  write_filled(out, parameters, arguments);
  return out.take();
}

std::string problem_of_table(std::span<const parameter> parameters) {
  std::set<std::string_view> names;
  for (const parameter& p : parameters) {
    if (p.name.empty()) return "one has no name";
    if (!names.insert(p.name).second) return "two are called " + std::string(p.name);
    if (const std::string problem = problem_of(p); !problem.empty())
      return std::string(p.name) + " " + problem;
  }
  return {};
}

} // namespace paddock::mcp
