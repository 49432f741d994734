// SPDX-License-Identifier: MIT

// paddock search: lines of text that match a pattern, with the options that ripgrep has.

#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "search_cli.hpp"

#include <paddock/mcp/search_results.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/search/text_search.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace paddock::cli {
namespace {

/// Types of files by name, as ripgrep's -t has them.
struct file_type {
  std::string_view name;
  std::string_view glob;
};

constexpr file_type types[] = {
    {"c", "*.{c,h}"},
    {"cpp", "*.{cpp,cc,cxx,c++,hpp,hh,hxx,h++,h,inl,ipp,tpp}"},
    {"css", "*.{css,scss,sass,less}"},
    {"go", "*.go"},
    {"html", "*.{html,htm,ejs}"},
    {"java", "*.{java,jsp}"},
    {"js", "*.{js,jsx,mjs,cjs,vue}"},
    {"json", "*.json"},
    {"make", "{[Mm]akefile*,GNUmakefile,*.mk,*.mak}"},
    {"md", "*.{md,markdown,mdx,mkd}"},
    {"php", "*.php"},
    {"py", "*.{py,pyi}"},
    {"ruby", "{*.rb,Gemfile,Rakefile,*.gemspec}"},
    {"rust", "*.rs"},
    {"sh", "{*.sh,*.bash,*.zsh,.bashrc,.profile}"},
    {"sql", "*.sql"},
    {"toml", "{*.toml,Cargo.lock}"},
    {"ts", "*.{ts,tsx,mts,cts}"},
    {"txt", "*.txt"},
    {"xml", "*.{xml,xsd,xsl,svg}"},
    {"yaml", "*.{yaml,yml}"},
};

/// The glob of a type; nothing for a name that is none.
std::optional<std::string_view> glob_of_type(std::string_view name) {
  for (const file_type& each : types)
    if (each.name == name) return each.glob;
  return std::nullopt;
}

/// "c, cpp, css, …".
std::string all_types() {
  std::string all;
  for (const file_type& each : types)
    (all += all.empty() ? "" : ", ") += each.name;
  return all;
}

constexpr std::string_view search_command = "paddock search";

struct search_arguments {
  std::string workspace = ".";
  std::string pattern; ///< or the first path, where there are expressions
  const CLI::Option* given_pattern = nullptr;
  std::vector<std::string> expressions;
  std::vector<std::string> types;
  std::vector<std::string> paths{}; ///< none: the whole workspace
  std::vector<std::string> globs;
  bool ignore_case = false, word = false, fixed = false;
  bool list_files = false, count = false, no_ignore = false, json = false, invert = false;
  bool accepted = false; ///< --hidden and -n, which are always so
  std::uint64_t context = 0;
  std::optional<std::uint64_t> before, after; ///< instead of it
  colours colour = colours::automatic;
  std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  unsigned threads = 0;
};

void print(std::string_view text) {
  print_content(text);
}

/// Globs of -g: one that begins with ! leaves out.
bool read_globs(const found_workspace& workspace, const std::vector<std::string>& given,
                std::vector<glob_rule>& rules) {
  for (std::string_view text : given) {
    const bool leaves_out = text.starts_with('!');
    if (leaves_out) text.remove_prefix(1);
    const auto compiled = glob_of(search_command, workspace, text, "-g ");
    if (!compiled) return false;
    rules.push_back({*compiled, leaves_out});
  }
  return true;
}

void print_lines(const file_matches& file, bool heading, bool context) {
  const std::string path = name_on_output(file.path);
  if (heading) print(styled(path, style::bold) + "\n");
  std::uint64_t before = 0;
  for (const found_line& line : file.lines) {
    if (context && before != 0 && line.line_number != before + 1) print("--\n");
    before = line.line_number;
    const char mark = line.context ? '-' : ':';
    std::string text = heading ? "" : path + mark;
    text += styled(std::to_string(line.line_number), style::good) + mark +
            line_on_output(line.text) + '\n';
    print(text);
  }
  if (heading) print("\n");
}

void print_text(const text_matches& found, const search_arguments& options) {
  const bool heading = ::isatty(STDOUT_FILENO) == 1;
  const bool context = options.context + options.before.value_or(0) + options.after.value_or(0) > 0;
  bool first = true;
  for (const file_matches& file : found.files) {
    if (options.list_files) {
      print(name_on_output(file.path) + '\n');
    } else if (options.count) {
      print(name_on_output(file.path) + ':' + std::to_string(file.count) + '\n');
    } else {
      if (context && !heading && !std::exchange(first, false)) print("--\n");
      print_lines(file, heading, context);
    }
  }
}

/// What an answer without a match is worth.
std::string searched(const text_matches& found) {
  std::string told = count_of(found.searched, "file", "files") + " searched";
  if (found.binary > 0) told += "; " + count_of(found.binary, "file is", "files are") + " binary";
  if (found.too_large > 0)
    told += "; " + count_of(found.too_large, "file is", "files are") + " too large";
  return told + left_out(found.coverage);
}

/// Searches one path; whether something matched, or nothing after an error.
std::optional<bool> search_path(const found_workspace& workspace, const std::string& path,
                                const text_pattern& pattern, const search_options& how,
                                const search_arguments& options) {
  auto found = search_text(*workspace.workspace, join(workspace.current, path), pattern, how);
  if (!found && std::string_view(found.error().operation) == "search") {
    complain(search_command, path + ": not searched: " + why_not_searched(found.error().code));
    return std::nullopt;
  }
  if (std::error_code absent;
      !found && options.word && std::filesystem::is_directory(options.pattern, absent)) {
    complain(search_command,
             "-w matches whole words, as in ripgrep; write --workspace " + options.pattern);
    return std::nullopt;
  }
  if (!found) {
    complain_of_path(search_command, workspace, path, found.error());
    return std::nullopt;
  }
  see_from_current(workspace.current, found->coverage);
  for (file_matches& each : found->files)
    each.path = from_current(workspace.current, each.path);
  if (options.json) {
    mcp::json_writer out;
    mcp::write_matches(out, *found, how, std::numeric_limits<std::size_t>::max());
    print(out.str() + '\n');
  } else {
    print_text(*found, options);
    if (found->total_matches == 0) complain(search_command, "no match: " + searched(*found));
    for (const unread_entry& each : found->coverage.unread)
      complain(search_command,
               name_on_output(each.path) + ": not searched: " + why_not_searched(each.why));
    if (!found->exact && found->coverage.unread.empty())
      complain(search_command, std::string(mcp::notice_of(*found)));
  }
  return found->total_matches > 0;
}

/// Types of -t: the files of any of them.
bool read_types(const std::vector<std::string>& given, std::vector<glob>& include) {
  for (const std::string& name : given) {
    const auto type = glob_of_type(name);
    if (!type) {
      complain(search_command, "-t '" + name + "': no such type; there are " + all_types() +
                                   ", and -g takes any glob");
      return false;
    }
    include.push_back(*glob::compile(*type));
  }
  return true;
}

/// A text as an expression that stands for it alone.
std::string literally(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x80 || c == '_' ||
                       (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain) out += '\\';
    out += c;
  }
  return out;
}

/// Any of several patterns. Precondition: each is a pattern by itself.
std::string any_of(const std::vector<std::string>& expressions, bool fixed) {
  std::string all;
  for (const std::string& each : expressions)
    (all += all.empty() ? "(?:" : "|(?:").append(fixed ? literally(each) : each) += ')';
  return all;
}

/// With -e all positional arguments are paths.
void take_expressions(search_arguments& options) {
  if (options.expressions.empty()) return;
  if (options.given_pattern->count() > 0)
    options.paths.insert(options.paths.begin(), options.pattern);
  options.pattern = options.expressions.front();
}

/// The pattern of all options; nothing after the program has complained of one.
std::optional<text_pattern> pattern_of(const search_arguments& options) {
  const auto compiled = [&](const std::string& text, bool fixed) -> std::optional<text_pattern> {
    auto made = text_pattern::compile(
        text, {.syntax = fixed ? pattern_syntax::literal : pattern_syntax::regular_expression,
               .letters = options.ignore_case ? letter_case::folded : letter_case::exact,
               .bounds = options.word ? match_bounds::whole_words : match_bounds::anywhere});
    if (made) return *std::move(made);
    const bool is_fault = !fixed && made.error().code == error_code::invalid_argument;
    complain(search_command, "'" + text + "': " + made.error().operation +
                                 (is_fault ? " (-F takes the pattern as it is)" : ""));
    return std::nullopt;
  };
  if (options.expressions.size() < 2) return compiled(options.pattern, options.fixed);
  for (const std::string& each : options.expressions) // `a)|(b` would be one between the others
    if (!compiled(each, options.fixed)) return std::nullopt;
  return compiled(any_of(options.expressions, options.fixed), false);
}

int run_search(search_arguments options) {
  choose_colours(options.colour);
  take_expressions(options);
  if (options.paths.empty()) options.paths.emplace_back(".");
  if (options.pattern.empty()) {
    const bool is_given = options.given_pattern->count() > 0 || !options.expressions.empty();
    complain(search_command,
             is_given ? "the pattern is empty; ^ matches every line, . those with something in them"
                      : "a pattern is missing; give one, or -e PATTERN");
    return usage;
  }
  const auto workspace = open_workspace(search_command, options.workspace);
  if (!workspace) return usage;
  const auto pattern = pattern_of(options);
  if (!pattern) return usage;
  std::vector<glob_rule> rules;
  if (!read_globs(*workspace, options.globs, rules)) return usage;
  std::vector<glob> include;
  if (!read_types(options.types, include)) return usage;
  // As in ripgrep, where a glob takes files in, types do not count.
  if (!std::ranges::all_of(rules, &glob_rule::leaves_out)) include.clear();
  search_options how{.output = options.list_files ? search_output::files
                               : options.count    ? search_output::counts
                                                  : search_output::lines,
                     .lines = options.invert ? wanted_lines::not_matching : wanted_lines::matching,
                     .include = include,
                     .before = options.before.value_or(options.context),
                     .after = options.after.value_or(options.context),
                     .limit = options.limit,
                     .rules = rules,
                     .rules_from = workspace->current,
                     .ignored = options.no_ignore ? ignore_files::disregard : ignore_files::respect,
                     .line_characters_max =
                         options.json ? 500 : std::numeric_limits<std::uint32_t>::max(),
                     .matches_max = std::numeric_limits<std::uint32_t>::max(),
                     .threads_max = options.threads == 0 ? search_threads() : options.threads};
  bool matched = false, troubled = false;
  for (const std::string& path : options.paths) {
    const auto found = search_path(*workspace, path, *pattern, how, options);
    matched = matched || found.value_or(false);
    troubled = troubled || !found;
  }
  if (troubled) return usage;
  return matched ? success : no_match;
}

/// What is looked for, and where.
void add_choice(CLI::App& parser, search_arguments& options) {
  parser
      .add_option(
          "-e,--regexp", options.expressions,
          "Search for this pattern too; then all positional arguments are paths (repeatable)")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  parser.add_flag("-v,--invert-match", options.invert, "Print the lines that do not match");
  parser.add_option("-t,--type", options.types, "Search only files of this type: " + all_types())
      ->type_name("TYPE")
      ->allow_extra_args(false);
}

/// What is shown.
void add_display(CLI::App& parser, search_arguments& options) {
  constexpr std::uint64_t context_max = 1000;
  parser.add_option("-A,--after-context", options.after, "Show this many lines after each match")
      ->type_name("N")
      ->check(whole_number(context_max));
  parser
      .add_option("-B,--before-context", options.before, "Show this many lines before each match")
      ->type_name("N")
      ->check(whole_number(context_max));
  parser
      .add_option("-C,--context", options.context,
                  "Show this many lines before and after each match")
      ->type_name("N")
      ->check(whole_number(context_max));
  const std::map<std::string, colours> words{
      {"auto", colours::automatic}, {"always", colours::always}, {"never", colours::never}};
  parser
      .add_option("--color,--colour", options.colour,
                  "Use colors auto (on a terminal), always or never")
      ->transform(word_of(words))
      ->type_name("WHEN");
}

} // namespace

subcommand add_search(CLI::App& app) {
  const auto options = std::make_shared<search_arguments>();
  CLI::App* parser = app.add_subcommand("search", "Search files for lines that match a pattern");
  parser->footer("The pattern is an RE2 regular expression. Files that .gitignore and .ignore "
                 "exclude are not searched; names that begin with a dot are. Exit codes: 0 a "
                 "match, 1 none, 2 unusable options or paths.");
  options->given_pattern =
      parser->add_option("pattern", options->pattern, "The pattern to look for")
          ->type_name("PATTERN");
  parser
      ->add_option("path", options->paths, "Files or directories (default: the current directory)")
      ->type_name("PATH");
  add_workspace_option(*parser, options->workspace, "--workspace"); // -w is --word-regexp
  parser->add_flag("-i,--ignore-case", options->ignore_case, "Ignore case");
  parser->add_flag("-w,--word-regexp", options->word, "Match only whole words");
  parser->add_flag("-F,--fixed-strings", options->fixed, "Treat the pattern as literal text");
  parser
      ->add_option(
          "-g,--glob", options->globs,
          "Search only files that match this glob, by their paths from here; with ! before "
          "it, all others; the last that matches decides (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  add_choice(*parser, *options);
  parser->add_flag("-l,--files-with-matches", options->list_files, "Print only paths");
  parser->add_flag("-c,--count", options->count, "Print how many lines match in each file");
  add_display(*parser, *options);
  parser
      ->add_option("-m,--limit", options->limit,
                   "Print at most this many matching lines (or files)")
      ->type_name("N")
      ->check(whole_number(std::numeric_limits<std::uint64_t>::max()));
  parser->add_flag("--no-ignore", options->no_ignore, "Search ignored files too");
  parser->add_flag("-n,--line-number,--hidden", options->accepted,
                   "Have no effect (for compatibility with ripgrep)");
  parser
      ->add_option("-j,--threads", options->threads,
                   "Use this many threads (default: one for each processor, at most 8)")
      ->type_name("N")
      ->check(whole_number(64, 1));
  parser->add_flag("--json", options->json, "Print one JSON object for each path");
  return {parser, [options] { return run_search(*options); }};
}

} // namespace paddock::cli
