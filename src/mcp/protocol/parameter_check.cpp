// SPDX-License-Identifier: MIT
#include <paddock/base/detail/excerpt.hpp>
#include <paddock/mcp/parameter.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace paddock::mcp {
namespace {

using type = parameter_type;

/// A client may send any number of mistakes, of any length.
constexpr std::size_t problems_max = 16;       ///< that are told one by one
constexpr std::uint64_t least_characters = 20; ///< of a name, so that many short ones end, too

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

constexpr std::string_view name_of(type t) {
  switch (t) {
  case type::string:
    return "a string";
  case type::integer:
    return "an integer";
  case type::number:
    return "a number";
  case type::boolean:
    return "true or false";
  case type::string_array:
    return "an array of strings";
  case type::integer_array:
    return "an array of integers";
  case type::string_map:
    return "an object whose values are strings";
  case type::object:
    return "an object";
  case type::object_array:
    return "an array of objects";
  }
  return "";
}

/// "a", "b" or "c"
std::string list_of(const std::vector<std::string_view>& choices) {
  std::string out;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) out += i + 1 == choices.size() ? " or " : ", ";
    out.append("\"").append(choices[i]).append("\"");
  }
  return out;
}

std::string names_of(std::span<const parameter> parameters) {
  if (parameters.empty()) return "it takes none";
  std::string names;
  for (const parameter& p : parameters)
    names.append(names.empty() ? "it takes " : ", ").append(p.name);
  return names;
}

/// What to give for `p`.
std::string wanted(const parameter& p) {
  if (p.type == type::string && !p.choices.empty()) return list_of(p.choices);
  std::string out(name_of(p.type));
  if (p.type == type::object || p.type == type::object_array) {
    out += p.type == type::object ? " with " : ", each with ";
    std::string names;
    for (const parameter& member : p.members)
      if (member.presence == presence::required)
        names.append(names.empty() ? "" : ", ").append(member.name);
    out += names.empty() ? "members that may all be left out" : names;
  }
  return out;
}

std::uint64_t code_points(std::string_view utf8) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// What is wrong with one value: the end of a sentence that begins with its place; or empty.

std::string problem_of_string(const parameter& p, json_view value) {
  const auto text = value.string();
  if (!p.choices.empty()) {
    if (text && std::ranges::find(p.choices, *text) != p.choices.end()) return {};
    return " must be " + list_of(p.choices) + ", not " +
           (text ? "\"" + detail::excerpt(*text) + "\"" : std::string(name_of(value.kind())));
  }
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

/// A number as it was given, or what was given for one.
std::string given(json_view value) {
  if (value.number()) return value.text();
  const auto text = value.string();
  return text ? '"' + detail::excerpt(*text, least_characters) + '"'
              : std::string(name_of(value.kind()));
}

/// `value` read as N, if it is one.
template <class N>
std::string problem_of_number(std::string_view noun, json_view value, std::optional<N> n,
                              std::optional<std::int64_t> least, std::optional<std::int64_t> most) {
  if (n && (!least || *n >= static_cast<N>(*least)) && (!most || *n <= static_cast<N>(*most)))
    return {};
  std::string out = " must be " + std::string(noun);
  if (least) out += (most ? " from " : " of at least ") + std::to_string(*least);
  if (most) out += (least ? " to " : " of at most ") + std::to_string(*most);
  return out + ", not " + given(value);
}

std::string problem_of_integer(const parameter& p, json_view value) {
  constexpr std::int64_t exact_max = 9'007'199'254'740'991; // as a double has all below
  const auto n = value.integer();
  const bool is_beyond = !n && std::abs(value.number().value_or(0)) > exact_max;
  return problem_of_number(name_of(type::integer), value, n,
                           is_beyond ? p.minimum.value_or(-exact_max) : p.minimum,
                           is_beyond ? p.maximum.value_or(exact_max) : p.maximum);
}

/// Where a value is. Written out only where something is wrong with it.
struct place {
  const place* outer = nullptr; ///< nullptr: the arguments themselves
  std::string_view member{};    ///< of an object or map; or
  std::size_t index = 0;        ///< of an array
  enum class of : std::uint8_t { object, map, array } within = of::object;

  [[nodiscard]] std::string text() const {
    if (outer == nullptr) return {};
    std::string at = outer->text(); // as deep as the table is nested
    if (within == of::array) return at + "[" + std::to_string(index) + "]";
    if (within == of::map) return at + "[\"" + detail::excerpt(member) + "\"]";
    return outer->outer == nullptr ? '"' + std::string(member) + '"'
                                   : at + "." + std::string(member);
  }
};

/// Walks arguments beside their table, and writes down what does not fit.
class checker {
public:
  explicit checker(std::string_view owner) : owner_(owner) {}

  void check_object(std::span<const parameter> parameters, json_view object, const place& at) {
    for (const parameter& p : parameters) {
      const place of_it{.outer = &at, .member = p.name};
      const json_view value = object[p.name];
      if (!value.exists()) {
        if (p.presence == presence::required) add(of_it, " is required: give " + wanted(p));
      } else if (value.is(json_kind::null) && p.presence == presence::optional) {
        add(of_it, " must be " + wanted(p) + ", not null; leave it out instead");
      } else {
        check(p, value, of_it);
      }
    }
    refuse_others(parameters, object, at);
  }
  [[nodiscard]] std::string take() && {
    if (const std::size_t more = untold_ + unnamed_; more > 0)
      problems_ += "; and " + std::to_string(more) + " more";
    return std::move(problems_);
  }

private:
  void add(const place& at, std::string_view problem) {
    if (problem.empty()) return;
    if (told_ == problems_max) {
      ++untold_;
      return;
    }
    ++told_;
    problems_.append(problems_.empty() ? "" : "; ").append(at.text()).append(problem);
  }
  void check(const parameter& p, json_view value, const place& at) {
    const auto refuse_type = [&] {
      add(at, " must be " + std::string(name_of(p.type)) + ", not " +
                  std::string(name_of(value.kind())));
    };
    switch (p.type) {
    case type::string:
      return add(at, problem_of_string(p, value));
    case type::integer:
      return add(at, problem_of_integer(p, value));
    case type::number:
      return add(at,
                 problem_of_number(name_of(p.type), value, value.number(), p.minimum, p.maximum));
    case type::boolean:
      return value.boolean() ? void() : refuse_type();
    case type::string_array:
    case type::integer_array:
    case type::object_array:
      return value.is(json_kind::array) ? check_elements(p, value, at) : refuse_type();
    case type::string_map:
      if (!value.is(json_kind::object)) return refuse_type();
      return value.for_each_member([&](std::string_view key, json_view e) {
        if (const std::string problem = problem_of_string(p, e); !problem.empty())
          add({.outer = &at, .member = key, .within = place::of::map}, problem);
      });
    case type::object:
      return value.is(json_kind::object) ? check_object(p.members, value, at) : refuse_type();
    }
  }
  void check_elements(const parameter& p, json_view array, const place& at) {
    const std::size_t elements = array.size();
    if (elements < p.elements_min)
      add(at, " must have at least " + std::to_string(p.elements_min) +
                  (p.elements_min == 1 ? " element" : " elements"));
    if (p.elements_max != 0 && elements > p.elements_max)
      return add(at, " has " + std::to_string(elements) + " elements, at most " +
                         std::to_string(p.elements_max) + " are accepted in one call");
    std::size_t index = 0;
    array.for_each_element([&](json_view e) {
      const place element{.outer = &at, .index = index, .within = place::of::array};
      if (p.type == type::object_array) {
        if (e.is(json_kind::object))
          check_object(p.members, e, element);
        else
          add(element, " must be an object, not " + std::string(name_of(e.kind())));
      } else if (const std::string problem = p.type == type::string_array
                                                 ? problem_of_string(p, e)
                                                 : problem_of_integer(p, e);
                 !problem.empty()) {
        add(element, problem);
      }
      ++index;
    });
  }
  void refuse_others(std::span<const parameter> parameters, json_view object, const place& at) {
    object.for_each_member([&](std::string_view name, json_view) {
      if (std::ranges::find(parameters, name, &parameter::name) != parameters.end()) return;
      if (room_ == 0) {
        ++unnamed_;
        return;
      }
      const std::string shown = detail::excerpt(name, room_);
      const std::string takes = " (" + names_of(parameters) + ")";
      const place of_it{.outer = &at, .member = shown};
      if (at.outer == nullptr)
        add(of_it, " is not a parameter of " + std::string(owner_) + takes);
      else
        add(at, ": unknown key " + shown + takes);
      room_ -= std::min(room_, std::max(code_points(name), least_characters));
    });
  }

  std::string_view owner_;
  std::string problems_;
  std::size_t told_ = 0;
  std::size_t untold_ = 0;
  std::size_t unnamed_ = 0;
  std::uint64_t room_ = echo_characters_max; ///< for names that are no parameters
};

} // namespace

std::string problems_of(std::span<const parameter> parameters, json_view arguments,
                        std::string_view owner) {
  checker all(owner);
  all.check_object(parameters, arguments, {});
  return std::move(all).take();
}

} // namespace paddock::mcp
