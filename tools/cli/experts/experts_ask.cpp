// SPDX-License-Identifier: MIT
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "experts.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace paddock::cli {
namespace {

constexpr std::size_t asked_width = 2000;

/// One member of a schema, as far as a terminal can ask for it.
struct question {
  std::string name;
  std::string type;
  std::string description;
  std::vector<std::string> choices; ///< of an enum, as JSON
  bool required = false;
};

std::vector<question> questions_of(mcp::json_view schema) {
  std::vector<question> all;
  schema["properties"].for_each_member([&](std::string_view name, mcp::json_view property) {
    question q{.name = std::string(name),
               .type = std::string(property["type"].string().value_or("string")),
               .description = std::string(property["description"].string().value_or("")),
               .choices = {}};
    property["enum"].for_each_element(
        [&](mcp::json_view choice) { q.choices.push_back(choice.text()); });
    schema["required"].for_each_element(
        [&](mcp::json_view element) { q.required |= element.string() == name; });
    all.push_back(std::move(q));
  });
  return all;
}

std::string json_string(std::string_view text) {
  mcp::json_writer out;
  out.string(text);
  return out.take();
}

/// What a person typed as JSON of the type that is asked for; nothing when it does not fit.
std::optional<std::string> as_json(const question& q, const std::string& typed) {
  if (!q.choices.empty()) {
    for (const std::string& candidate : {typed, json_string(typed)})
      if (std::ranges::find(q.choices, candidate) != q.choices.end()) return candidate;
    return std::nullopt;
  }
  if (q.type == "string") return json_string(typed);
  if (q.type == "boolean") {
    if (typed == "y" || typed == "yes" || typed == "true") return "true";
    if (typed == "n" || typed == "no" || typed == "false") return "false";
    return std::nullopt;
  }
  mcp::json_document document;
  const auto value = document.parse(typed);
  if (!value) return std::nullopt;
  const bool fits = (q.type == "integer" && value->integer()) ||
                    (q.type == "number" && value->number()) ||
                    (q.type == "array" && value->is(mcp::json_kind::array)) ||
                    (q.type == "object" && value->is(mcp::json_kind::object));
  return fits ? std::optional(value->text()) : std::nullopt;
}

std::string prompt_of(const question& q) {
  std::string text = q.name + " (";
  if (q.choices.empty()) {
    text += q.type == "boolean" ? "y or n" : q.type;
  } else {
    for (const std::string& choice : q.choices)
      text += (&choice == q.choices.data() ? "" : ", ") + choice;
  }
  text += q.required ? ")" : ", optional)";
  if (!q.description.empty()) text += " " + q.description;
  return fit(text, asked_width) + ": ";
}

std::optional<std::string> read_line(const std::string& prompt) {
  print_problem("%s", prompt.c_str());
  std::fflush(stderr);
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

} // namespace

std::optional<std::string> ask_for_arguments(std::string_view input_schema) {
  mcp::json_document schema;
  if (!schema.parse(input_schema)) return std::nullopt;
  mcp::json_writer out;
  out.begin_object();
  for (const question& q : questions_of(schema.root())) {
    for (;;) {
      const auto typed = read_line(prompt_of(q));
      if (!typed) return std::nullopt;
      if (typed->empty() && !q.required) break;
      if (const auto value = as_json(q, *typed)) {
        out.key(q.name).raw(*value);
        break;
      }
      print_problem("that does not fit; try again\n");
    }
  }
  return out.end_object().take();
}

std::optional<std::string> ask(const skill_manager::interactive_call& call) {
  print_problem("%s asks", fit(call.tool, asked_width).c_str());
  if (!call.description.empty()) print_problem(" (%s)", fit(call.description, asked_width).c_str());
  print_problem("\n");
  mcp::json_document arguments;
  if (arguments.parse(call.arguments))
    arguments.root().for_each_member([](std::string_view name, mcp::json_view value) {
      const auto text = value.string();
      print_problem("  %s: %s\n", fit(name, asked_width).c_str(),
                    fit(text ? std::string(*text) : value.text(), asked_width).c_str());
    });
  return read_line("answer: ");
}

} // namespace paddock::cli
