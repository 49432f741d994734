// SPDX-License-Identifier: MIT
#pragma once

/// The stages one behind the other: scanner, full parser, repair. Part of frontmatter.hpp.

#include <paddock/frontmatter/detail/causes.hpp>
#include <paddock/frontmatter/detail/repair.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::frontmatter {

/// How the fields were found.
enum class origin : std::uint8_t {
  none,     ///< not a skill; the diagnostics say why
  fast,     ///< proven valid by the scanner
  full,     ///< accepted by the full YAML parser
  repaired, ///< not valid YAML, or not known to be; recovered line by line
};

enum class policy : std::uint8_t {
  lenient, ///< repair what can be repaired
  strict,  ///< invalid YAML is not a skill
};

namespace detail {

/// Both fields as they were found, and what was noticed on the way.
struct reading {
  origin from = origin::none; ///< whether they make a skill is another question
  found_field name;
  found_field description;
  std::vector<diagnostic> diagnostics;
};

/// What the two fields are called in the table of diagnostics.
struct field_rules {
  diagnostic_code missing;
  diagnostic_code empty;
  diagnostic_code not_text;
  diagnostic_code too_long;
  std::size_t characters_max;
};
inline constexpr field_rules name_rules{diagnostic_code::missing_name, diagnostic_code::empty_name,
                                        diagnostic_code::name_not_text,
                                        diagnostic_code::name_too_long, 64};
inline constexpr field_rules description_rules{
    diagnostic_code::missing_description, diagnostic_code::empty_description,
    diagnostic_code::description_not_text, diagnostic_code::description_too_long, 1024};

/// Whether the field can be used; says what is wrong with it. Collapses its white space.
[[nodiscard]] inline bool judge(found_field& field, const field_rules& rules,
                                std::vector<diagnostic>& diagnostics) {
  const auto note = [&](diagnostic_code code) {
    diagnostics.push_back({code, field.line, field.column});
  };
  switch (field.kind) {
  case value_kind::missing:
    note(rules.missing);
    return false;
  case value_kind::sequence:
  case value_kind::mapping:
    note(rules.not_text);
    return false;
  case value_kind::other_scalar:
    note(diagnostic_code::not_a_string);
    break;
  case value_kind::null:
    field.text.clear();
    break;
  case value_kind::text:
    break;
  }
  collapse(field.text);
  if (field.text.empty()) {
    note(rules.empty);
    return false;
  }
  if (field.text.size() > rules.characters_max &&
      paddock::detail::count_code_points(field.text) > rules.characters_max)
    note(rules.too_long);
  return true;
}

/// Escapes can write what a line may not contain.
inline void find_control_characters(reading& read) {
  for (const found_field* field : {&read.name, &read.description})
    if (classify_line(field->text) == line_bytes::refused || !is_printable_line(field->text))
      read.diagnostics.push_back({diagnostic_code::control_character, field->line, field->column});
}

[[nodiscard]] inline bool is_empty_block(std::string_view block) noexcept {
  for (; !block.empty(); block = after_first_line(block)) {
    const std::string_view content = without_leading_blanks(first_line(block));
    if (!content.empty() && content.front() != '#') return false;
  }
  return true;
}

/// The first entry with this key.
[[nodiscard]] inline found_field take(std::vector<entry>& entries, std::string_view key) {
  for (entry& e : entries)
    if (e.key == key) return {std::move(e.value), e.kind, e.line, e.column};
  return {};
}

/// Adds what is not there yet. Both are short.
inline void append(std::vector<diagnostic>& to, const std::vector<diagnostic>& from) {
  for (const diagnostic& d : from) {
    bool is_new = true;
    for (const diagnostic& known : to)
      is_new &= !(known == d);
    if (is_new) to.push_back(d);
  }
}

/// Line by line. `problems` are those of the full parser, if there is one.
inline void read_by_repair(std::string_view block, full_parser full,
                           const std::vector<diagnostic>& problems, reading& read) {
  read.name = repair_field(block, "name", full);
  read.description = repair_field(block, "description", full);
  const auto has_text = [](const found_field& field) {
    return (field.kind == value_kind::text || field.kind == value_kind::other_scalar) &&
           !std::string_view(field.text).empty();
  };
  const bool is_whole = has_text(read.name) && has_text(read.description);
  diagnostic place = problems.empty() ? diagnostic{{}, 2, 1} : problems.front();
  place.code = is_whole          ? diagnostic_code::repaired
               : full == nullptr ? diagnostic_code::not_proven
                                 : diagnostic_code::invalid_yaml;
  read.from = origin::repaired;
  read.diagnostics.push_back(place);
  for (const diagnostic& problem : problems) // the errors among them are what `place` stands for
    if (level(problem.code) == severity::warning) append(read.diagnostics, {problem});
  append(read.diagnostics, likely_causes(block));
}

/// Reads a block that the scanner declined.
inline void read_slowly(std::string_view block, policy how, full_parser full, reading& read) {
  if (const std::optional<diagnostic> bad = check_bytes(block)) {
    read.diagnostics.push_back(*bad);
    return;
  }
  if (is_empty_block(block)) {
    read.diagnostics.push_back({diagnostic_code::empty_block, 2, 1});
    return;
  }
  std::vector<diagnostic> problems;
  if (full != nullptr) {
    document whole = full(block, 2);
    read.name = take(whole.entries, "name");
    read.description = take(whole.entries, "description");
    problems = std::move(whole.problems);
    read.diagnostics = std::move(whole.disputed);
    if (problems.empty()) {
      read.from = origin::full;
      return;
    }
  }
  const auto all_are = [&problems](diagnostic_code code) {
    for (const diagnostic& problem : problems)
      if (problem.code != code) return false;
    return true;
  };
  if (full != nullptr && all_are(diagnostic_code::not_a_mapping)) {
    append(read.diagnostics, problems);
    return;
  }
  if (how == policy::strict) {
    diagnostic refusal = problems.empty() ? diagnostic{{}, 2, 1} : problems.front();
    refusal.code = full == nullptr ? diagnostic_code::not_proven : diagnostic_code::invalid_yaml;
    read.diagnostics.push_back(refusal);
    append(read.diagnostics, problems);
    append(read.diagnostics, likely_causes(block));
    return;
  }
  if (full != nullptr && all_are(diagnostic_code::duplicate_key)) {
    read.from = origin::repaired;
    append(read.diagnostics, problems);
    return;
  }
  read_by_repair(block, full, problems, read);
}

[[nodiscard]] inline reading read_block(std::string_view block, policy how, full_parser full) {
  reading read;
  field_sink sink;
  if (scanner<field_sink>(block, sink).run()) {
    read.from = origin::fast;
    read.name = std::move(sink.name);
    read.description = std::move(sink.description);
  } else {
    read_slowly(block, how, full, read);
  }
  return read;
}

} // namespace detail
} // namespace paddock::frontmatter
