// SPDX-License-Identifier: MIT
#pragma once

/// Globs as people and models write them, matched against paths.
///
/// `*` and `?` stand for characters of one name, `[a-z]` and `[!a-z]` for one character, `**` as a
/// whole component for any number of directories, `{a,b}` for either (nested if need be), and `\`
/// takes the next character as it is. A glob without a slash is about names, at any depth; one with
/// a slash is about the whole path, so that `./*.c` is about the top; one that ends in a slash is
/// about all that is in such directories. Case counts. What the words mean is what ripgrep and git
/// take them for.
///
/// The time of a match is at most the length of the glob times that of the path. Thread-safety: a
/// compiled glob is immutable.

#include <paddock/base/result.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/search/detail/path_pattern.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

/// A compiled glob.
class glob {
public:
  /// The longest glob, and how many patterns its braces may stand for.
  static constexpr std::size_t bytes_max = 4096, alternatives_max = 1000;

  /// Errors: invalid_argument (empty, an open bracket or brace, a backslash at the end, an unknown
  /// class, `..`), too_large, too_many (alternatives). `operation` names the fault.
  [[nodiscard]] static result<glob> compile(std::string_view text) {
    if (text.empty()) return fault(error_code::invalid_argument, "a glob must not be empty");
    if (text.size() > bytes_max) return fault(error_code::too_large, "a glob is too long");
    glob compiled;
    std::vector<std::string> pending{std::string(text)};
    while (!pending.empty()) {
      std::string next = std::move(pending.back());
      pending.pop_back();
      const braces found = find_braces(next);
      if (found.open != npos && found.close == npos)
        return fault(error_code::invalid_argument,
                     "a brace is never closed; \\{ is an ordinary one");
      if (found.open == npos) {
        if (has_parent(next))
          return fault(error_code::invalid_argument,
                       "a glob cannot lead out of the directory that is searched; write it without "
                       "..");
        if (!compiled.add(std::move(next)))
          return fault(error_code::invalid_argument,
                       "a bracket is never closed, a class is unknown or a backslash is last");
        continue;
      }
      for (std::size_t i = found.ends.size(); i-- > 0;) {
        const std::size_t begin = i == 0 ? found.open + 1 : found.ends[i - 1] + 1;
        pending.push_back(next.substr(0, found.open) + next.substr(begin, found.ends[i] - begin) +
                          next.substr(found.close + 1));
      }
      if (pending.size() + compiled.patterns_.size() > alternatives_max)
        return fault(error_code::too_many, "the braces of a glob stand for too many patterns");
    }
    return compiled;
  }

  /// Whether it stands for `path`: relative, without `.`, `..`, repeated or trailing slashes.
  [[nodiscard]] bool matches(std::string_view path) const noexcept {
    return matches(path, [](std::uint64_t) { return true; });
  }
  /// The same for who has no time for all patterns: `may_go_on(steps)` is asked before each, with
  /// what it may cost. After a false it stands for nothing.
  template <class MayGoOn>
  [[nodiscard]] bool matches(std::string_view path, MayGoOn&& may_go_on) const {
    std::string_view name; // once a pattern asks for it
    for (const pattern& each : patterns_) {
      if (each.of_name && name.empty()) {
        name = path;
        const auto* slash = static_cast<const char*>(::memrchr(path.data(), '/', path.size()));
        if (slash != nullptr) name.remove_prefix(static_cast<std::size_t>(slash + 1 - path.data()));
      }
      const std::string_view asked = each.of_name ? name : path;
      if (!may_go_on((each.compiled.size() + 1) * (asked.size() + 1))) return false;
      if (each.compiled.matches(asked)) return true;
    }
    return false;
  }

  /// How many patterns its braces stand for.
  [[nodiscard]] std::size_t alternatives() const noexcept { return patterns_.size(); }
  /// What it holds, about.
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    std::size_t bytes = patterns_.capacity() * sizeof(pattern);
    for (const pattern& each : patterns_)
      bytes += each.compiled.held_bytes();
    return bytes;
  }

private:
  static constexpr std::size_t npos = std::string_view::npos;
  struct pattern {
    detail::path_pattern compiled;
    bool of_name = false;
  };
  /// The first group of a glob, and where each of its alternatives ends.
  struct braces {
    std::size_t open = npos, close = npos;
    std::vector<std::size_t> ends{};
  };

  glob() = default;
  static error fault(error_code code, const char* what) noexcept { return {code, 0, what}; }

  static braces find_braces(std::string_view text) {
    braces found;
    std::size_t depth = 0;
    bool sets_end = true; // once one does not, none behind it does
    for (std::size_t at = 0; at < text.size();) {
      const char byte = text[at];
      if (byte == '[' && sets_end) {
        const auto behind = detail::path_pattern::behind_set(text, at + 1);
        sets_end = behind.has_value();
        at = behind.value_or(at + 1);
        continue;
      }
      if (byte == '{' && depth++ == 0) found.open = at;
      if (byte == ',' && depth == 1) found.ends.push_back(at);
      if (byte == '}' && depth > 0 && --depth == 0) {
        found.ends.push_back(at);
        found.close = at;
        break;
      }
      at += byte == '\\' ? 2 : 1;
    }
    return found;
  }

  static bool has_parent(std::string_view text) noexcept {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('/'), text.size());
      if (text.substr(0, end) == "..") return true;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
  }

  /// Without components that are `.`; of one that begins so, the rest behind a slash.
  static std::string without_dots(std::string_view text) {
    if (text.starts_with("./")) text.remove_prefix(1);
    std::string plain;
    while (!text.empty()) {
      if (text.starts_with("/./")) {
        text.remove_prefix(2);
        continue;
      }
      plain += text.front();
      text.remove_prefix(1);
    }
    return plain;
  }

  /// Adds a pattern without braces; false when it is malformed.
  bool add(std::string text) {
    text = without_dots(text);
    const bool contents = text.ends_with('/') && text.size() > 1;
    if (contents) text.pop_back();
    const bool of_name = text.find('/') == npos;
    if (text.starts_with('/')) text.erase(0, 1);
    if (contents) text = (of_name ? "**/" : "") + text + "/**";
    std::optional<detail::path_pattern> compiled =
        detail::path_pattern::compile(text, detail::pattern_unit::code_point);
    if (compiled) patterns_.push_back({std::move(*compiled), of_name && !contents});
    return compiled.has_value();
  }

  std::vector<pattern> patterns_;
};

/// How a glob that begins with the path of the root is to be written, since globs are matched
/// against relative paths. Nothing: it does not begin so, or the root is `/`, where it is right.
[[nodiscard]] inline std::optional<std::string> without_root(std::string_view text,
                                                             std::string_view root) {
  const auto inside = strip_root_prefix(text, root);
  if (!inside || root == "/") return std::nullopt;
  return std::string(inside->empty() ? "**" : *inside);
}

} // namespace paddock
