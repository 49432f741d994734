// SPDX-License-Identifier: MIT
#pragma once

// Search and replace in the most naive way, as the definition that text_edit.hpp is compared with.

#include <paddock/text/text_edit.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

/// One byte of normalised text and the bytes it stands for.
struct reference_unit {
  char value;
  std::string bytes;
};

inline std::vector<reference_unit> reference_units(std::string_view text) {
  std::vector<reference_unit> units;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    units.push_back(pair ? reference_unit{'\n', "\r\n"} : reference_unit{text[i], {text[i]}});
    if (pair) ++i;
  }
  return units;
}

inline std::string joined(const std::vector<reference_unit>& units, std::size_t from,
                          std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to; ++i)
    text += units[i].bytes;
  return text;
}

inline std::string reference_break(const std::vector<reference_unit>& units, std::size_t from,
                                   std::size_t to) {
  for (std::size_t i = from; i < to; ++i)
    if (units[i].value == '\n') return units[i].bytes;
  for (std::size_t i = from; i-- > 0;)
    if (units[i].value == '\n') return units[i].bytes;
  for (std::size_t i = to; i < units.size(); ++i)
    if (units[i].value == '\n') return units[i].bytes;
  return "\n";
}

struct reference_outcome {
  std::string edited;
  std::uint64_t occurrences = 0;
  std::uint64_t line = 0;
};

inline std::optional<reference_outcome> reference_edit(std::string_view content,
                                                       const text_edit& edit) {
  const auto units = reference_units(content);
  const auto wanted = reference_units(edit.old_text);
  reference_outcome outcome;
  std::size_t first = 0;
  for (std::size_t at = 0; at + wanted.size() <= units.size();) {
    bool equal = true;
    for (std::size_t i = 0; i < wanted.size() && equal; ++i)
      equal = units[at + i].value == wanted[i].value;
    if (equal && outcome.occurrences++ == 0) first = at;
    at += equal ? wanted.size() : 1;
  }
  if (outcome.occurrences == 0) return std::nullopt;
  for (std::size_t i = 0; i < first; ++i)
    if (units[i].value == '\n') ++outcome.line;
  outcome.edited = joined(units, 0, first);
  for (const auto& unit : reference_units(edit.new_text))
    outcome.edited += unit.value == '\n' ? reference_break(units, first, first + wanted.size())
                                         : std::string{unit.value};
  outcome.edited += joined(units, first + wanted.size(), units.size());
  return outcome;
}

} // namespace paddock::test
