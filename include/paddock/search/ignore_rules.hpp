// SPDX-License-Identifier: MIT
#pragma once

/// The rules of ignore files: what `.gitignore`, `.git/info/exclude` and `.ignore` say of a path.
///
/// The meaning is git's (gitignore(5), dir.c and wildmatch.c of git 2.39), to the byte: the last
/// rule that fits decides, `!` takes back, `/` at the end means directories only, a slash anywhere
/// else ties a rule to the directory of its file. These are values: text in, verdicts out; nothing
/// is read from a disk. `ignore_rules` are the rules of one file; `ignore_tree` knows which file
/// goes before which, and that what is in an ignored directory cannot be taken back.
///
/// Not covered: `core.ignoreCase`, and files outside the tree (`core.excludesFile`). A rule costs
/// at most its length times that of the path; a million of them are asked one by one, except plain
/// names and `*.extension`, which are looked up. Thread-safety: const members may be called from
/// any number of threads at once.

#include <paddock/base/file_status.hpp>
#include <paddock/search/detail/ignore_lookup.hpp>
#include <paddock/search/detail/path_pattern.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

enum class ignore_verdict : std::uint8_t {
  unmatched, ///< no rule is about this path
  ignored,
  included, ///< a rule with `!` takes it back
};

/// One line of an ignore file.
struct ignore_rule {
  std::string text;              ///< as written, without the line's end and trailing blanks
  std::uint32_t line_number = 0; ///< from 1
  bool negated = false;
  bool directories_only = false;
};

/// What was decided, and by which rule (null when unmatched; valid as long as the rules).
struct ignore_match {
  ignore_verdict verdict = ignore_verdict::unmatched;
  const ignore_rule* rule = nullptr;
};

/// The rules of one file.
class ignore_rules {
public:
  ignore_rules() = default;
  /// Takes the content of an ignore file: lines of bytes, a byte order mark allowed.
  explicit ignore_rules(std::string_view text);

  /// What the rules say of `path`. It is relative to the directory of their file, in normal form.
  /// Rules about the directories above it are not asked (see ignore_tree).
  [[nodiscard]] ignore_match match(std::string_view path, entry_kind kind) const noexcept {
    return match(path, kind, [](std::uint64_t) { return true; });
  }
  /// The same for who has no time for all rules: `may_go_on(steps)` is asked before each of those
  /// that are asked one by one, with what it may cost. After a false there is no verdict.
  template <class MayGoOn>
  [[nodiscard]] ignore_match match(std::string_view path, entry_kind kind,
                                   MayGoOn&& may_go_on) const;

  /// In the order of their lines.
  [[nodiscard]] std::span<const ignore_rule> rules() const noexcept { return rules_; }
  /// Whether there is none.
  [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }
  /// What the rules hold, about.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// What the rules of a text hold at most while they are made.
  [[nodiscard]] static std::size_t held_bytes_max(std::string_view text) noexcept {
    constexpr std::size_t per_byte = 64; // a token of a pattern, with the room of its vector
    return count(text) *
               (sizeof(ignore_rule) + sizeof(matcher) + 3 * sizeof(detail::named_ignore_rule)) +
           text.size() * per_byte;
  }

private:
  /// What a rule asks of a path, as git prepares it.
  struct matcher {
    std::string literal;                           ///< what the path has to begin with
    std::optional<detail::path_pattern> wildcards; ///< what the rest has to match, if anything
    bool of_name = false;                          ///< about the last component alone
    bool never = false;                            ///< malformed
  };
  using named_rules = detail::named_ignore_rules;
  using asked = detail::asked_ignore_rule;
  static constexpr std::uint32_t no_rule = 0xFFFF'FFFF;

  static std::size_t count(std::string_view text) noexcept; ///< lines that may be rules
  void add(std::string_view line, std::uint32_t number);
  [[nodiscard]] bool fits(std::uint32_t rule, std::string_view path,
                          std::string_view name) const noexcept;
  [[nodiscard]] std::uint32_t last_named(const named_rules& in, std::string_view key,
                                         entry_kind kind) const noexcept;

  std::vector<ignore_rule> rules_;
  std::vector<matcher> matchers_; ///< one for each rule
  named_rules names_;             ///< rules like `target`
  named_rules extensions_;        ///< rules like `*.o`
  std::vector<asked> other_;      ///< the rest, in order
};

inline ignore_rules::ignore_rules(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  rules_.reserve(count(text));
  matchers_.reserve(rules_.capacity());
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = detail::without_trailing_blanks(line.substr(0, line.find('\0')));
    if (!line.empty()) add(line, number);
  }
  std::sort(names_.all.begin(), names_.all.end());
  std::sort(extensions_.all.begin(), extensions_.all.end());
}

inline std::size_t ignore_rules::count(std::string_view text) noexcept {
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') continue;
    if (text[at] != '#') ++lines;
    at = std::min(text.find('\n', at), text.size());
  }
  return lines;
}

inline std::size_t ignore_rules::held_bytes() const noexcept {
  std::size_t bytes =
      rules_.capacity() * sizeof(ignore_rule) + matchers_.capacity() * sizeof(matcher) +
      (names_.all.capacity() + extensions_.all.capacity()) * sizeof(detail::named_ignore_rule) +
      other_.capacity() * sizeof(asked);
  for (const ignore_rule& each : rules_)
    bytes += each.text.capacity();
  for (const matcher& each : matchers_)
    bytes += each.literal.capacity() + (each.wildcards ? each.wildcards->held_bytes() : 0);
  for (const named_rules* named : {&names_, &extensions_})
    for (const detail::named_ignore_rule& each : named->all)
      bytes += each.key.capacity();
  return bytes;
}

inline void ignore_rules::add(std::string_view line, std::uint32_t number) {
  const auto index = static_cast<std::uint32_t>(rules_.size());
  ignore_rule rule{.text = std::string(line), .line_number = number};
  std::string_view pattern = line;
  if ((rule.negated = pattern.starts_with('!'))) pattern.remove_prefix(1);
  if ((rule.directories_only = pattern.ends_with('/'))) pattern.remove_suffix(1);
  matcher prepared;
  prepared.of_name = pattern.find('/') == std::string_view::npos;
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  const std::size_t plain = std::min(pattern.find_first_of(detail::glob_specials), pattern.size());
  const std::string_view tail = pattern.substr(std::min<std::size_t>(1, pattern.size()));
  const bool ends_with = pattern.starts_with('*') && // git: any name that ends in the rest
                         tail.find_first_of(detail::glob_specials) == std::string_view::npos;
  if (prepared.of_name && plain == pattern.size()) {
    names_.add(pattern, index);
  } else if (prepared.of_name && ends_with && tail.starts_with('.') && tail.rfind('.') == 0) {
    extensions_.add(tail, index);
  } else {
    // git compares what has no wildcard first, and lets the others match what is left: `a**/b`
    // begins with `**` then. A rule about names is matched as a whole.
    const std::size_t split = prepared.of_name ? 0 : plain;
    prepared.literal = pattern.substr(0, split);
    if (split < pattern.size() || prepared.of_name) {
      prepared.wildcards =
          detail::path_pattern::compile(pattern.substr(split), detail::pattern_unit::byte);
      prepared.never = !prepared.wildcards;
    }
    const auto plain_byte = [](char c, std::string_view special) {
      return special.find(c) == std::string_view::npos ? c : '\0';
    };
    if (pattern.empty())
      other_.push_back({index});
    else // `**/` at the end may be nothing
      other_.push_back({index, plain_byte(pattern.front(), detail::glob_specials),
                        plain_byte(pattern.back(), "*?[]\\/")});
  }
  rules_.push_back(std::move(rule));
  matchers_.push_back(std::move(prepared));
}

inline bool ignore_rules::fits(std::uint32_t rule, std::string_view path,
                               std::string_view name) const noexcept {
  const matcher& of = matchers_[rule];
  if (of.never) return false;
  if (of.of_name) return of.wildcards->matches(name);
  if (!path.starts_with(of.literal)) return false;
  path.remove_prefix(of.literal.size());
  return of.wildcards ? of.wildcards->matches(path) : path.empty();
}

inline std::uint32_t ignore_rules::last_named(const named_rules& in, std::string_view key,
                                              entry_kind kind) const noexcept {
  if (!in.may_have(key)) return no_rule;
  auto end = std::upper_bound(
      in.all.begin(), in.all.end(), key,
      [](std::string_view a, const detail::named_ignore_rule& b) { return a < b.key; });
  while (end != in.all.begin() && (--end)->key == key)
    if (kind == entry_kind::directory || !rules_[end->rule].directories_only) return end->rule;
  return no_rule;
}

template <class MayGoOn>
ignore_match ignore_rules::match(std::string_view path, entry_kind kind,
                                 MayGoOn&& may_go_on) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  std::uint32_t last = no_rule;
  const auto later = [&last](std::uint32_t rule) {
    if (rule != no_rule && (last == no_rule || rule > last)) last = rule;
  };
  later(last_named(names_, name, kind));
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos)
    later(last_named(extensions_, name.substr(dot), kind));
  const char first = path.empty() ? '\0' : path.front(), end = path.empty() ? '\0' : path.back();
  const char name_first = name.empty() ? '\0' : name.front();
  constexpr std::size_t passed_at_once = 4096;
  for (std::size_t i = other_.size(); i-- > 0 && (last == no_rule || other_[i].rule > last);) {
    if (!other_[i].may_fit(first, name_first, end)) {
      if (i % passed_at_once == 0 && !may_go_on(passed_at_once)) return {};
      continue;
    }
    const std::uint32_t rule = other_[i].rule;
    if (!may_go_on(rules_[rule].text.size() * path.size())) return {};
    if (rules_[rule].directories_only && kind != entry_kind::directory) continue;
    if (fits(rule, path, name)) last = rule;
  }
  if (last == no_rule) return {};
  const ignore_rule& rule = rules_[last];
  return {rule.negated ? ignore_verdict::included : ignore_verdict::ignored, &rule};
}

} // namespace paddock
