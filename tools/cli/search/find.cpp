// SPDX-License-Identifier: MIT

// paddock find: files and directories of a workspace by their names.

#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "search_cli.hpp"

#include <paddock/mcp/search_results.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/search/find_files.hpp>

#include <limits>
#include <map>
#include <memory>

namespace paddock::cli {
namespace {

constexpr std::string_view find_command = "paddock find";

struct find_arguments {
  std::string workspace = ".";
  std::string pattern;
  std::string path = ".";
  wanted_kind kind = wanted_kind::any;
  std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  bool newest_first = false, no_ignore = false, json = false, separated_by_nul = false;
};

/// Prints many at once: each call looks at what it prints, and has its price.
class path_printer {
public:
  path_printer(std::string_view current, bool separated_by_nul)
      : current_(current), separated_by_nul_(separated_by_nul) {}

  void operator()(std::string_view in_workspace) {
    constexpr std::size_t bytes_at_once = std::size_t{64} * 1024;
    std::string relative; // a path from the top needs no copy
    if (!current_.empty()) relative = from_current(current_, in_workspace);
    const std::string_view path = current_.empty() ? in_workspace : relative;
    if (separated_by_nul_ || !output_is_terminal())
      text_ += path;
    else
      text_ += without_controls(path);
    text_ += separated_by_nul_ ? '\0' : '\n';
    if (text_.size() >= bytes_at_once) print();
  }
  void print() {
    if (separated_by_nul_)
      pass_on(text_);
    else
      print_content(text_);
    text_.clear();
  }

private:
  std::string_view current_;
  bool separated_by_nul_;
  std::string text_;
};

int run_find(const find_arguments& options) {
  const auto workspace = open_workspace(find_command, options.workspace);
  if (!workspace) return usage;
  const auto wanted = glob_of(find_command, *workspace, options.pattern);
  if (!wanted) return usage;
  const find_options how{.kind = options.kind,
                         .order = options.newest_first ? found_order::modified : found_order::path,
                         .ignored =
                             options.no_ignore ? ignore_files::disregard : ignore_files::respect,
                         .limit = options.limit,
                         .threads_max = search_threads()};
  path_printer printer(workspace->current, options.separated_by_nul);
  const root& whole = *workspace->workspace;
  const std::string path = join(workspace->current, options.path);
  auto found = options.json ? find_files(whole, path, *wanted, how)
                            : find_files(whole, path, *wanted, how, printer);
  printer.print();
  if (!found) {
    complain_of_path(find_command, *workspace, options.path, found.error());
    return usage;
  }
  see_from_current(workspace->current, found->coverage);
  for (std::string& each : found->paths)
    each = from_current(workspace->current, each);
  if (options.json) {
    mcp::json_writer out;
    mcp::write_found(out, *found, how, std::numeric_limits<std::size_t>::max());
    print_json_line(out.str());
  } else {
    if (found->total == 0)
      complain(find_command,
               "no match in " + count_of(found->coverage.entries, "entry", "entries") +
                   left_out(found->coverage) +
                   (options.pattern.starts_with('/')
                        ? "; a leading slash stands for the directory that is looked in"
                        : ""));
  }
  return found->total > 0 ? success : no_match;
}

} // namespace

subcommand add_find(CLI::App& app) {
  const auto options = std::make_shared<find_arguments>();
  CLI::App* parser = app.add_subcommand("find", "Find files and directories by name");
  parser->footer("A glob without a slash matches names at any depth; ** crosses directories; {a,b} "
                 "matches a or b.\nFiles that .gitignore and .ignore exclude are not found. Exit "
                 "codes: 0 found, 1 nothing, 2 unusable options or paths.");
  parser->add_option("glob", options->pattern, "The pattern to look for")
      ->required()
      ->type_name("GLOB");
  parser
      ->add_option("path", options->path,
                   "The directory to look in (default: the current directory)")
      ->type_name("PATH");
  add_workspace_option(*parser, options->workspace);
  const std::map<std::string, wanted_kind> kinds{{"any", wanted_kind::any},
                                                 {"file", wanted_kind::file},
                                                 {"directory", wanted_kind::directory}};
  parser
      ->add_option("-t,--type", options->kind,
                   "Find entries of type any (the default), file or directory")
      ->transform(word_of(kinds))
      ->type_name("TYPE");
  parser->add_flag("--newest-first", options->newest_first,
                   "Sort by time of the last change, newest first");
  parser->add_option("-m,--limit", options->limit, "Print at most this many paths")
      ->type_name("N")
      ->check(whole_number(std::numeric_limits<std::uint64_t>::max()));
  parser->add_flag("--no-ignore", options->no_ignore, "Find ignored files too");
  parser->add_flag("-0,--null", options->separated_by_nul,
                   "End each path with a NUL, for xargs -0");
  parser->add_flag("--json", options->json, "Print one JSON object");
  return {parser, [options] { return run_find(*options); }};
}

} // namespace paddock::cli
