// SPDX-License-Identifier: MIT
#include "search_cli.hpp"

#include "common/mistakes.hpp"
#include "common/terminal.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

namespace paddock::cli {

void add_workspace_option(CLI::App& parser, std::string& target, const std::string& names) {
  parser.add_option(names, target, "Use this workspace (default: the current directory)")
      ->type_name("DIRECTORY");
}

std::optional<root> open_workspace(std::string_view program, const std::string& directory) {
  auto workspace = root::open(directory);
  if (workspace) return *std::move(workspace);
  complain(program, unusable_workspace(directory, workspace.error().code));
  return std::nullopt;
}

void complain_of_path(std::string_view program, const std::string& path, const error& e) {
  const std::string_view next =
      e.code == error_code::not_a_directory ? "name a directory" : advice(e.code);
  complain(program, path + ": " + std::string(text(e.code)) + "; " + std::string(next));
}

std::optional<glob> glob_of(std::string_view program, const root& workspace, std::string_view text,
                            std::string_view option) {
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
  if (const auto relative = without_root(text, workspace.path())) {
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
    told += ", most by " + without_controls(most.rule) + " in " + without_controls(most.file) +
            ':' + std::to_string(most.line_number) + " (--no-ignore looks there too)";
  }
  if (coverage.unreadable > 0)
    told += "; " + count_of(coverage.unreadable, "entry", "entries") +
            " could not be read: " + without_controls(coverage.unread.front().path);
  return told;
}

} // namespace paddock::cli
