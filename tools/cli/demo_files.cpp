// SPDX-License-Identifier: MIT
#include "demo_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace paddock::cli {

namespace fs = std::filesystem;

demo_files::demo_files() {
  std::error_code failed;
  const fs::path place = fs::temp_directory_path(failed);
  if (failed) return;
  std::string name = (place / "paddock-demo-XXXXXX").native();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

demo_files::~demo_files() {
  std::error_code ignored;
  if (good()) fs::remove_all(path_, ignored);
}

void demo_files::write_samples() const {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, std::string_view> samples[] = {
      {"notes.txt", "Buy hay. Mend the fence.\n"},
      {"numbers.csv", "horse,height_cm\nAda,148\nBlaise,162\n"},
      {"count.py", "print(sum(range(10)))\n"},
      {"random.bin", "\0\1\2\3\xF0\xF1\xF2"sv},
  };
  for (const auto& [name, content] : samples)
    std::ofstream(fs::path(path_) / name, std::ios::binary) << content;
}

std::map<std::string, std::string> demo_files::scan() const {
  std::map<std::string, std::string> found;
  std::error_code failed;
  for (fs::directory_iterator at(path_, failed), end; !failed && at != end; at.increment(failed)) {
    if (!fs::is_regular_file(at->symlink_status(failed))) continue;
    std::ifstream in(at->path(), std::ios::binary);
    found[at->path().filename().native()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return found;
}

} // namespace paddock::cli
