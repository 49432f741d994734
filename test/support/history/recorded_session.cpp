// SPDX-License-Identifier: MIT
// What an agent does in a workspace, recorded in its history, for tests of what shows that:
//   recorded_session serve|look STORES WORKSPACE [exec SCRIPT | tool NAME SCRIPT PATHS]...
// PATHS are separated by line feeds; a script is run by sh in the workspace.
#include <paddock/history/history.hpp>
#include <paddock/path/root.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace paddock;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

/// Does what the words say; the exit code.
int perform(history::store& store, const std::vector<std::string>& given) {
  for (std::size_t i = 3; i < given.size();) {
    const bool is_tool = given[i] == "tool";
    const std::size_t words = is_tool ? 4 : 2;
    if (i + words > given.size()) return 2;
    history::recording recording = is_tool ? store.before_tool(given[i + 1], lines_of(given[i + 3]))
                                           : store.before_command("exec", given[i + 1]);
    if (std::system(given[i + (is_tool ? 2 : 1)].c_str()) != 0) return 1;
    if (const std::string lost = recording.finish(); !lost.empty()) {
      std::fprintf(stderr, "%s\n", lost.c_str());
      return 1;
    }
    i += words;
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() < 3) return 2;
  auto workspace = root::open(given[2]);
  if (!workspace) return 2;
  history::options how;
  how.directory = given[1];
  const auto opened =
      history::store::open(std::make_shared<const root>(*std::move(workspace)), std::move(how),
                           given[0] == "serve" ? history::session::serve : history::session::look);
  if (!opened) {
    std::fprintf(stderr, "%s\n", explain(opened.error()).c_str());
    return 1;
  }
  if (!(*opened)->read_in()) return 1;
  std::filesystem::current_path(given[2]);
  return perform(**opened, given);
}
