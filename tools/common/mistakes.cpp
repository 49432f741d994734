// SPDX-License-Identifier: MIT
#include "mistakes.hpp"

#include "terminal.hpp"

#include <paddock/base/detail/nearest_name.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <system_error>
#include <vector>

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

const CLI::App* command_named(const CLI::App& app, std::string_view name) {
  for (const CLI::App* command : commands_of(app))
    if (command->get_name() == name) return command;
  return nullptr;
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

/// "--name" of "--name=value", "-n" of "-nvalue".
std::string option_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

/// Whether the value of `option` is the next word.
bool takes_next_word(const CLI::Option& option, const std::string& word) {
  return option.get_items_expected_max() > 0 && word.size() == option_name(word).size();
}

/// How many arguments a command takes.
int arguments_max(const CLI::App& app) {
  int count = 0;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) count += option->get_items_expected_max();
  return count;
}

bool is_given_as(std::string_view word, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view end) { return word.ends_with(end); });
}

/// Of a value that may be anything, also nothing.
constexpr std::string_view free_text = "TEXT";

/// What stands behind a colon are checks, which are no part of the value's name.
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

/// One walk along the words as the parser takes them.
class walk {
public:
  walk(const CLI::App& app, int argc, char** argv)
      : at_(&app), path_(app.get_name()), words_(argv + std::min(argc, 1), argv + argc) {}

  std::optional<mistake> run() {
    for (i_ = 0; i_ < words_.size(); ++i_) {
      const std::string& word = words_[i_];
      if (word == "--") return std::nullopt;
      auto found = is_option(word) ? option(word) : argument(word);
      if (found) return found;
    }
    return std::nullopt;
  }
  [[nodiscard]] const CLI::App& command() const { return *at_; }
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::optional<mistake> option(const std::string& word) {
    const std::string name = option_name(word);
    if (arguments_ > 0 && foreign_command(*at_) != nullptr)
      return mistake{separator_is_missing(word), true};
    const CLI::Option* known = at_->get_option_no_throw(name);
    if (known == nullptr) return mistake{"there is no option " + shown(name) + meant(name)};
    if (known->get_items_expected_max() == 0) return std::nullopt;
    if (auto wrong = repetition(*known)) return wrong;
    return value(*known, word, name);
  }

  std::optional<mistake> repetition(const CLI::Option& option) {
    if (option.get_items_expected_max() > 1 || given_.insert(&option).second) return std::nullopt;
    return mistake{names_of(option).front() + " is given twice; it has one value", true};
  }

  /// The parser takes the next word for a value that is missing, whatever it is.
  std::optional<mistake> value(const CLI::Option& option, const std::string& word,
                               const std::string& name) {
    const std::string shown_name = names_of(option).front();
    const std::string type = type_of(option);
    const std::string missing = shown_name + " needs a value: " + type;
    const bool is_next = takes_next_word(option, word);
    if (is_next && i_ + 1 == words_.size()) return std::nullopt; // the parser says so
    std::string given = is_next ? words_[++i_] : word.substr(name.size());
    if (!is_next && given.starts_with('=')) given.erase(0, 1);
    if (given.empty() && (!is_next || type != free_text)) return mistake{missing, true};
    if (is_next && given.starts_with("--") &&
        at_->get_option_no_throw(option_name(given)) != nullptr)
      return mistake{missing + " (" + shown(given) + " is an option; write " + shown_name + "=" +
                         shown(given) + " if it is meant)",
                     true};
    if (auto home = home_sign(type, given); !home.empty())
      return mistake{shown_name + ": " + home, true};
    return std::nullopt;
  }

  std::optional<mistake> argument(const std::string& word) {
    if (const CLI::App* next = command_named(*at_, word)) {
      at_ = next;
      path_ += " " + word;
      return std::nullopt;
    }
    const bool has_commands = !commands_of(*at_).empty();
    if (has_commands) return mistake{.text = no_command(word), .is_command = true};
    if (++arguments_ <= arguments_max(*at_)) return positional(word);
    if (at_->get_name() == "apply")
      return mistake{"apply takes one patch; join them with cat and use `apply -`"};
    std::string text = "there is one argument too many: " + shown(word);
    if (is_given_as(word, {".toml", ".json"}) && at_->get_option_no_throw("--config") != nullptr)
      text += "; to read that configuration, write --config " + shown(word);
    else if (arguments_max(*at_) == 0 && names_a_directory(word) &&
             at_->get_option_no_throw("--workspace") != nullptr)
      text += "; to work in that directory, write --workspace " + shown(word);
    return mistake{std::move(text)};
  }

  /// What is wrong with the argument that was just counted.
  std::optional<mistake> positional(const std::string& word) const {
    int last = 0;
    for (const CLI::Option* option : at_->get_options()) {
      if (!option->get_positional()) continue;
      last += option->get_items_expected_max();
      if (last < arguments_) continue;
      if (auto home = home_sign(type_of(*option), word); !home.empty()) return mistake{home, true};
      break;
    }
    return std::nullopt;
  }

  std::string separator_is_missing(const std::string& word) const {
    std::string text = "is " + shown(word) + " for the command or for " + path_ +
                       "? Put -- before the command: " + path_ + " [options] --";
    std::size_t first = i_;
    while (first > 0 && first > i_ - static_cast<std::size_t>(arguments_))
      --first;
    for (std::size_t i = first; i < words_.size(); ++i)
      text += " " + words_[i];
    return shown(text);
  }

  /// Where an option of that name, or of nearly that name, exists.
  [[nodiscard]] std::string meant(const std::string& name) const {
    for (const CLI::App* command : commands_of(*at_))
      if (command->get_option_no_throw(name) != nullptr)
        return "; it belongs after the command: " + path_ + " " + command->get_name() + " " + name;
    if (!name.starts_with("--")) return {}; // every letter is like every other
    std::vector<std::string> here;
    for (const CLI::Option* each : at_->get_options())
      std::ranges::copy(names_of(*each), std::back_inserter(here));
    return detail::did_you_mean(name, here);
  }

  [[nodiscard]] std::string no_command(const std::string& word) const {
    std::vector<std::string> names;
    std::string list;
    for (const CLI::App* command : commands_of(*at_)) {
      names.push_back(command->get_name());
      list += (list.empty() ? "" : ", ") + names.back();
    }
    const std::string near = detail::did_you_mean(word, names);
    return path_ + " has no command " + shown(word) + (near.empty() ? "; it has: " + list : near);
  }

  const CLI::App* at_;
  std::string path_;
  std::vector<std::string> words_;
  std::set<const CLI::Option*> given_;
  std::size_t i_ = 0;
  int arguments_ = 0;
};

} // namespace

std::optional<mistake> mistake_in(const CLI::App& app, int argc, char** argv) {
  return walk(app, argc, argv).run();
}

std::string path_in(const CLI::App& app, int argc, char** argv) {
  walk words(app, argc, argv);
  (void)words.run().has_value();
  return words.path();
}

std::string usage_of(const CLI::App& app, const std::string& path) {
  const CLI::App* at = &app;
  for (std::size_t begin = path.find(' '); begin != std::string::npos && at != nullptr;) {
    const std::size_t end = path.find(' ', begin + 1);
    at = command_named(*at, std::string_view(path).substr(begin + 1, end - begin - 1));
    begin = end;
  }
  std::string usage = path;
  if (at == nullptr) return usage;
  if (!commands_of(*at).empty()) usage += " COMMAND";
  const bool foreign = foreign_command(*at) != nullptr;
  if (foreign) usage += " [options] --";
  for (const CLI::Option* option : at->get_options())
    if (!option->get_positional() && option->get_required())
      usage += " " + names_of(*option).front() + " " + option->get_type_name();
  for (const CLI::Option* option : at->get_options()) {
    if (!option->get_positional()) continue;
    std::string name = type_of(*option);
    if (option->get_items_expected_max() > 1) name += "...";
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

} // namespace paddock::cli
