// SPDX-License-Identifier: MIT

// What all programs do with their command line: help, mistakes, and what is said of them.

#include "mistakes.hpp"
#include "option_parser.hpp"
#include "output.hpp"
#include "subcommand.hpp"
#include "terminal.hpp"
#include "workspace_cli.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/version.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

namespace paddock::cli {
namespace {

// A program's command line as data, from which its manual page and completion are made.

/// Not an option for people, so it is in no help: it is alone on the command line.
constexpr std::string_view describe_word = "--describe-command-line";

void write_option(mcp::json_writer& out, const CLI::Option& option) {
  out.begin_object().key("names").begin_array();
  for (const auto& name : option.get_snames())
    out.string("-" + name);
  for (const auto& name : option.get_lnames())
    out.string("--" + name);
  out.end_array();
  // The checks after a colon are no part of the value's name.
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() > 0) out.member("value", type.substr(0, type.find(':')));
  out.member("group", option.get_group()).member("text", option.get_description()).end_object();
}

void write_positional(mcp::json_writer& out, const CLI::Option& option) {
  const std::string type = option.get_type_name();
  out.begin_object().member("name", option.get_name(true));
  out.member("value", type.substr(0, type.find(':')));
  out.key("required").boolean(option.get_required());
  out.key("repeated").boolean(option.get_items_expected_max() > 1);
  out.member("text", option.get_description()).end_object();
}

/// Commands of commands are two deep; nobody outside decides the depth.
void write_command(mcp::json_writer& out, const CLI::App& app) {
  out.begin_object().member("name", app.get_name()).member("text", app.get_description());
  out.member("footer", app.get_footer());
  const auto shown = [](const CLI::Option* option) { return !option->get_group().empty(); };
  out.key("options").begin_array();
  for (const CLI::Option* option : app.get_options(shown))
    if (option->nonpositional()) write_option(out, *option);
  out.end_array().key("arguments").begin_array();
  for (const CLI::Option* option : app.get_options(shown))
    if (!option->nonpositional()) write_positional(out, *option);
  out.end_array().key("commands").begin_array();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    write_command(out, *command);
  out.end_array();
  if (app.get_parent() == nullptr) {
    out.key("tools").begin_array();
    for (const auto name : mcp::workspace_tool_names())
      out.string(name);
    out.end_array();
  }
  out.end_object();
}

/// The program's commands and options with their texts, as one JSON object.
std::string describe_command_line(const CLI::App& app) {
  mcp::json_writer out;
  write_command(out, app);
  return out.take();
}

/// CLI11's help, without the names of the options that an option needs or excludes: who gives both
/// is told.
class help_formatter final : public CLI::Formatter {
public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string opts = CLI::Formatter::make_option_opts(option);
    for (const char* relation : {" Needs:", " Excludes:"})
      opts.erase(std::min(opts.find(relation), opts.size()));
    return opts;
  }

  std::string make_footer(const CLI::App* app) const override {
    std::string names;
    for (const CLI::App* each : app->get_subcommands([](const CLI::App*) { return true; }))
      if (each->get_group() == named_only)
        names.append(names.empty() ? "\nMore: " : ", ").append(each->get_name());
    if (!names.empty()) names += " (" + app->get_name() + " help NAME explains each)\n";
    return names + CLI::Formatter::make_footer(app);
  }
};

/// What --help leaves to --help-all.
void hide_seldom_used(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_group() == seldom_used) option->group("");
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    hide_seldom_used(*command);
}

void use_help_formatter(CLI::App& app, const std::shared_ptr<CLI::FormatterBase>& made) {
  app.formatter(made);
  if (CLI::Option* option = app.get_help_ptr()) option->description("Print this help and exit");
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    use_help_formatter(*command, made);
}

void print_help(CLI::App& app, const CLI::Success& asked) {
  const bool is_all = dynamic_cast<const CLI::CallForAllHelp*>(&asked) != nullptr;
  if (!is_all) hide_seldom_used(app);
  std::ostringstream help, none;
  app.exit(asked, help, none);
  std::string text = help.str();
  if (const auto gap = text.find("\n\n\n"); gap != text.npos) text.erase(gap, 1); // a hidden group
  if (is_all && text.find("--limit ") != text.npos) text += "\n" + limits_help();
  print_words("%s", folded(text, output_width()).c_str());
}

/// "list, tools or call"; empty if there are too many for a line.
std::string subcommand_names(const CLI::App& app) {
  constexpr std::size_t shown_max = 12;
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  std::string names;
  if (all.size() > shown_max) return names;
  for (const CLI::App* each : all)
    names.append(names.empty() ? "" : each == all.back() ? " or " : ", ").append(each->get_name());
  return names;
}

/// What the parser found. An unknown word is the reason, too, why something is missing.
std::string message_of(const CLI::App& app, const CLI::ParseError& problem) {
  std::string text = problem.what();
  const bool lacks = dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr;
  if (lacks || dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr)
    if (std::string unknown = unknown_word(app); !unknown.empty()) return unknown;
  const CLI::App& at = innermost_parsed(app);
  if (text == "A subcommand is required") {
    const std::string commands = subcommand_names(at);
    return "a command is missing" + (commands.empty() ? "" : ": " + commands);
  }
  if (lacks) return text + ": " + usage_of(at);
  if (const auto between = text.find(" excludes ");
      between != text.npos && dynamic_cast<const CLI::ExcludesError*>(&problem) != nullptr)
    return text.substr(0, between) + " and " + text.substr(between + 10) +
           " contradict each other; leave out one of the two";
  if (const auto twice = text.find(": At Most 1 required"); twice != text.npos)
    return text.substr(0, twice) + " is given twice; it has one value";
  if (const auto missing = text.find(": 1 required "); missing != std::string::npos)
    return text.substr(0, missing) + " " + std::string(needs_value) +
           text.substr(missing + 13, text.rfind(" missing") - missing - 13);
  if (const auto at_colon = text.find(": " + std::string(needs_value)); at_colon != text.npos)
    text.erase(at_colon, 1);
  return text;
}

/// A message repeats what was given word by word; of a long word only the beginning.
std::string with_short_words(std::string_view message) {
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = std::min(message.find_first_of(" \n", at), message.size());
    out.append(detail::excerpt(message.substr(at, end - at)));
    at = std::min(message.find_first_not_of(" \n", end), message.size());
    out.append(message.substr(end, at - end));
  }
  constexpr std::size_t characters_max = 10 * echo_characters_max;
  return detail::excerpt(out, characters_max);
}

} // namespace

void complain(std::string_view program, std::string_view message) {
  print_problem("%.*s: %s\n", static_cast<int>(program.size()), program.data(),
                with_short_words(message).c_str());
}

void add_version_option(CLI::App& app) {
  app.set_version_flag("--version", app.get_name() + " " PADDOCK_VERSION,
                       "Print the version and exit");
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  if (argc == 2 && argv[1] == describe_word) {
    print_json_line(describe_command_line(app));
    return success;
  }
  use_help_formatter(app, std::make_shared<help_formatter>());
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  check_values(app, words);
  std::string wrong;
  try {
    app.parse(argc, argv);
    // What the parser has taken for an option of ours may be one of a command before it.
    wrong = missing_separator(app, words);
  } catch (const CLI::Success& done) { // --help, --version
    if (is_unknown_command(app)) {
      complain(app.get_name(), unknown_word(app));
      return usage;
    }
    wrong = missing_separator(app, words);
    if (wrong.empty()) {
      print_help(app, done);
      return success;
    }
  } catch (const CLI::ParseError& problem) {
    wrong = missing_separator(app, words);
    if (wrong.empty()) wrong = message_of(app, problem);
  }
  if (wrong.empty()) return std::nullopt;
  const std::string path = path_of(innermost_parsed(app));
  const bool names_help = wrong.find("--help") != std::string::npos;
  complain(path, names_help ? wrong : wrong + " (see " + path + " --help)");
  return usage;
}

} // namespace paddock::cli
