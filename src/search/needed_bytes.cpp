// SPDX-License-Identifier: MIT
#include "search/needed_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace paddock {
namespace {

constexpr std::size_t many = 1000;

/// A part of an expression: bytes of a class, so many times. Without a class: anything, or nothing.
struct part {
  std::optional<byte_class> bytes;
  std::size_t least = 1, most = 1;
};

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

void admit(byte_class& bytes, char first, char last) {
  for (int c = first; c <= last; ++c)
    bytes.set(static_cast<std::size_t>(c));
}

/// `\d`, `\w` and characters that an escape makes ordinary; nothing of any other escape.
std::optional<byte_class> escaped(char c) {
  byte_class bytes;
  if (c == 'd' || c == 'w') admit(bytes, '0', '9');
  if (c == 'w') {
    admit(bytes, 'a', 'z');
    admit(bytes, 'A', 'Z');
    admit(bytes, '_', '_');
  }
  if (std::string_view("!\"#%&',-/:;<=>@_`~\\.+*?()|[]{}^$").find(c) != std::string_view::npos)
    admit(bytes, c, c);
  return bytes.any() ? std::optional(bytes) : std::nullopt;
}

/// Reads an expression that is a sequence of characters and classes, each perhaps repeated.
class part_reader {
public:
  explicit part_reader(std::string_view rest) : rest_(rest) {}

  /// Nothing where there is more in it.
  std::optional<std::vector<part>> all() {
    std::vector<part> parts;
    while (!rest_.empty()) {
      part next;
      if (!read_bytes(next) || !read_repetition(next)) return std::nullopt;
      parts.push_back(next);
    }
    return parts;
  }

private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  bool read_bytes(part& into) {
    const char c = take();
    if (c == '.') return true;
    if (c == '[') return read_class(into);
    if (c == '\\') return !rest_.empty() && (into.bytes = escaped(take())).has_value();
    if (!is_ascii(c) || std::string_view("()|^$*+?{").find(c) != std::string_view::npos)
      return false;
    admit(into.bytes.emplace(), c, c);
    return true;
  }

  /// Behind its bracket. One that names what it has not is anything.
  bool read_class(part& into) {
    byte_class bytes;
    const bool others = rest_.starts_with('^');
    if (others) take();
    for (bool first = true; !rest_.starts_with(']') || first; first = false) {
      if (rest_.size() < 2 || !is_ascii(rest_[0]) || rest_.starts_with("[:")) return false;
      const char from = take();
      if (from == '\\') {
        const auto meant = escaped(take());
        if (!meant || (rest_.starts_with('-') && !rest_.starts_with("-]"))) return false;
        bytes |= *meant;
        continue;
      }
      char to = from;
      if (rest_.starts_with('-') && !rest_.starts_with("-]")) {
        take();
        if (rest_.empty() || !is_ascii(rest_[0]) || rest_[0] == '\\') return false;
        to = take();
      }
      admit(bytes, from, to);
    }
    take();
    if (!others) into.bytes = bytes;
    return true;
  }

  std::optional<std::size_t> read_number() {
    std::size_t number = 0;
    if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') return std::nullopt;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9' && number < many)
      number = number * 10 + static_cast<std::size_t>(take() - '0');
    return number;
  }

  bool read_counts(part& into) {
    const auto least = read_number();
    if (!least) return false;
    into.least = into.most = *least;
    if (rest_.starts_with(',')) {
      take();
      into.most = read_number().value_or(many);
    }
    return !rest_.empty() && take() == '}';
  }

  /// What follows a part, if it is about that; not one repetition of another.
  bool read_repetition(part& into) {
    constexpr std::string_view marks = "*+?{";
    const auto has_mark = [&] { return !rest_.empty() && marks.find(rest_[0]) != marks.npos; };
    if (!has_mark()) return true;
    const char mark = take();
    if (mark == '{' && !read_counts(into)) return false;
    if (mark != '{') {
      into.least = mark == '+' ? 1 : 0;
      into.most = mark == '?' ? 1 : many;
    }
    if (rest_.starts_with('?')) take(); // as few as may be
    return !has_mark();
  }

  std::string_view rest_;
};

/// Classes of bytes that stand side by side in each match.
using run = std::vector<byte_class>;

std::vector<run> runs_of(const std::vector<part>& parts, std::size_t places_max) {
  std::vector<run> runs(1);
  for (const part& each : parts) {
    const auto put = [&] {
      if (each.bytes)
        runs.back().insert(runs.back().end(), std::min(each.least, places_max), *each.bytes);
    };
    put();
    const bool is_whole = each.bytes && each.least == each.most && each.least <= places_max;
    if (is_whole) continue;
    runs.emplace_back(); // more of them may be in between
    put();
  }
  return runs;
}

/// How much of source code a byte makes, on the average of its like.
double share_of_source(std::size_t byte) {
  const char c = static_cast<char>(byte);
  if (c >= 'a' && c <= 'z') return 0.022;
  if (c >= 'A' && c <= 'Z') return 0.003;
  if (c >= '0' && c <= '9') return 0.0015;
  return c == ' ' ? 0.24 : c == '_' ? 0.014 : byte < 0x80 ? 0.006 : 0.001;
}

double share_of(std::span<const byte_class> places) {
  double share = 1;
  for (const byte_class& bytes : places) {
    double sum = 0;
    for (std::size_t c = 0; c < bytes.size(); ++c)
      if (bytes[c]) sum += share_of_source(c);
    share *= sum;
  }
  return share;
}

} // namespace

std::vector<byte_class> needed_bytes(std::string_view expression, std::size_t places_max) {
  const auto parts = part_reader(expression).all();
  if (!parts) return {};
  double least = 1.0 / 500; // met more often it costs more than it saves
  std::vector<byte_class> rarest;
  for (const run& each : runs_of(*parts, places_max))
    for (std::size_t at = 0; at + 2 <= each.size(); ++at) {
      const auto places = std::span(each).subspan(at, std::min(places_max, each.size() - at));
      if (const double share = share_of(places); share < least) {
        least = share;
        rarest.assign(places.begin(), places.end());
      }
    }
  return rarest;
}

} // namespace paddock
