// SPDX-License-Identifier: MIT
#include "option_values.hpp"

#include "terminal.hpp"

#include <paddock/base/detail/nearest_name.hpp>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace paddock::cli {
namespace {

std::string quoted_value(std::string_view word) {
  return fit(word, shown_characters_max);
}

std::string outside(std::string_view given, std::uint64_t max, std::uint64_t min, bool is_more) {
  return quoted_value(given) + (is_more ? " is too large; " : " is too small; ") +
         std::to_string(is_more ? max : min) + (is_more ? " is the most" : " is the least");
}

/// How many bits a unit shifts a number by; nothing: there is no such unit.
std::optional<unsigned> shift_of(std::string_view unit) {
  const std::string lower = CLI::detail::to_lower(std::string(unit));
  if (lower.empty()) return 0;
  const std::size_t power = std::string_view("kmg").find(lower.front());
  if (power == std::string_view::npos || (lower.size() > 1 && lower.substr(1) != "ib"))
    return std::nullopt;
  return 10 * (static_cast<unsigned>(power) + 1);
}

} // namespace

CLI::Validator whole_number(std::uint64_t max, std::uint64_t min) {
  return CLI::Validator(
      [max, min](std::string& given) -> std::string {
        std::uint64_t number = 0;
        const char* const end = given.data() + given.size();
        const auto [stop, status] = std::from_chars(given.data(), end, number);
        if (given.empty() || stop != end || status == std::errc::invalid_argument)
          return (given.starts_with('-') ? quoted_value(given) + " is negative"
                                         : quoted_value(given) + " is not a whole number") +
                 "; write digits only, for example 65536";
        const bool is_more = status != std::errc() || number > max;
        return is_more || number < min ? outside(given, max, min, is_more) : std::string();
      },
      "");
}

CLI::Validator byte_count(std::uint64_t max, std::uint64_t min) {
  return CLI::Validator(
      [max, min](std::string& given) -> std::string {
        std::uint64_t number = 0;
        const char* const end = given.data() + given.size();
        const auto [stop, status] = std::from_chars(given.data(), end, number);
        const auto shift = shift_of(std::string_view(stop, static_cast<std::size_t>(end - stop)));
        if (status == std::errc::invalid_argument || !shift)
          return quoted_value(given) + (given.starts_with('-') ? " is negative" : " is no size") +
                 "; write bytes, or a whole number with K, M or G, for example 100M";
        const bool is_more = status != std::errc() || number > max >> *shift;
        if (is_more || number << *shift < min) return outside(given, max, min, is_more);
        given = std::to_string(number << *shift);
        return {};
      },
      "");
}

CLI::Validator existing_directory() {
  return CLI::Validator(
      [](std::string& given) -> std::string {
        std::error_code failed;
        const auto found = std::filesystem::status(given, failed);
        if (std::filesystem::is_directory(found)) return {};
        if (std::filesystem::exists(found))
          return quoted_value(given) + " is no directory; name the one that holds it";
        return quoted_value(given) + " cannot be looked at: " + failed.message() +
               "; create it, or name another directory";
      },
      "");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  std::map<std::string, int> known;
  for (const std::string& word : words)
    known.emplace(word, 0);
  return CLI::Validator(
      [known](std::string& given) {
        return known.contains(given) ? std::string() : none_of(given, known);
      },
      "");
}

CLI::Validator seconds(std::uint64_t max_s) {
  return CLI::Validator(
      [max_s](std::string& given) -> std::string {
        double number = 0;
        const char* const end = given.data() + given.size();
        const auto [stop, status] = std::from_chars(given.data(), end, number);
        const bool is_number = !given.empty() && stop == end && status == std::errc();
        if (is_number && number >= 0.001 && number <= static_cast<double>(max_s)) return {};
        return quoted_value(given) + " is not a time between 1 ms and " +
               std::to_string(max_s / 86'400) + " days; write seconds, for example 0.5 or 60";
      },
      "");
}

std::string none_of(const std::string& name, const std::map<std::string, int>& words) {
  std::vector<std::string> names;
  std::string list;
  for (const auto& [word, value] : words) {
    names.push_back(word);
    list += (list.empty() ? "" : ", ") + word;
  }
  return quoted_value(name) + " is not one of: " + list + detail::did_you_mean(name, names);
}

} // namespace paddock::cli
