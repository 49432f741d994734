// SPDX-License-Identifier: MIT
#include <paddock/base/detail/excerpt.hpp>
#include <paddock/mcp/tool.hpp>

#include <algorithm>

namespace paddock::mcp {

tool_result tool_result::failure(error_code code, std::string_view message) {
  json_writer out;
  out.begin_object().member("error", wire_name(code)).member("message", message).end_object();
  return {.json = out.take(), .error = std::string(wire_name(code))};
}

namespace {

void write_string_schema(json_writer& out, const parameter& p) {
  out.member("type", "string");
  if (p.characters_min > 0) out.key("minLength").unsigned_integer(p.characters_min);
  if (p.characters_max > 0) out.key("maxLength").unsigned_integer(p.characters_max);
}

void write_integer_schema(json_writer& out, const parameter& p) {
  out.member("type", "integer");
  if (p.minimum) out.key("minimum").integer(*p.minimum);
  if (p.maximum) out.key("maximum").integer(*p.maximum);
}

void write_schema(json_writer& out, const parameter& p) {
  out.begin_object();
  switch (p.type) {
  case parameter_type::string:
    write_string_schema(out, p);
    break;
  case parameter_type::integer:
    write_integer_schema(out, p);
    break;
  case parameter_type::boolean:
    out.member("type", "boolean");
    break;
  case parameter_type::string_array:
    out.member("type", "array").key("items").begin_object();
    write_string_schema(out, p);
    out.end_object();
    break;
  case parameter_type::integer_array:
    out.member("type", "array").key("items").begin_object();
    write_integer_schema(out, p);
    out.end_object();
    break;
  case parameter_type::string_map:
    out.member("type", "object").key("additionalProperties").begin_object();
    write_string_schema(out, p);
    out.end_object();
    break;
  }
  if (!p.description.empty()) out.member("description", p.description);
  if (!p.header.empty()) out.member("x-mcp-header", p.header);
  out.end_object();
}

constexpr std::string_view name_of(parameter_type type) {
  switch (type) {
  case parameter_type::string:
    return "a string";
  case parameter_type::integer:
    return "an integer";
  case parameter_type::boolean:
    return "true or false";
  case parameter_type::string_array:
    return "an array of strings";
  case parameter_type::integer_array:
    return "an array of integers";
  case parameter_type::string_map:
    return "an object whose values are strings";
  }
  return "";
}

constexpr std::string_view name_of(json_kind kind) {
  switch (kind) {
  case json_kind::missing:
    return "nothing";
  case json_kind::null:
    return "null";
  case json_kind::boolean:
    return "a boolean";
  case json_kind::integer:
  case json_kind::number:
    return "a number";
  case json_kind::string:
    return "a string";
  case json_kind::array:
    return "an array";
  case json_kind::object:
    return "an object";
  }
  return "";
}

std::uint64_t code_points(std::string_view utf8) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// What is wrong with one string or integer, as the end of a sentence that begins with its name; or
/// empty.
std::string problem_of_scalar(const parameter& p, bool textual, json_view value) {
  if (!textual) {
    const auto n = value.integer();
    if (!n) return " must be an integer, not " + std::string(name_of(value.kind()));
    if (p.minimum && *n < *p.minimum) return " must be at least " + std::to_string(*p.minimum);
    if (p.maximum && *n > *p.maximum) return " must be at most " + std::to_string(*p.maximum);
    return {};
  }
  const auto text = value.string();
  if (!text) return " must be a string, not " + std::string(name_of(value.kind()));
  if (p.characters_min == 0 && (p.characters_max == 0 || text->size() <= p.characters_max))
    return {};
  const std::uint64_t characters = code_points(*text);
  if (characters < p.characters_min && characters == 0) return " must not be empty";
  if (characters < p.characters_min)
    return " must have at least " + std::to_string(p.characters_min) + " characters";
  if (p.characters_max != 0 && characters > p.characters_max)
    return " has " + std::to_string(characters) + " characters, at most " +
           std::to_string(p.characters_max) + " are accepted" +
           (p.too_long_hint.empty() ? "" : "; " + std::string(p.too_long_hint));
  return {};
}

std::string problem_of(const parameter& p, json_view value) {
  const auto wrong_type = [&] {
    return " must be " + std::string(name_of(p.type)) + ", not " +
           std::string(name_of(value.kind()));
  };
  std::string problem;
  std::size_t index = 0;
  const auto element = [&](bool textual) {
    return [&, textual](json_view e) {
      if (problem.empty())
        if (const std::string inner = problem_of_scalar(p, textual, e); !inner.empty())
          problem = "[" + std::to_string(index) + "]" + inner;
      ++index;
    };
  };
  switch (p.type) {
  case parameter_type::string:
    return problem_of_scalar(p, true, value);
  case parameter_type::integer:
    return problem_of_scalar(p, false, value);
  case parameter_type::boolean:
    return value.boolean() ? std::string() : wrong_type();
  case parameter_type::string_array:
  case parameter_type::integer_array:
    if (!value.is(json_kind::array)) return wrong_type();
    value.for_each_element(element(p.type == parameter_type::string_array));
    return problem;
  case parameter_type::string_map:
    if (!value.is(json_kind::object)) return wrong_type();
    value.for_each_member([&](std::string_view key, json_view e) {
      if (!problem.empty()) return;
      if (const std::string inner = problem_of_scalar(p, true, e); !inner.empty())
        problem = "[\"" + detail::excerpt(key) + "\"]" + inner;
    });
    return problem;
  }
  return problem;
}

std::string accepted_names(const tool& t) {
  if (t.parameters.empty()) return "it takes none";
  std::string names;
  for (const parameter& p : t.parameters) {
    if (!names.empty()) names += ", ";
    names += p.name;
  }
  return "it takes " + names;
}

} // namespace

std::string input_schema_of(const tool& t) {
  if (!t.input_schema.empty()) return t.input_schema;
  json_writer out;
  out.begin_object().member("type", "object");
  if (!t.parameters.empty()) {
    out.key("properties").begin_object();
    for (const parameter& p : t.parameters) {
      out.key(p.name);
      write_schema(out, p);
    }
    out.end_object();
  }
  if (std::ranges::find(t.parameters, presence::required, &parameter::presence) !=
      t.parameters.end()) {
    out.key("required").begin_array();
    for (const parameter& p : t.parameters)
      if (p.presence == presence::required) out.string(p.name);
    out.end_array();
  }
  out.key("additionalProperties").boolean(false).end_object();
  return out.take();
}

std::string problems_of(const tool& t, json_view arguments) {
  std::string problems;
  const auto add = [&](std::string_view name, std::string_view problem) {
    if (!problems.empty()) problems += "; ";
    problems += '"';
    problems += name;
    problems += '"';
    problems += problem;
  };
  if (!t.input_schema.empty()) return problems;
  for (const parameter& p : t.parameters) {
    const json_view value = arguments[p.name];
    if (!value.exists()) {
      if (p.presence == presence::required)
        add(p.name, " is required: give " + std::string(name_of(p.type)));
    } else if (value.is(json_kind::null) && p.presence == presence::optional) {
      add(p.name, " must be " + std::string(name_of(p.type)) + ", not null; leave it out instead");
    } else if (const std::string problem = problem_of(p, value); !problem.empty()) {
      add(p.name, problem);
    }
  }
  // A client may send any number of unknown names, of any length.
  std::uint64_t room = echo_characters_max;
  std::size_t unnamed = 0;
  arguments.for_each_member([&](std::string_view name, json_view) {
    if (std::ranges::find(t.parameters, name, &parameter::name) != t.parameters.end()) return;
    if (room == 0) {
      ++unnamed;
      return;
    }
    add(detail::excerpt(name, room),
        " is not a parameter of " + t.name + " (" + accepted_names(t) + ")");
    constexpr std::uint64_t least = 20; // so that many short names end, too
    room -= std::min(room, std::max(code_points(name), least));
  });
  if (unnamed > 0) problems += "; and " + std::to_string(unnamed) + " more";
  return problems;
}

} // namespace paddock::mcp
