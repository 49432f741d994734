// SPDX-License-Identifier: MIT
#include "search_cli.hpp"

#include "common/mistakes.hpp"
#include "common/terminal.hpp"

#include <algorithm>
#include <thread>

namespace paddock::cli {

std::optional<root> open_workspace(std::string_view program, const std::string& directory) {
  auto workspace = root::open(directory);
  if (workspace) return *std::move(workspace);
  complain(program, unusable_workspace(directory, workspace.error().code));
  return std::nullopt;
}

void complain_of_path(std::string_view program, const std::string& path, const error& e) {
  complain(program, path + ": " + std::string(text(e.code)) + "; " + std::string(advice(e.code)));
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
            ':' + std::to_string(most.line) + " (--no-ignore looks there too)";
  }
  if (coverage.unreadable > 0)
    told += "; " + count_of(coverage.unreadable, "entry", "entries") +
            " could not be read: " + without_controls(coverage.unread.front().path);
  return told;
}

} // namespace paddock::cli
