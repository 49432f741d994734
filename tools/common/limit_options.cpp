// SPDX-License-Identifier: MIT
#include "option_values.hpp"
#include "terminal.hpp"
#include "workspace_cli.hpp"

#include <paddock/base/detail/nearest_name.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

namespace paddock::cli {
namespace {

/// As much as any file or message can have.
constexpr auto number_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::string default_text(const limit_description& limit) {
  const std::uint64_t coding = mcp::limits_of(mcp::toolset::coding).*limit.field;
  std::string other = coding == limits{}.*limit.field ? "" : ", coding " + std::to_string(coding);
  return std::string(limit.text) + " (default " + std::to_string(limits{}.*limit.field) + other +
         ", at least " + std::to_string(limit.least) + ")";
}

/// Of "NAME=N" or NAME; null: there is none of that name.
const limit_description* limit_named(std::string_view given) {
  const auto found =
      std::ranges::find(limit_table, given.substr(0, given.find('=')), &limit_description::key);
  return found == std::end(limit_table) ? nullptr : found;
}

/// Makes the N of "NAME=N" a plain number. What is wrong with it; empty: nothing.
std::string read_limit(std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  const limit_description* const limit = limit_named(name);
  if (limit == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& each : limit_table)
      names.push_back(each.key);
    return "there is no limit " + fit(name, shown_characters_max) +
           detail::did_you_mean(name, names) + " (--help-all lists them)";
  }
  std::string number = given.substr(std::min(given.size(), name.size() + 1));
  if (number.empty()) return name + " needs a number: " + name + "=N";
  const auto check =
      (name.ends_with("-bytes") ? byte_count : whole_number)(number_max, limit->least);
  if (std::string wrong = check(number); !wrong.empty()) return name + ": " + wrong;
  given = name + "=" + number;
  return {};
}

} // namespace

bool workspace_cli::is_given(std::uint64_t limits::*limit) const {
  return std::ranges::any_of(
      limits_given, [&](const std::string& each) { return limit_named(each)->field == limit; });
}

limits workspace_cli::chosen_limits() const {
  limits chosen = mcp::limits_of(tools.tools);
  for (const std::string& each : limits_given)
    chosen.*limit_named(each)->field = std::stoull(each.substr(each.find('=') + 1));
  return chosen;
}

std::string limits_help() {
  std::size_t width = 0;
  for (const auto& each : limit_table)
    width = std::max(width, each.key.size());
  std::string text = "Limits, for --limit NAME=N:\n";
  for (const auto& each : limit_table)
    text.append("  " + column(each.key, width + 2)).append(default_text(each)).append("\n");
  return text;
}

void add_limit_option(CLI::App& app, workspace_cli& target) {
  app.add_option("--limit", target.limits_given,
                 "Change this limit (repeatable; --help-all lists them with their defaults)")
      ->allow_extra_args(false)
      ->type_name("NAME=N")
      ->transform(CLI::Validator(read_limit, ""));
}

} // namespace paddock::cli
