// SPDX-License-Identifier: MIT

// A glob and a path, with a NUL between: what our matcher says is what a slow one says that tries
// everything.

#include "slow_pattern.hpp"

#include <paddock/search/glob.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace paddock;
using test::path_of;
using test::slow_pattern;

void require(bool condition) {
  if (!condition) std::abort();
}

/// The outermost group of braces that comes first: where it opens, parts and closes.
struct group {
  std::vector<std::size_t> marks{};
  bool closed = false;
};

group first_group(const std::string& glob) {
  const std::vector<std::uint32_t> bytes = test::units_of(glob, false);
  group found;
  int depth = 0;
  bool sets_end = true; // a bracket that is never closed makes those behind it ordinary
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] == '\\') {
      ++at;
    } else if (bytes[at] == '[' && sets_end) {
      const auto behind = slow_pattern::behind_set(bytes, at + 1);
      sets_end = behind.has_value();
      at = behind.value_or(at + 1) - 1;
    } else if (bytes[at] == '{') {
      if (depth++ == 0) found.marks.push_back(at);
    } else if (bytes[at] == ',' && depth == 1) {
      found.marks.push_back(at);
    } else if (bytes[at] == '}' && depth > 0 && --depth == 0) {
      found.marks.push_back(at);
      found.closed = true;
      break;
    }
  }
  return found;
}

bool matches_without_braces(std::string glob, const std::string& path, bool& malformed) {
  if (('/' + glob + '/').find("/../") != std::string::npos) {
    malformed = true;
    return false;
  }
  if (glob.starts_with("./")) glob = glob.substr(1); // the top alone
  for (auto at = glob.find("/./"); at != std::string::npos; at = glob.find("/./"))
    glob.erase(at, 2);
  const bool contents = glob.size() > 1 && glob.ends_with('/');
  if (contents) glob.pop_back();
  const bool of_name = glob.find('/') == std::string::npos;
  if (glob.starts_with('/')) glob = glob.substr(1);
  if (contents) glob = (of_name ? "**/" : "") + glob + "/**";
  const auto slow = slow_pattern::compile(glob, true);
  malformed = malformed || !slow;
  const bool name_alone = of_name && !contents;
  return slow && slow->matches(name_alone ? path.substr(path.rfind('/') + 1) : path);
}

/// Whether any of what the braces stand for matches.
bool matches_slowly(const std::string& glob, const std::string& path, bool& malformed,
                    int& patterns) {
  const group found = first_group(glob);
  if (found.marks.empty()) {
    ++patterns;
    return matches_without_braces(glob, path, malformed);
  }
  if (!found.closed) {
    malformed = true;
    return false;
  }
  bool any = false;
  for (std::size_t i = 0; i + 1 < found.marks.size() && patterns < 1000; ++i) {
    const std::size_t begin = found.marks[i] + 1;
    any |= matches_slowly(glob.substr(0, found.marks.front()) +
                              glob.substr(begin, found.marks[i + 1] - begin) +
                              glob.substr(found.marks.back() + 1),
                          path, malformed, patterns);
  }
  return any;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t compared_max = 96; // the slow one takes its time
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string text(all.substr(0, all.find('\0')));
  const std::string path = path_of(all.substr(std::min(text.size() + 1, all.size())));
  const auto compiled = glob::compile(text);
  if (!compiled) require(compiled.error().operation != nullptr);
  if (path.empty() || path.size() > compared_max || text.size() > compared_max) {
    if (compiled) static_cast<void>(compiled->matches(path));
    return 0;
  }
  bool malformed = text.empty();
  int patterns = 0;
  const bool expected = matches_slowly(text, path, malformed, patterns);
  if (patterns >= 100) return 0; // too many for one of us
  require(compiled.has_value() == !malformed);
  if (!compiled) return 0;
  require(compiled->alternatives() == static_cast<std::size_t>(patterns));
  require(compiled->matches(path) == expected);
  bool asked = false;
  require(!compiled->matches(path, [&](std::uint64_t steps) {
    asked = steps > 0;
    return false;
  }));
  require(asked);
  return 0;
}
