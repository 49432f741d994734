// SPDX-License-Identifier: MIT
#include "search_cli.hpp"

#include "common/history_cli.hpp"
#include "common/terminal.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/history/history.hpp>
#include <paddock/path/lexical_path.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace paddock::cli {

void add_workspace_option(CLI::App& parser, std::string& target, const std::string& names) {
  parser
      .add_option(
          names, target,
          "Use this workspace (default: the repository or workspace around the current directory)")
      ->type_name("DIRECTORY");
}

std::string repository_around(const std::string& directory) {
  std::error_code failed;
  for (std::filesystem::path at = directory;; at = at.parent_path()) {
    if (std::filesystem::exists(at / ".git", failed)) return at;
    if (at == at.parent_path()) return {};
  }
}

std::optional<found_workspace> open_workspace(std::string_view program,
                                              const std::string& directory) {
  auto named = root::open(directory);
  if (!named) {
    complain(program, unusable_workspace(directory, named.error().code));
    return std::nullopt;
  }
  found_workspace here{.workspace = std::make_shared<const root>(*std::move(named))};
  if (directory != ".") return here;
  const std::string& path = here.workspace->path();
  std::string around = repository_around(path);
  if (around.empty()) {
    const auto known = history::find_histories(*here.workspace, default_history_directory());
    if (!known.has_own && !known.above.empty()) around = known.above.front();
  }
  auto wider = around.empty() || around == path ? error{} : root::open(around);
  if (!wider) return here;
  std::string current(strip_root_prefix(path, around).value_or(""));
  // Where a rule of the workspace hides the directory, as in .git, whoever goes there looks there.
  const auto same = wider->open_beneath(current, access::directory);
  if (!same || !same->status.same_object(here.workspace->status())) return here;
  return found_workspace{std::make_shared<const root>(*std::move(wider)), std::move(current)};
}

std::string from_current(std::string_view current, std::string_view path) {
  if (current.empty() || path.empty() || is_absolute(path)) return std::string(path);
  if (path.starts_with(current) && path.substr(current.size()).starts_with('/'))
    return std::string(path.substr(current.size() + 1));
  return std::filesystem::path(path).lexically_relative(current).string();
}

void see_from_current(std::string_view current, search_coverage& coverage) {
  for (ignoring_rule& each : coverage.ignored_by)
    each.file = from_current(current, each.file);
  for (unread_entry& each : coverage.unread)
    each.path = from_current(current, each.path);
}

void complain_of_path(std::string_view program, const found_workspace& in, const std::string& path,
                      const error& e) {
  std::string next(e.code == error_code::not_a_directory ? "name a directory" : advice(e.code));
  if (e.code == error_code::not_found)
    if (const auto similar = similar_path(*in.workspace, join(in.current, path)); !similar.empty())
      next = "did you mean " + without_controls(from_current(in.current, similar)) + "?";
  complain(program, path + ": " + std::string(text(e.code)) + "; " + next);
}

std::optional<glob> glob_of(std::string_view program, const found_workspace& workspace,
                            std::string_view text, std::string_view option) {
  const std::string subject = std::string(option) + "'" + std::string(text) + "': ";
  auto compiled = glob::compile(text);
  if (!compiled) {
    complain(program, subject + compiled.error().operation);
    return std::nullopt;
  }
  if (text.starts_with('!')) {
    complain(program, subject + "a glob says what is wanted; paddock search -g '!GLOB' leaves out "
                                "(\\! is an ordinary one)");
    return std::nullopt;
  }
  if (const auto relative =
          without_root(text, join(workspace.workspace->path(), workspace.current))) {
    complain(program, subject +
                          "globs are matched against paths in the workspace, which are "
                          "relative; write '" +
                          *relative + "'");
    return std::nullopt;
  }
  return *std::move(compiled);
}

unsigned search_threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
}

std::string count_of(std::uint64_t number, const char* one, const char* many) {
  return std::to_string(number) + ' ' + (number == 1 ? one : many);
}

std::string left_out(const search_coverage& coverage) {
  std::string told;
  if (coverage.ignored > 0) {
    told = "; " + count_of(coverage.ignored, "entry is", "entries are") + " ignored";
    const ignoring_rule& most = coverage.ignored_by.front();
    const bool is_only = most.entries == coverage.ignored;
    told += (is_only ? ", by " : ", above all by ") + without_controls(most.rule) + " in " +
            without_controls(most.file) + ':' + std::to_string(most.line_number) +
            " (--no-ignore looks there too)";
  }
  if (coverage.unreadable > 0)
    told += "; " + count_of(coverage.unreadable, "entry", "entries") +
            " could not be read: " + without_controls(coverage.unread.front().path);
  return told;
}

} // namespace paddock::cli
