// SPDX-License-Identifier: MIT
#pragma once

// The patterns of file names once more, written to be obviously right: a list of tokens over the
// whole path, and a recursion that tries everything. It shares no code with the matcher it judges.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// A text as units: bytes, or code points where a byte that is no UTF-8 is a unit of its own.
inline std::vector<std::uint32_t> units_of(std::string_view text, bool code_points) {
  std::vector<std::uint32_t> units;
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t lead = byte(at);
    const std::size_t size = lead < 0xC2   ? 1
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 1;
    std::uint32_t value = size == 1 ? lead : lead & (0x7Fu >> size);
    bool whole = size > 1 && at + size <= text.size();
    for (std::size_t i = 1; i < size; ++i) {
      whole = whole && (byte(at + i) & 0xC0) == 0x80;
      value = value << 6 | (byte(at + i) & 0x3F);
    }
    const bool shortest = size < 3 || value >= (size == 3 ? 0x800u : 0x10000u);
    const bool scalar = value < 0x110000 && (value < 0xD800 || value >= 0xE000);
    if (code_points && whole && shortest && scalar) {
      units.push_back(value);
      at += size;
    } else {
      units.push_back(lead < 0x80 || !code_points ? lead : 0x110000 + lead);
      ++at;
    }
  }
  return units;
}

/// A path in normal form, of whatever the text has.
inline std::string path_of(std::string_view text) {
  std::string path;
  while (!text.empty()) {
    const std::size_t slash = text.find('/');
    const std::string_view part = text.substr(0, slash);
    if (!part.empty() && part != "." && part != "..")
      path.append(path.empty() ? "" : "/").append(part);
    text = slash == std::string_view::npos ? "" : text.substr(slash + 1);
  }
  return path;
}

class slow_pattern {
public:
  /// Nothing where it is malformed.
  static std::optional<slow_pattern> compile(std::string_view text, bool code_points) {
    slow_pattern made(code_points);
    const auto pattern = units_of(text, code_points);
    for (std::size_t at = 0; at < pattern.size();)
      if (!made.read(pattern, at)) return std::nullopt;
    return made;
  }

  [[nodiscard]] bool matches(std::string_view path) const {
    std::set<std::pair<std::size_t, std::size_t>> tried;
    return fits(0, units_of(path, code_points_), 0, tried);
  }

  /// Behind the set whose bracket is before `at`; nothing where it is none.
  static std::optional<std::size_t> behind_set(const std::vector<std::uint32_t>& pattern,
                                               std::size_t at) {
    slow_pattern scratch(true);
    return scratch.read_set(pattern, at) ? std::optional(at) : std::nullopt;
  }

private:
  using units = std::vector<std::uint32_t>;
  enum class kind : std::uint8_t { unit, any, set, star, directories, all_below };
  struct token {
    kind is = kind::unit;
    std::uint32_t unit = 0;
    bool negated = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> members{};
  };

  explicit slow_pattern(bool code_points) : code_points_(code_points) {}

  static std::uint32_t at_or_0(const units& pattern, std::size_t at) {
    return at < pattern.size() ? pattern[at] : 0;
  }

  bool read(const units& pattern, std::size_t& at) {
    const std::uint32_t unit = pattern[at++];
    if (unit == '*') return read_stars(pattern, at);
    if (unit == '[') return read_set(pattern, at);
    if (unit == '\\' && at == pattern.size()) return false;
    tokens_.push_back(
        {.is = unit == '?' ? kind::any : kind::unit, .unit = unit == '\\' ? pattern[at++] : unit});
    return true;
  }

  bool read_stars(const units& pattern, std::size_t& at) {
    const std::size_t begin = at - 1;
    while (at_or_0(pattern, at) == '*')
      ++at;
    const bool starts = begin == 0 || pattern[begin - 1] == '/';
    const bool escaped = at_or_0(pattern, at) == '\\' && at_or_0(pattern, at + 1) == '/';
    const bool ends = at == pattern.size() || pattern[at] == '/' || escaped;
    if (at - begin == 1 || !starts || !ends) {
      tokens_.push_back({.is = kind::star});
    } else if (at == pattern.size()) {
      tokens_.push_back({.is = kind::all_below});
    } else {
      if (escaped) { // git: one component at least
        tokens_.push_back({.is = kind::star});
        tokens_.push_back({.unit = '/'});
      }
      tokens_.push_back({.is = kind::directories});
      at += escaped ? 2 : 1;
    }
    return true;
  }

  bool read_set(const units& pattern, std::size_t& at) {
    token set{.is = kind::set};
    if (at_or_0(pattern, at) == '!' || at_or_0(pattern, at) == '^') {
      set.negated = true;
      ++at;
    }
    bool first = true;
    std::optional<std::uint32_t> low; // of a range that may begin
    for (; at < pattern.size() && (pattern[at] != ']' || first); first = false) {
      if (pattern[at] == '-' && low && at + 1 < pattern.size() && pattern[at + 1] != ']') {
        ++at;
        if (pattern[at] == '\\') ++at;
        if (at >= pattern.size()) return false;
        set.members.emplace_back(*low, pattern[at++]);
        low.reset();
        continue;
      }
      if (const std::size_t end = class_end(pattern, at); end != 0) {
        if (!add_class(std::string(pattern.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                                   pattern.begin() + static_cast<std::ptrdiff_t>(end) - 1),
                       set))
          return false;
        at = end + 1;
        low.reset();
        continue;
      }
      if (pattern[at] == '\\') ++at;
      if (at >= pattern.size()) return false;
      low = pattern[at++];
      set.members.emplace_back(*low, *low);
    }
    if (at >= pattern.size()) return false;
    ++at;
    tokens_.push_back(std::move(set));
    return true;
  }

  /// Where the bracket of `[:name:]` is that begins at `at`; 0: none begins.
  static std::size_t class_end(const units& pattern, std::size_t at) {
    if (pattern[at] != '[' || at_or_0(pattern, at + 1) != ':') return 0;
    std::size_t end = at + 2;
    while (end < pattern.size() && pattern[end] != ']')
      ++end;
    return end < pattern.size() && end > at + 2 && pattern[end - 1] == ':' ? end : 0;
  }

  static bool add_class(const std::string& name, token& set) {
    const auto add = [&](auto&& is) {
      for (std::uint32_t c = 0; c < 0x80; ++c)
        if (is(c)) set.members.emplace_back(c, c);
      return true;
    };
    const auto in = [](std::uint32_t c, char low, char high) {
      return c >= static_cast<unsigned char>(low) && c <= static_cast<unsigned char>(high);
    };
    const auto letter = [&](std::uint32_t c) { return in(c, 'a', 'z') || in(c, 'A', 'Z'); };
    const auto digit = [&](std::uint32_t c) { return in(c, '0', '9'); };
    const auto graphic = [&](std::uint32_t c) { return in(c, '!', '~'); };
    if (name == "alpha") return add(letter);
    if (name == "digit") return add(digit);
    if (name == "alnum") return add([&](std::uint32_t c) { return letter(c) || digit(c); });
    if (name == "graph") return add(graphic);
    if (name == "print") return add([&](std::uint32_t c) { return graphic(c) || c == ' '; });
    if (name == "punct")
      return add([&](std::uint32_t c) { return graphic(c) && !letter(c) && !digit(c); });
    if (name == "lower") return add([&](std::uint32_t c) { return in(c, 'a', 'z'); });
    if (name == "upper") return add([&](std::uint32_t c) { return in(c, 'A', 'Z'); });
    if (name == "blank") return add([](std::uint32_t c) { return c == ' ' || c == '\t'; });
    if (name == "space") return add([&](std::uint32_t c) { return c == ' ' || in(c, '\t', '\r'); });
    if (name == "cntrl") return add([](std::uint32_t c) { return c < 0x20 || c == 0x7F; });
    if (name == "xdigit")
      return add([&](std::uint32_t c) { return digit(c) || in(c, 'a', 'f') || in(c, 'A', 'F'); });
    return false;
  }

  static bool has(const token& set, std::uint32_t unit) {
    bool member = false;
    for (const auto& [low, high] : set.members)
      member = member || (low <= unit && unit <= high);
    return member != set.negated;
  }

  /// Whether the tokens from `next` on fit what is left of the path. What was tried has failed.
  bool fits(std::size_t next, const units& path, std::size_t at,
            std::set<std::pair<std::size_t, std::size_t>>& tried) const {
    if (next == tokens_.size()) return at == path.size();
    if (!tried.emplace(next, at).second) return false;
    const token& of = tokens_[next];
    const bool more = at < path.size();
    switch (of.is) {
    case kind::unit:
      return more && path[at] == of.unit && fits(next + 1, path, at + 1, tried);
    case kind::any:
      return more && path[at] != '/' && fits(next + 1, path, at + 1, tried);
    case kind::set:
      return more && path[at] != '/' && has(of, path[at]) && fits(next + 1, path, at + 1, tried);
    case kind::star:
      return fits(next + 1, path, at, tried) ||
             (more && path[at] != '/' && fits(next, path, at + 1, tried));
    case kind::all_below:
      return true;
    case kind::directories: // nothing, or whole components, each with its slash
      if (fits(next + 1, path, at, tried)) return true;
      for (std::size_t i = at; i < path.size(); ++i)
        if (path[i] == '/' && fits(next + 1, path, i + 1, tried)) return true;
      return false;
    }
    return false;
  }

  bool code_points_;
  std::vector<token> tokens_;
};

} // namespace paddock::test
