// SPDX-License-Identifier: MIT
#pragma once

/// The matcher beneath globs and ignore rules: patterns of file names as git's wildmatch has them
/// (`*`, `?`, `[a-z]`, `[!x]`, `[[:alpha:]]`, `\x`, and `**` as a whole component).
///
/// A pattern is cut into components, each matched by itself. Only the last `*` of a component, and
/// only the last `**` of a path, is ever tried again, which is enough because the part before it
/// was matched as far to the left as possible. So the time is at most the length of the pattern
/// times that of the path, whatever both contain.
///
/// Thread-safety: a compiled pattern is immutable.

#include <paddock/base/detail/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::detail {

/// What `?` and `[…]` stand for. git takes bytes; people mean characters.
enum class pattern_unit : std::uint8_t { byte, code_point };

/// One unit of a text. A byte that is no UTF-8 counts as a code point of its own, above Unicode.
struct text_unit {
  std::uint32_t value = 0;
  std::size_t size = 0;
};

/// Precondition: `text` is not empty.
[[nodiscard]] inline text_unit first_unit(std::string_view text, pattern_unit unit) noexcept {
  const std::uint32_t byte = static_cast<unsigned char>(text[0]);
  if (unit == pattern_unit::byte || byte < 0x80) return {byte, 1};
  const utf8_sequence sequence = first_sequence(text);
  if (sequence.state != utf8_state::complete) return {0x110000 + byte, 1};
  return {code_point(text.substr(0, sequence.size)), sequence.size};
}

/// A pattern that was compiled.
class path_pattern {
public:
  /// Nothing where the pattern is malformed: an open bracket, a backslash at the end, an unknown
  /// class. git's rules take such a pattern as one that never matches.
  [[nodiscard]] static std::optional<path_pattern> compile(std::string_view text,
                                                           pattern_unit unit) {
    path_pattern pattern(unit);
    if (!pattern.parse(text)) return std::nullopt;
    return pattern;
  }

  /// Behind the `[…]` whose bracket is before `at`; nothing where it is malformed.
  [[nodiscard]] static std::optional<std::size_t> behind_set(std::string_view text,
                                                             std::size_t at) {
    path_pattern scratch(pattern_unit::byte);
    return scratch.parse_set(text, at) ? std::optional(at) : std::nullopt;
  }

  /// About the bytes of its text: a match takes at most so many steps for each byte of a path.
  [[nodiscard]] std::size_t size() const noexcept {
    return bytes_.size() + ranges_.size() + tokens_.size() + components_.size();
  }
  /// What it holds beside itself.
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return bytes_.capacity() + ranges_.capacity() * sizeof(range) +
           tokens_.capacity() * sizeof(token) + components_.capacity() * sizeof(component);
  }

  /// Whether the whole of `path` matches. `/` is matched by itself and by `**` only.
  [[nodiscard]] bool matches(std::string_view path) const noexcept {
    constexpr std::size_t none = std::string_view::npos;
    std::size_t index = 0, at = 0;             // `at`: none when the path is used up
    std::size_t again = none, again_at = none; // behind the last `**`, and what it was tried on
    while (true) {
      if (index == components_.size() && at == none) return true;
      if (index < components_.size() && components_[index].crosses) {
        if (++index == components_.size()) return at != none;
        again = index;
        again_at = at;
        continue;
      }
      if (index < components_.size() && at != none) {
        const std::size_t slash = path.find('/', at);
        if (matches_component(components_[index], path.substr(at, slash - at))) {
          at = slash == none ? none : slash + 1;
          ++index;
          continue;
        }
      }
      if (again_at == none || at == none) return false; // a later try has less of the path left
      const std::size_t slash = path.find('/', again_at);
      if (slash == none) return false;
      at = again_at = slash + 1;
      index = again;
    }
  }

private:
  enum class token_kind : std::uint8_t { literal, any, set, star };
  struct token {
    token_kind kind = token_kind::literal;
    bool negated = false;    ///< of a set
    std::uint32_t begin = 0; ///< into bytes_ or ranges_
    std::uint32_t size = 0;
  };
  struct component {
    std::uint32_t begin = 0; ///< into tokens_
    std::uint32_t end = 0;
    bool crosses = false; ///< `**`: any number of components; at the end one at least
  };
  using range = std::pair<std::uint32_t, std::uint32_t>; // both inclusive

  explicit path_pattern(pattern_unit unit) : unit_(unit) {}

  // --- parsing ---------------------------------------------------------------------------------

  bool parse(std::string_view text) {
    std::size_t at = 0;
    open_component();
    while (at < text.size()) {
      if (text[at] == '*') {
        if (!parse_stars(text, at)) return false;
      } else if (text[at] == '?') {
        tokens_.push_back({.kind = token_kind::any});
        ++at;
      } else if (text[at] == '[') {
        if (!parse_set(text, ++at)) return false;
      } else {
        if (text[at] == '\\' && ++at == text.size()) return false;
        add_literal(text[at++]);
      }
    }
    close_component();
    return true;
  }

  void open_component() {
    const auto next = static_cast<std::uint32_t>(tokens_.size());
    components_.push_back({.begin = next, .end = next});
  }
  void close_component() { components_.back().end = static_cast<std::uint32_t>(tokens_.size()); }

  void add_literal(char byte) {
    if (byte == '/') {
      close_component();
      open_component();
      return;
    }
    const bool joins =
        tokens_.size() > components_.back().begin && tokens_.back().kind == token_kind::literal;
    if (!joins) tokens_.push_back({.begin = static_cast<std::uint32_t>(bytes_.size())});
    bytes_ += byte;
    ++tokens_.back().size;
  }

  bool parse_stars(std::string_view text, std::size_t& at) {
    const std::size_t begin = at;
    at = text.find_first_not_of('*', at);
    if (at == std::string_view::npos) at = text.size();
    const std::string_view rest = text.substr(at);
    const bool bounded = (begin == 0 || text[begin - 1] == '/') &&
                         (rest.empty() || rest.starts_with('/') || rest.starts_with("\\/"));
    if (at - begin == 1 || !bounded) {
      tokens_.push_back({.kind = token_kind::star});
      return true;
    }
    // Before an escaped slash git lets `**` stand for one component at least.
    if (rest.starts_with('\\')) {
      tokens_.push_back({.kind = token_kind::star});
      close_component();
      open_component();
    }
    components_.back().crosses = true;
    if (rest.empty()) return true;
    at += rest.find('/') + 1;
    close_component();
    open_component();
    return true;
  }

  /// `at` is behind the bracket. A `]` or `-` that comes first is an ordinary character.
  bool parse_set(std::string_view text, std::size_t& at) {
    token set{.kind = token_kind::set, .begin = static_cast<std::uint32_t>(ranges_.size())};
    if (at < text.size() && (text[at] == '!' || text[at] == '^')) {
      set.negated = true;
      ++at;
    }
    // What a range may begin with; no optional, which gcc 12 takes for not initialised at -O3.
    constexpr std::uint32_t nothing = UINT32_MAX;
    std::uint32_t before = nothing;
    for (bool first = true; first || at >= text.size() || text[at] != ']'; first = false) {
      if (at >= text.size()) return false;
      if (text[at] == '-' && before != nothing && at + 1 < text.size() && text[at + 1] != ']') {
        const std::optional<std::uint32_t> last = set_member(text, ++at);
        if (!last) return false;
        if (before <= *last) ranges_.emplace_back(before, *last);
        before = nothing;
      } else if (const std::string_view name = class_name(text, at); name.data() != nullptr) {
        if (!add_class(name)) return false;
        at += name.size() + 4;
        before = nothing;
      } else {
        const std::optional<std::uint32_t> member = set_member(text, at);
        if (!member) return false;
        ranges_.emplace_back(*member, *member);
        before = *member;
      }
    }
    ++at;
    set.size = static_cast<std::uint32_t>(ranges_.size()) - set.begin;
    tokens_.push_back(set);
    return true;
  }

  std::optional<std::uint32_t> set_member(std::string_view text, std::size_t& at) const {
    if (at < text.size() && text[at] == '\\') ++at;
    if (at >= text.size()) return std::nullopt;
    const text_unit found = first_unit(text.substr(at), unit_);
    at += found.size;
    return found.value;
  }

  /// The name in `[:name:]`, or a view of nothing where none begins at `at`. It ends at the first
  /// `]`, before which there has to be a `:`.
  static std::string_view class_name(std::string_view text, std::size_t at) noexcept {
    if (!text.substr(at).starts_with("[:")) return {};
    const std::size_t end = text.find(']', at + 2);
    if (end == std::string_view::npos || end < at + 3 || text[end - 1] != ':') return {};
    return text.substr(at + 2, end - at - 3);
  }

  /// The classes of POSIX, of ASCII only.
  bool add_class(std::string_view name) {
    struct named {
      std::string_view name;
      std::string_view bounds; ///< first and last of each range
    };
    static constexpr named classes[] = {
        {"alnum", "09AZaz"},   {"alpha", "AZaz"},
        {"blank", "  \t\t"},   {"cntrl", std::string_view("\0\x1F\x7F\x7F", 4)},
        {"digit", "09"},       {"graph", "!~"},
        {"lower", "az"},       {"print", " ~"},
        {"punct", "!/:@[`{~"}, {"space", "\t\r  "},
        {"upper", "AZ"},       {"xdigit", "09AFaf"},
    };
    for (const named& each : classes) {
      if (each.name != name) continue;
      for (std::size_t i = 0; i < each.bounds.size(); i += 2)
        ranges_.emplace_back(static_cast<unsigned char>(each.bounds[i]),
                             static_cast<unsigned char>(each.bounds[i + 1]));
      return true;
    }
    return false;
  }

  // --- matching ----------------------------------------------------------------------------------

  [[nodiscard]] std::string_view literal(const token& of) const noexcept {
    return std::string_view(bytes_).substr(of.begin, of.size);
  }

  /// How many bytes of `text` the token takes; nothing when it does not match.
  [[nodiscard]] std::optional<std::size_t> take(const token& next,
                                                std::string_view text) const noexcept {
    if (next.kind == token_kind::literal) {
      if (!text.starts_with(literal(next))) return std::nullopt;
      return next.size;
    }
    if (text.empty()) return std::nullopt;
    const text_unit found = first_unit(text, unit_);
    if (next.kind == token_kind::any) return found.size;
    bool member = false;
    for (std::size_t i = next.begin; i < next.begin + next.size && !member; ++i)
      member = ranges_[i].first <= found.value && found.value <= ranges_[i].second;
    if (member == next.negated) return std::nullopt;
    return found.size;
  }

  [[nodiscard]] bool matches_component(const component& of, std::string_view text) const noexcept {
    constexpr std::size_t none = std::string_view::npos;
    std::size_t next = of.begin, at = 0;
    std::size_t again = none, again_at = 0; // behind the last star, and where it was tried
    while (true) {
      if (next == of.end && at == text.size()) return true;
      if (next < of.end && tokens_[next].kind == token_kind::star) {
        if (++next == of.end) return true;
        again = next;
        again_at = at = star_begin(next, of.end, text, at);
        if (at == none) return false;
        continue;
      }
      if (next < of.end) {
        if (const std::optional<std::size_t> taken = take(tokens_[next], text.substr(at))) {
          at += *taken;
          ++next;
          continue;
        }
      }
      if (again == none || again_at >= text.size()) return false;
      again_at += first_unit(text.substr(again_at), unit_).size;
      again_at = at = star_begin(again, of.end, text, again_at);
      if (at == none) return false;
      next = again;
    }
  }

  /// The first place from `from` on where what follows a star may stand; npos: nowhere.
  [[nodiscard]] std::size_t star_begin(std::size_t next, std::size_t end, std::string_view text,
                                       std::size_t from) const noexcept {
    if (tokens_[next].kind != token_kind::literal) return from;
    const std::string_view wanted = literal(tokens_[next]);
    if (next + 1 < end) return text.find(wanted, from);
    const bool fits = text.size() - from >= wanted.size() && text.ends_with(wanted);
    return fits ? text.size() - wanted.size() : std::string_view::npos;
  }

  pattern_unit unit_;
  std::string bytes_;
  std::vector<range> ranges_;
  std::vector<token> tokens_;
  std::vector<component> components_;
};

} // namespace paddock::detail
