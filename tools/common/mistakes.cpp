// SPDX-License-Identifier: MIT
#include "mistakes.hpp"

#include "terminal.hpp"

#include <paddock/base/detail/nearest_name.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <ranges>
#include <system_error>

namespace paddock::cli {
namespace {

std::string shown(std::string_view word) {
  return fit(word, shown_characters_max);
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_lnames())
    names.push_back("--" + name);
  for (const auto& name : option.get_snames())
    names.push_back("-" + name);
  return names;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

/// "--name" of "--name=value", "-n" of "-nvalue".
std::string option_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

/// Of a value that may be anything, also nothing.
constexpr std::string_view free_text = "TEXT";

/// The checks after a colon are no part of the value's name.
std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

/// What is wrong with a path that begins with "~": hosts and `--option=~/x` start a program without
/// a shell that would replace it. Empty: nothing.
std::string home_sign(std::string_view type, std::string_view given) {
  constexpr std::string_view socket = "unix:";
  if (type == "ADDRESS" && given.starts_with(socket)) given.remove_prefix(socket.size());
  constexpr std::string_view types[] = {"DIR", "DIRECTORY", "PATH", "FILE", "ADDRESS", "SOURCE"};
  const bool is_path = std::ranges::find(types, type) != std::end(types);
  if (!is_path || (given != "~" && !given.starts_with("~/"))) return {};
  const char* const home = std::getenv("HOME");
  const std::string whole = std::string(home != nullptr && *home == '/' ? home : "/home/NAME") +
                            std::string(given.substr(1));
  return "only a shell knows what " + shown(given) + " means; write " + shown(whole) + " (or ./" +
         shown(given) + " for a name that begins so)";
}

bool names_a_directory(const std::string& word) {
  std::error_code ignored;
  return word.find('/') != std::string::npos || std::filesystem::is_directory(word, ignored);
}

/// The command of another program, such as `paddock exec` takes.
const CLI::Option* foreign_command(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() && option->get_items_expected_max() > 1 &&
        option->get_type_name() == "CMD")
      return option;
  return nullptr;
}

/// What is wrong with a value, where the parser has taken the next option for one, or nothing;
/// `words` are those of the command line.
std::string wrong_with(const CLI::App& app, const CLI::Option& option, const std::string& given,
                       const std::vector<std::string>& words) {
  const std::string type = type_of(option);
  if (option.nonpositional()) {
    const std::string missing = std::string(needs_value) + type;
    if (given.empty() && type != free_text) return missing;
    if (given.starts_with("--") && app.get_option_no_throw(option_name(given)) != nullptr &&
        std::ranges::find(words, given) != words.end())
      return missing + " (" + shown(given) + " is an option; write " + option.get_name() + "=" +
             shown(given) + " if it is meant)";
  }
  return home_sign(type, given);
}

/// Where an option of that name, or of nearly that name, exists.
std::string option_meant(const CLI::App& app, const std::string& path, const std::string& name) {
  for (const CLI::App* command : commands_of(app))
    if (command->get_option_no_throw(name) != nullptr)
      return "; it belongs after the command: " + path + " " + command->get_name() + " " + name;
  if (!name.starts_with("--")) return {}; // every letter is like every other
  std::vector<std::string> here;
  for (const CLI::Option* each : app.get_options())
    std::ranges::copy(names_of(*each), std::back_inserter(here));
  return detail::did_you_mean(name, here);
}

std::string no_command(const CLI::App& app, const std::string& path, const std::string& word) {
  std::vector<std::string> names;
  std::string list;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const std::string near = detail::did_you_mean(word, names);
  return path + " has no command " + shown(word) + (near.empty() ? "; it has: " + list : near);
}

std::string one_too_many(const CLI::App& app, const std::string& word) {
  if (app.get_name() == "apply")
    return "apply takes one patch; join them with cat and use `apply -`";
  const std::string text = "there is one argument too many: " + shown(word);
  const auto options = app.get_options();
  const bool takes_none = std::ranges::all_of(options, &CLI::Option::nonpositional);
  if ((word.ends_with(".toml") || word.ends_with(".json")) &&
      app.get_option_no_throw("--config") != nullptr)
    return text + "; to read that configuration, write --config " + shown(word);
  if (takes_none && names_a_directory(word) && app.get_option_no_throw("--workspace") != nullptr)
    return text + "; to work in that directory, write --workspace " + shown(word);
  return text;
}

} // namespace

void check_values(CLI::App& app, const std::vector<std::string>& words) {
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0)
      option->transform(CLI::Validator(
          [&app, &words, option](const std::string& given) {
            return wrong_with(app, *option, given, words);
          },
          ""));
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    check_values(*command, words);
}

const CLI::App& innermost_parsed(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost_parsed(*parsed.back());
}

std::string path_of(const CLI::App& app) {
  return (app.get_parent() == nullptr ? "" : path_of(*app.get_parent()) + " ") + app.get_name();
}

std::string unknown_word(const CLI::App& app) {
  for (const CLI::App* at = &innermost_parsed(app); at != nullptr; at = at->get_parent()) {
    const auto words = at->remaining();
    const auto word = std::ranges::find_if(words, [](const auto& each) { return each != "--"; });
    if (word == words.end()) continue;
    const std::string path = path_of(*at), name = option_name(*word);
    const CLI::App& parsed = innermost_parsed(*at);
    if (is_option(*word) && &parsed != at && parsed.get_option_no_throw(name) != nullptr)
      return shown(name) + " belongs after the command: " + path_of(parsed) + " " + shown(name);
    if (is_option(*word))
      return "there is no option " + shown(name) + option_meant(*at, path, name);
    return commands_of(*at).empty() ? one_too_many(*at, *word) : no_command(*at, path, *word);
  }
  return {};
}

bool is_unknown_command(const CLI::App& app) {
  const CLI::App& at = innermost_parsed(app);
  const auto words = at.remaining();
  return !commands_of(at).empty() && !words.empty() && !is_option(words.front());
}

std::string missing_separator(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App& at = innermost_parsed(app);
  const CLI::Option* const command = foreign_command(at);
  if (command == nullptr || command->count() == 0) return {};
  auto first = words.end(); // of the command: its words are as far back as they can be
  for (const std::string& each : command->results() | std::views::reverse)
    while (first != words.begin() && *--first != each) {
    }
  const auto is_before = [&](const std::string& word) {
    return std::find(words.begin(), first, word) != first;
  };
  if (is_before("--")) return {};
  for (const std::string& each :
       at.remaining()) // one that is unknown, whose value was taken for it
    if (is_option(each) && is_before(each)) return {};
  const auto option = std::find_if(
      first, words.end(), [](const std::string& word) { return is_option(word) || word == "--"; });
  if (option == words.end()) return {};
  std::string text = "is " + shown(*option) + " for the command or for " + path_of(at) +
                     "? Put -- before the command: " + path_of(at) + " [options] --";
  for (auto word = first; word != words.end(); ++word)
    text += " " + *word;
  return shown(text);
}

std::string usage_of(const CLI::App& app) {
  std::string usage = path_of(app);
  if (!commands_of(app).empty()) usage += " COMMAND";
  if (foreign_command(app) != nullptr) usage += " [options] --";
  for (const CLI::Option* option : app.get_options())
    if (!option->get_positional() && option->get_required())
      usage += " " + option->get_name() + " " + option->get_type_name();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    std::string name = type_of(*option);
    if (option->get_items_expected_max() > 1) name += "...";
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

} // namespace paddock::cli
