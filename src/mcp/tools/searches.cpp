// SPDX-License-Identifier: MIT

// The tools that look for what is where: searchText, findFiles, mapDirectory.

#include "mcp/tools/tools.hpp"

#include <paddock/mcp/search_results.hpp>
#include <paddock/search/find_files.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/search/tree_map.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace paddock::mcp {
namespace {

bool flag(const call& c, std::string_view name) {
  return c.arguments()[name].boolean().value_or(false);
}

ignore_files ignored_of(const call& c) {
  return flag(c, "includeIgnored") ? ignore_files::disregard : ignore_files::respect;
}

/// A pattern or glob that cannot be used, and why.
tool_result refused(const error& e, const std::string& subject, const char* remedy = "") {
  return tool_result::failure(e.code, subject + ": " + e.operation + remedy);
}

/// What stands before a glob of others' tools and stands for nothing here. Nothing: it is usable.
std::optional<std::string> misread(const paddock::root& root, std::string_view glob,
                                   bool leaves_out) {
  if (glob.starts_with('!'))
    return std::string(leaves_out ? "what exclude names is left out already; write it without the !"
                                  : "a glob says what is wanted; of searchText, exclude takes what "
                                    "is left out, without the !") +
           " (\\! is an ordinary one)";
  if (const auto relative = without_root(glob, root.path()))
    return "globs are matched against paths beneath path, which are relative; write " +
           shown(*relative);
  return std::nullopt;
}

/// Globs of a list, and what the braces of all globs of a call may stand for.
constexpr std::size_t globs_max = 100, alternatives_max = glob::alternatives_max;
static_assert(globs_max == 100 && alternatives_max == 1000, "so say the words below");
constexpr std::string_view too_many_globs =
    "include and exclude take at most 100 globs each, whose braces stand for at most 1,000 "
    "patterns in all; use fewer, as src/** for many files";

/// The globs of one argument; nothing after one that is none, which `wrong` then tells.
/// `alternatives` counts those of all arguments.
std::optional<std::vector<glob>> globs_of(const paddock::root& root, const call& c,
                                          std::string_view name, std::size_t& alternatives,
                                          std::optional<tool_result>& wrong) {
  std::vector<glob> globs;
  c.arguments()[name].for_each_element([&](json_view each) {
    if (wrong) return;
    const std::string_view text = each.string().value_or("");
    auto compiled = glob::compile(text);
    if (compiled) alternatives += compiled->alternatives();
    if (globs.size() == globs_max || alternatives > alternatives_max) {
      wrong = tool_result::failure(error_code::too_many, std::string(too_many_globs));
      return;
    }
    const auto fault = misread(root, text, name == "exclude");
    if (fault)
      wrong = tool_result::failure(error_code::invalid_argument,
                                   std::string(name) + ": " + shown(text) + ": " + *fault);
    else if (compiled)
      globs.push_back(*std::move(compiled));
    else
      wrong = refused(compiled.error(), std::string(name) + ": " + shown(text));
  });
  return wrong ? std::nullopt : std::optional(std::move(globs));
}

search_output output_of(const call& c) {
  const std::string_view wanted = text_argument(c, "output");
  if (wanted == "files") return search_output::files;
  return wanted == "counts" ? search_output::counts : search_output::lines;
}

/// A page of results, which nextOffset goes on behind: what a model reads at once.
std::size_t shown_bytes_max(const call& c) {
  constexpr std::size_t bytes_max = 30'000;
  return std::min(result_bytes_max(c), bytes_max);
}

constexpr std::string_view line_too_short =
    "a single result exceeds the server's limit of one message (--limit message-out-bytes)";

/// What was written, unless there was no room for anything of it.
tool_result search_page(json_writer& out, std::uint64_t shown, std::size_t found) {
  if (shown == 0 && found > 0) return tool_result::failure(error_code::too_large, line_too_short);
  return {.json = out.take()};
}

} // namespace

tool_result search_text(workspace_state& state, call& c) {
  const turns::turn mine(state.searches, c); // before the deadline and the pattern's memory
  const std::string_view text = text_argument(c, "pattern");
  const pattern_options how{
      .syntax = flag(c, "literal") ? pattern_syntax::literal : pattern_syntax::regular_expression,
      .letters = flag(c, "ignoreCase") ? letter_case::folded : letter_case::exact,
      .bounds = flag(c, "word") ? match_bounds::whole_words : match_bounds::anywhere};
  const auto pattern = text_pattern::compile(text, how);
  if (!pattern) {
    const bool literal_helps = pattern.error().code == error_code::invalid_argument &&
                               text_pattern::compile(text, {.syntax = pattern_syntax::literal});
    return refused(pattern.error(), "pattern: " + shown(text),
                   literal_helps ? "; with literal: true the pattern is plain text" : "");
  }
  std::optional<tool_result> wrong;
  std::size_t alternatives = 0;
  const auto include = globs_of(*state.root, c, "include", alternatives, wrong);
  const auto exclude = globs_of(*state.root, c, "exclude", alternatives, wrong);
  if (!include || !exclude) return *std::move(wrong);
  const search_options options{.output = output_of(c),
                               .include = *include,
                               .exclude = *exclude,
                               .before = count_argument(c, "context", 0),
                               .after = count_argument(c, "context", 0),
                               .offset = count_argument(c, "offset", 0),
                               .limit = count_argument(c, "limit", 200),
                               .ignored = ignored_of(c),
                               .threads_max = state.search_threads_max,
                               .bounds = bounds_of(state, c)};
  const std::string path = path_argument(c, "path");
  const auto found = paddock::search_text(*state.root, path, *pattern, options);
  if (!found && std::string_view(found.error().operation) == "search")
    return tool_result::failure(found.error().code, shown(path) + ": not searched: " +
                                                        why_not_searched(found.error().code) +
                                                        "; use a program that fits it");
  if (!found) return failure(*state.root, found.error(), path);
  json_writer out;
  const std::uint64_t written = write_matches(out, *found, options, shown_bytes_max(c));
  return search_page(out, written, found->files.size());
}

tool_result find_files(workspace_state& state, call& c) {
  const turns::turn mine(state.searches, c);
  const std::string_view text = text_argument(c, "glob");
  const auto wanted = glob::compile(text);
  if (!wanted) return refused(wanted.error(), "glob: " + shown(text));
  if (const auto fault = misread(*state.root, text, false))
    return tool_result::failure(error_code::invalid_argument,
                                "glob: " + shown(text) + ": " + *fault);
  const std::string_view type = text_argument(c, "type");
  const find_options options{.kind = type == "file"        ? wanted_kind::file
                                     : type == "directory" ? wanted_kind::directory
                                                           : wanted_kind::any,
                             .order = text_argument(c, "sort") == "modified" ? found_order::modified
                                                                             : found_order::path,
                             .ignored = ignored_of(c),
                             .offset = count_argument(c, "offset", 0),
                             .limit = count_argument(c, "limit", 1000),
                             .threads_max = state.search_threads_max,
                             .bounds = bounds_of(state, c)};
  const std::string path = path_argument(c, "path");
  const auto found = paddock::find_files(*state.root, path, *wanted, options);
  if (!found) return failure(*state.root, found.error(), path);
  if (found->total == 0 && text.starts_with('/') && !found->coverage.ended_early)
    return tool_result::failure(error_code::not_found,
                                "glob: " + shown(text) +
                                    ": nothing has this path; a leading slash stands for the "
                                    "directory that is looked in, without it a name is found at "
                                    "any depth, and outside the workspace nothing is");
  json_writer out;
  const std::uint64_t written = write_found(out, *found, options, shown_bytes_max(c));
  return search_page(out, written, found->paths.size());
}

tool_result map_directory(workspace_state& state, call& c) {
  const turns::turn mine(state.searches, c);
  const map_options defaults;
  const std::size_t room = result_bytes_max(c);
  const map_options options{.depth_max = count_argument(c, "depth", defaults.depth_max),
                            .bytes_max = std::min<std::uint64_t>(
                                count_argument(c, "bytesMax", defaults.bytes_max), room / 4),
                            .ignored = ignored_of(c),
                            .threads_max = state.search_threads_max,
                            .bounds = bounds_of(state, c)};
  const std::string path = path_argument(c, "path");
  const auto found = map_tree(*state.root, path, options);
  if (!found) return failure(*state.root, found.error(), path);
  json_writer out;
  write_map(out, *found, room);
  return {.json = out.take()};
}

} // namespace paddock::mcp
