// SPDX-License-Identifier: MIT
#pragma once

// Mistakes on a command line, in words that help. The option parser says what it did not expect; a
// person wants to know what to write instead.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

/// What is wrong with the command line, where this knows more than the parser: an option or a
/// command that does not exist, an argument that nobody takes, a command of `paddock exec` without
/// -- before it, an option without its value or given twice, a path that a shell would have had to
/// expand. Nothing when all of that is in order.
struct mistake {
  std::string text;
  bool is_misread = false; ///< the parser would take it for something else and go on
  bool is_command = false; ///< the command is what does not exist
};
[[nodiscard]] std::optional<mistake> mistake_in(const CLI::App& app, int argc, char** argv);
/// The program and the commands that the line names, "paddock skills show".
[[nodiscard]] std::string path_in(const CLI::App& app, int argc, char** argv);
/// How the command is used, "paddock call TOOL [JSON]"; `path` is as path_in has it.
[[nodiscard]] std::string usage_of(const CLI::App& app, const std::string& path);

// --- checks of values; they give what is wrong, or an empty string

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
