// SPDX-License-Identifier: MIT
#pragma once

// Checks of the values of options; each gives what is wrong with a value, or an empty string.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace paddock::cli {

/// A whole number that is not negative, and at least `min`.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t max, std::uint64_t min = 0);
/// The same of bytes, or of KiB, MiB or GiB with K, M or G behind it, or the whole unit.
[[nodiscard]] CLI::Validator byte_count(std::uint64_t max, std::uint64_t min = 0);
/// Seconds, with a fraction if wanted, between a millisecond and `max_s`.
[[nodiscard]] CLI::Validator seconds(std::uint64_t max_s);

/// A directory that is there.
[[nodiscard]] CLI::Validator existing_directory();

/// One of these words, as it is.
[[nodiscard]] CLI::Validator one_of(const std::vector<std::string>& words);
/// "NAME is not one of: A, B; did you mean A?"
[[nodiscard]] std::string none_of(const std::string& name, const std::map<std::string, int>& words);

/// One of a few words, whatever its case.
template <class Enum> [[nodiscard]] CLI::Validator word_of(std::map<std::string, Enum> choices) {
  std::map<std::string, int> words;
  for (const auto& [word, value] : choices)
    words.emplace(word, static_cast<int>(value));
  return CLI::Validator(
      [words](std::string& given) -> std::string {
        const auto found = words.find(CLI::detail::to_lower(given));
        if (found == words.end()) return none_of(given, words);
        given = std::to_string(found->second);
        return {};
      },
      "");
}

} // namespace paddock::cli
