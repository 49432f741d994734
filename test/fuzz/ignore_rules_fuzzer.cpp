// SPDX-License-Identifier: MIT

// An ignore file and a path, with a NUL between; a slash at the end makes it a directory. The
// verdict is that of a slow reading of gitignore(5), and neither the kind of line ends, a byte
// order mark nor lines without a rule change it.

#include "slow_pattern.hpp"

#include <paddock/search/ignore_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace paddock;
using test::path_of;
using test::slow_pattern;

void require(bool condition) {
  if (!condition) std::abort();
}

/// With another kind of line ends; the carriage returns before each are part of it.
std::string with_ends(const std::string& text, const char* end) {
  std::string made;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    std::string line = text.substr(begin, newline - begin);
    while (line.ends_with('\r'))
      line.pop_back();
    made += line;
    if (newline == std::string::npos) break;
    made += end;
    begin = newline + 1;
  }
  return made;
}

struct judged {
  ignore_verdict verdict = ignore_verdict::unmatched;
  std::uint32_t line = 0;

  friend bool operator==(const judged&, const judged&) = default;
};

judged judge(const std::string& text, const std::string& path, entry_kind kind) {
  const ignore_rules rules(text);
  const ignore_match found = rules.match(path, kind);
  require((found.rule == nullptr) == (found.verdict == ignore_verdict::unmatched));
  return {found.verdict, found.rule == nullptr ? 0 : found.rule->line_number};
}

/// Without the blanks at the end that have no backslash before them.
std::string without_blanks(std::string line) {
  while (line.ends_with(' ')) {
    const std::size_t rest = line.find_last_not_of(' ');
    std::size_t backslashes = 0;
    while (rest != std::string::npos && backslashes <= rest && line[rest - backslashes] == '\\')
      ++backslashes;
    if (backslashes % 2 == 1 && line.size() == rest + 2) break;
    line.pop_back();
  }
  return line;
}

/// Whether one line of the file fits the path. git compares what has no wildcard first, and takes
/// the rest as a pattern of its own.
bool fits_slowly(std::string pattern, const std::string& path, entry_kind kind) {
  if (pattern.starts_with('!')) pattern = pattern.substr(1);
  if (pattern.ends_with('/')) {
    if (kind != entry_kind::directory) return false;
    pattern.pop_back();
  }
  const bool of_name = pattern.find('/') == std::string::npos;
  if (pattern.starts_with('/')) pattern = pattern.substr(1);
  const std::string subject = of_name ? path.substr(path.rfind('/') + 1) : path;
  const std::size_t plain = std::min(pattern.find_first_of("*?[\\"), pattern.size());
  if (plain == pattern.size()) return subject == pattern;
  const bool one_star = pattern.find_first_of("*?[\\", 1) == std::string::npos;
  if (of_name && one_star && pattern.front() == '*') return subject.ends_with(pattern.substr(1));
  const std::size_t split = of_name ? 0 : plain;
  if (subject.substr(0, split) != pattern.substr(0, split)) return false;
  const auto slow = slow_pattern::compile(pattern.substr(split), false);
  return slow && slow->matches(subject.substr(split));
}

judged judge_slowly(const std::string& text, const std::string& path, entry_kind kind) {
  judged last;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, newline - begin);
    begin = newline + 1;
    ++number;
    if (line.starts_with('#')) continue;
    if (line.ends_with('\r')) line.pop_back();
    line = without_blanks(line);
    if (line.empty() || !fits_slowly(line, path, kind)) continue;
    last = {line.starts_with('!') ? ignore_verdict::included : ignore_verdict::ignored, number};
  }
  return last;
}

/// A directory that is ignored takes all in it along.
judged judge_tree_slowly(const std::string& text, const std::string& path, entry_kind kind) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const judged above = judge_slowly(text, path.substr(0, slash), entry_kind::directory);
    if (above.verdict == ignore_verdict::ignored) return above;
  }
  return judge_slowly(text, path, kind);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t compared_max = 256; // the slow one takes its time
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string text(all.substr(0, all.find('\0')));
  const std::string_view asked = all.substr(std::min(text.size() + 1, all.size()));
  const std::string path = path_of(asked);
  const entry_kind kind = asked.ends_with('/') ? entry_kind::directory : entry_kind::file;
  if (path.empty()) return 0;
  const judged found = judge(text, path, kind);
  if (text.size() > compared_max || path.size() > compared_max) return 0;
  const bool marked = text.starts_with("\xEF\xBB\xBF");
  const std::string plain = marked ? text.substr(3) : text;
  require(found == judge_slowly(plain, path, kind));

  const std::string unix_ends = with_ends(plain, "\n");
  require(judge(unix_ends, path, kind) == judge(with_ends(plain, "\r\n"), path, kind));
  require(judge("\xEF\xBB\xBF" + plain, path, kind) == found || plain.starts_with("\xEF\xBB\xBF"));
  require(judge(plain + "\n#*\n\r\n  \n", path, kind) == found);

  ignore_tree tree;
  tree.add("", ignore_source::gitignore, text);
  const ignore_decision decided = tree.match(path, kind);
  const judged in_tree{decided.verdict, decided.rule == nullptr ? 0 : decided.rule->line_number};
  require(in_tree == judge_tree_slowly(plain, path, kind));
  if (decided.rule != nullptr) require(decided.file() == ".gitignore");
  return 0;
}
