// SPDX-License-Identifier: MIT
// Makes the changes of a patch in a directory, for a test that has git make the same. Arguments:
// the directory, the file with the patch, and `white_space` to match but for that. Exit status 1:
// the patch is refused, 3: a hunk is.

#include <paddock/text/patch.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

struct outcome {
  fs::path path;
  std::string content;
  fs::perms mode;
};

} // namespace

int main(int count, char** words) {
  if (count != 3 && count != 4) return 2;
  const auto matching =
      count == 4 ? paddock::text_matching::white_space : paddock::text_matching::exact;
  const fs::path top(words[1]);
  const std::string patch = content_of(words[2]);
  const auto files = paddock::parse_patch(patch);
  if (!files) {
    std::cerr << "line " << files.error().line_index << ": " << files.error().operation << '\n';
    return 1;
  }
  std::vector<outcome> written;
  std::vector<fs::path> removed;
  for (const paddock::file_patch& file : *files) {
    const fs::path from = top / (file.from.empty() ? file.path : file.from);
    const bool is_new = file.action == paddock::patch_action::create;
    const auto content = paddock::apply_hunks(is_new ? "" : content_of(from), file.hunks, matching);
    if (!content) {
      std::cerr << file.path << ": hunk " << content.error().hunk << '\n';
      return 3;
    }
    auto mode = is_new ? fs::perms(0644) : fs::status(from).permissions();
    if (file.is_executable) mode = fs::perms(*file.is_executable ? 0755 : 0644);
    if (file.action != paddock::patch_action::remove)
      written.push_back({top / file.path, content->text, mode});
    if (file.action == paddock::patch_action::remove || file.action == paddock::patch_action::move)
      removed.push_back(from);
  }
  for (const fs::path& path : removed)
    fs::remove(path);
  for (const outcome& each : written) {
    fs::create_directories(each.path.parent_path());
    std::ofstream(each.path, std::ios::binary) << each.content;
    fs::permissions(each.path, each.mode);
  }
}
