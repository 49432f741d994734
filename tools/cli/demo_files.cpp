// SPDX-License-Identifier: MIT
#include "demo_files.hpp"

#include <paddock/path/protected_names.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

namespace paddock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t files_max = 200;
constexpr std::uint64_t bytes_max = std::uint64_t{64} * 1024 * 1024;
/// A directory with more entries is left out: the demonstration is to stay readable.
constexpr std::size_t subdirectory_entries_max = 12;
constexpr std::array<std::string_view, 7> made_by_builds{
    "node_modules", "target", "dist", "out", "__pycache__", "venv", "subprojects"};

bool is_skipped_directory(const std::string& name) {
  return name.starts_with('.') || name.starts_with("build") ||
         std::ranges::find(made_by_builds, name) != made_by_builds.end();
}

/// The entries of a directory, sorted by name; empty when it cannot be read.
std::vector<fs::directory_entry> entries_of(const std::string& directory) {
  std::error_code failed;
  std::vector<fs::directory_entry> all;
  for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
       at.increment(failed))
    all.push_back(*at);
  std::ranges::sort(all, {}, [](const fs::directory_entry& e) { return e.path().native(); });
  return all;
}

bool is_wanted_file(const fs::directory_entry& entry) {
  std::error_code failed;
  return fs::is_regular_file(entry.symlink_status(failed)) &&
         !entry.path().filename().native().starts_with('.');
}

/// At the top: the demonstration moves every file, and those stay where they are.
bool is_protected(const fs::directory_entry& entry) {
  static const auto names = usual_protected_names();
  return std::ranges::find(names, entry.path().filename().native(), &protected_name::name) !=
         names.end();
}

bool is_plain_directory(const fs::directory_entry& entry) {
  std::error_code failed;
  return fs::is_directory(entry.symlink_status(failed));
}

struct sample {
  std::string_view name;
  std::string_view content;
};

using namespace std::string_view_literals;
constexpr std::array samples{
    sample{"photo.jpg", "\xFF\xD8\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xFF\xD9"sv},
    sample{"picture-without-extension",
           "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1F\x15\xC4\x89"sv},
    sample{"report.pdf", "%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n"sv},
    sample{"notes.txt", "Buy hay. Mend the fence.\n"sv},
    sample{"README.md", "# A few files\n\nTo be put in order.\n"sv},
    sample{"numbers.csv", "horse,height_cm\nAda,148\nBlaise,162\n"sv},
    sample{"settings.json", "{\"gate\": \"closed\"}\n"sv},
    sample{"count.py", "print(sum(range(10)))\n"sv},
    sample{"hello.c", "#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }\n"sv},
    sample{"random.bin", "\0\1\2\3\xF0\xF1\xF2"sv},
};

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

demo_files::demo_files() {
  std::error_code failed;
  fs::path pattern = fs::temp_directory_path(failed);
  if (failed) return;
  std::string name = (pattern / "paddock-demo-XXXXXX").native();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

demo_files::~demo_files() {
  std::error_code ignored;
  if (good()) fs::remove_all(path_, ignored);
}

bool demo_files::copy_file(const std::string& from, const std::string& name) {
  std::error_code failed;
  const auto size = fs::file_size(from, failed);
  if (failed || files_ >= files_max || size > bytes_max - bytes_) return false;
  const fs::path to = fs::path(path_) / name;
  fs::create_directories(to.parent_path(), failed);
  if (!fs::copy_file(from, to, failed)) return false;
  fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, failed);
  ++files_;
  bytes_ += size;
  return true;
}

void demo_files::copy_subdirectory(const std::string& from, const std::string& name) {
  const auto entries = entries_of(from);
  if (entries.size() > subdirectory_entries_max) return;
  for (const auto& entry : entries)
    if (is_wanted_file(entry))
      copy_file(entry.path().native(), name + "/" + entry.path().filename().native());
}

bool demo_files::copy_from(const std::string& directory) {
  const auto entries = entries_of(directory);
  for (const auto& entry : entries)
    if (is_wanted_file(entry) && !is_protected(entry))
      copy_file(entry.path().native(), entry.path().filename().native());
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().native();
    if (is_plain_directory(entry) && !is_skipped_directory(name))
      copy_subdirectory(entry.path().native(), name);
  }
  return files_ > 0;
}

void demo_files::write_samples() {
  for (const auto& each : samples)
    std::ofstream(fs::path(path_) / each.name, std::ios::binary) << each.content;
}

std::map<std::string, fingerprint> demo_files::scan() const {
  std::map<std::string, fingerprint> found;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(path_, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (!fs::is_regular_file(at->symlink_status(failed))) continue;
    const std::string bytes = bytes_of(at->path());
    found[at->path().lexically_relative(path_).native()] = {bytes.size(),
                                                            std::hash<std::string>{}(bytes)};
  }
  return found;
}

} // namespace paddock::cli
