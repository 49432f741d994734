// SPDX-License-Identifier: MIT

// Types beside those of libmagic, for files of this machine: a few of each extension.

#include "precompiled/tests.hpp"

#include <paddock/mime/mime.hpp>

namespace paddock::mime {
namespace {

namespace fs = std::filesystem;

std::string prefix_of(const fs::path& path) {
  std::string bytes(sniff_bytes, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

/// The same directories in the same order give the same files.
std::vector<std::string> files_of_this_machine() {
  constexpr std::size_t of_each = 3, files_max = 1'500;
  std::map<std::string, std::vector<std::string>> by_extension;
  for (const char* const top : {"/usr/share", "/usr/lib"}) {
    std::error_code ended;
    using enum fs::directory_options;
    for (fs::recursive_directory_iterator at(top, skip_permission_denied, ended), end;
         !ended && at != end; at.increment(ended)) {
      std::error_code ignored;
      const std::string path = at->path();
      auto& same = by_extension[at->path().extension()];
      if (same.size() < of_each && at->is_regular_file(ignored) && !at->is_symlink(ignored) &&
          at->file_size(ignored) > 0 && path.find('\n') == std::string::npos)
        same.push_back(path);
    }
  }
  std::vector<std::string> files;
  for (const auto& [extension, paths] : by_extension)
    files.insert(files.end(), paths.begin(), paths.end());
  files.resize(std::min(files.size(), files_max));
  return files;
}

/// What `file` says of each; empty: it is not there.
std::vector<std::string> judged(const std::vector<std::string>& files) {
  const std::string list = testing::TempDir() + "mime_judge_files";
  std::ofstream out(list);
  for (const std::string& path : files)
    out << path << '\n';
  out.close();
  const std::string command =
      "file --brief --no-pad --mime-type --files-from " + list + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> said(::popen(command.c_str(), "re"), ::pclose);
  std::vector<std::string> types;
  std::string line;
  for (int c = 0; said && (c = std::fgetc(said.get())) != EOF;)
    if (c == '\n')
      types.push_back(std::exchange(line, {}));
    else
      line += static_cast<char>(c);
  fs::remove(list);
  return types;
}

/// Other names of one format, or of a container and what it holds: ours, and that of libmagic.
constexpr std::pair<std::string_view, std::string_view> same_types[] = {
    {"application/java-archive", "application/zip"},
    {"application/java-vm", "application/x-java-applet"},
    {"application/postscript", "text/plain"},
    {"application/vnd.adobe.illustrator", "application/pdf"},
    {"application/x-elf", "application/x-executable"},
    {"application/x-elf", "application/x-object"},
    {"application/x-elf", "application/x-pie-executable"},
    {"application/x-elf", "application/x-sharedlib"},
    {"application/x-jmod", "application/x-java-jmod"},
    {"application/x-python-code", "application/x-bytecode.python"},
    {"font/collection", "font/ttf"},
    {"font/ttf", "font/sfnt"},
};
/// Which are text by their bytes, whatever libmagic calls them.
constexpr std::string_view texts[] = {"application/javascript", "application/pgp-keys",
                                      "application/x-wine-extension-ini"};

/// Whether one of them must be wrong. Which text it is libmagic guesses by its words, so that does
/// not count; nor does what one of them does not know.
bool contradict(const classification& ours, std::string_view theirs) {
  constexpr std::string_view unknown = "application/octet-stream";
  if (ours.type == unknown || theirs == unknown || ours.type == theirs ||
      std::ranges::find(same_types, std::pair(ours.type, theirs)) != std::end(same_types))
    return false;
  const bool is_text = theirs.starts_with("text/") || is_textual(theirs) ||
                       std::ranges::find(texts, theirs) != std::end(texts);
  return !is_text || ours.by_content.encoding == text_encoding::none;
}

TEST(MimeJudge, LibmagicAgrees) {
  const auto files = files_of_this_machine();
  const auto types = judged(files);
  if (types.empty()) GTEST_SKIP() << "the program file is not installed";
  ASSERT_EQ(files.size(), types.size());
  std::vector<std::string> contradictions;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto ours = classify(files[i], prefix_of(files[i]));
    if (contradict(ours, types[i]))
      contradictions.push_back(files[i] + ": " + std::string(ours.type) + ", not " + types[i]);
  }
  // Another machine has other files, and another libmagic.
  EXPECT_LE(contradictions.size(), files.size() / 100) << testing::PrintToString(contradictions);
}

} // namespace
} // namespace paddock::mime
