// SPDX-License-Identifier: MIT

// paddock map: a compact directory tree with sizes.

#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "search_cli.hpp"

#include <paddock/mcp/search_results.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/search/tree_map.hpp>

#include <limits>
#include <memory>

namespace paddock::cli {
namespace {

constexpr std::string_view map_command = "paddock map";
constexpr std::uint64_t number_max = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t map_bytes_min = 200;

struct map_arguments {
  std::string workspace = ".";
  std::string path = ".";
  map_options map;
  bool no_ignore = false, json = false;
};

style style_of(const map_line& line) {
  if (line.ignored || line.kind == map_kind::rest) return style::dim;
  const bool is_leaf = line.kind == map_kind::file || line.kind == map_kind::link;
  return is_leaf ? style::plain : style::bold;
}

int run_map(const map_arguments& options) {
  const auto workspace = open_workspace(map_command, options.workspace);
  if (!workspace) return usage;
  map_options how = options.map;
  how.threads_max = search_threads();
  if (options.no_ignore) how.ignored = ignore_files::disregard;
  auto map = map_tree(*workspace->workspace, join(workspace->current, options.path), how);
  if (!map) {
    complain_of_path(map_command, *workspace, options.path, map.error());
    return usage;
  }
  see_from_current(workspace->current, map->coverage);
  if (options.json) {
    mcp::json_writer out;
    mcp::write_map(out, *map, std::numeric_limits<std::size_t>::max());
    print_json_line(out.str());
    return success;
  }
  for (const map_line& line : map->lines)
    print_words("%s\n", styled(text_of(line), style_of(line)).c_str());
  if (map->lines.empty() && map->coverage.unreadable == 0 && !map->truncated)
    complain(map_command, options.path + " is empty");
  if (const std::uint64_t unread = map->coverage.unreadable; unread > 0)
    complain(map_command, count_of(unread, "directory", "directories") + " could not be read: " +
                              without_controls(map->coverage.unread.front().path) +
                              (unread == 1 ? "" : " and others"));
  if (map->truncated)
    complain(map_command, map->coverage.ended_early
                              ? "not everything was read, because a limit was reached"
                              : "not everything is shown; give a larger --bytes, or a path further "
                                "down");
  return success;
}

} // namespace

subcommand add_map(CLI::App& app) {
  const auto options = std::make_shared<map_arguments>();
  CLI::App* parser = app.add_subcommand("map", "Show a compact directory tree with sizes");
  parser->footer("Directories that do not fit, or are ignored, become one line with counts. Exit "
                 "codes: 0, or 2 for unusable options or paths.");
  parser->add_option("path", options->path, "The directory to map (default: the current directory)")
      ->type_name("PATH");
  add_workspace_option(*parser, options->workspace);
  parser->add_option("-d,--depth", options->map.depth_max, "Show this many levels")
      ->type_name("N")
      ->check(whole_number(number_max, 1));
  parser
      ->add_option("--bytes", options->map.bytes_max,
                   "Print at most this many bytes (default: 5000)")
      ->type_name("BYTES")
      ->transform(byte_count(number_max, map_bytes_min));
  parser->add_flag("--no-ignore", options->no_ignore, "Show what is in ignored directories too");
  parser->add_flag("--json", options->json, "Print one JSON object");
  return {parser, [options] { return run_map(*options); }};
}

} // namespace paddock::cli
