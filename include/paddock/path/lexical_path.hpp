// SPDX-License-Identifier: MIT
#pragma once

/// Path algebra on bytes, without looking at any file system, and a lossless codec for file names
/// in JSON.
///
/// Lexical confinement is not a boundary. A path that stays inside a directory by its spelling can
/// leave it through a symbolic link, and `a/../b` is not `b` when `a` is a link. These functions
/// are for messages, for names and for translating spellings; what may be touched is decided by
/// `root`, in the kernel (see root.hpp).
///
/// A path is any sequence of bytes; '/' separates components, repeated slashes count as one. Views
/// that are returned point into the argument. Thread-safety: pure functions.

#include <paddock/base/config.hpp>
#include <paddock/base/detail/utf8.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {

/// Takes the next component from the front of `rest`, with the slashes around it. Empty when there
/// is none.
/// `.` and `..` are components like any other.
[[nodiscard]] constexpr std::string_view next_component(std::string_view& rest) noexcept {
  const std::size_t begin = rest.find_first_not_of('/');
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest.remove_prefix(begin);
  const std::string_view component = rest.substr(0, rest.find('/'));
  rest.remove_prefix(component.size());
  const std::size_t next = rest.find_first_not_of('/');
  rest.remove_prefix(next == std::string_view::npos ? rest.size() : next);
  return component;
}

/// Whether `path` begins with a slash.
[[nodiscard]] constexpr bool is_absolute(std::string_view path) noexcept {
  return path.starts_with('/');
}

/// The lexically normal form. `path` without repeated slashes, `.` and trailing slash, and with
/// `..` cancelling the component before it. `..` at the front of a relative path stays, at the
/// front of an absolute path it is dropped. "." stands for "nothing left".
[[nodiscard]] inline std::string normalize_lexically(std::string_view path) {
  std::string normal = is_absolute(path) ? "/" : "";
  const std::size_t base = normal.size();
  std::size_t cancellable = 0; // components at the end of `normal` that a `..` may remove
  while (true) {
    const std::string_view component = next_component(path);
    if (component.empty()) break;
    if (component == ".") continue;
    if (component == ".." && cancellable > 0) {
      const std::size_t slash = normal.rfind('/');
      normal.resize(slash == std::string::npos || slash < base ? base : slash);
      --cancellable;
      continue;
    }
    if (component == ".." && base == 1) continue;
    if (normal.size() > base) normal += '/';
    normal += component;
    if (component != "..") ++cancellable;
  }
  if (normal.empty()) return ".";
  return normal;
}

/// `tail` seen from `base`: `tail` alone when it is absolute. Nothing is normalised.
[[nodiscard]] inline std::string join(std::string_view base, std::string_view tail) {
  if (base.empty() || is_absolute(tail)) return std::string(tail);
  std::string joined(base);
  if (!tail.empty() && !joined.ends_with('/')) joined += '/';
  joined += tail;
  return joined;
}

/// The last component, trailing slashes ignored; empty for "" and "/".
[[nodiscard]] constexpr std::string_view file_name(std::string_view path) noexcept {
  path = path.substr(0, path.find_last_not_of('/') + 1);
  return path.substr(path.rfind('/') + 1); // npos + 1 == 0
}

/// The part before the first slash: "a" of "a/b", "" of "/a", all of "a".
[[nodiscard]] constexpr std::string_view first_component(std::string_view path) noexcept {
  return path.substr(0, path.find('/'));
}

/// The part before the last component, without the slashes between them: "a" of "a/b/", "/" of
/// "/a" and of "/", "" of "a".
[[nodiscard]] constexpr std::string_view parent(std::string_view path) noexcept {
  const std::string_view trimmed = path.substr(0, path.find_last_not_of('/') + 1);
  const std::string_view above = trimmed.substr(0, trimmed.size() - file_name(trimmed).size());
  const std::size_t last = above.find_last_not_of('/');
  if (last != std::string_view::npos) return above.substr(0, last + 1);
  return path.substr(0, is_absolute(path) ? 1 : 0);
}

/// The extension of the last component with its dot, as Node's path.extname: from the last dot,
/// unless that is its first byte. ".gz" of "a.tar.gz", "." of "a.", "" of ".hidden" and "..".
[[nodiscard]] constexpr std::string_view extension(std::string_view path) noexcept {
  const std::string_view name = file_name(path);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || name == "..") return {};
  return name.substr(dot);
}

/// What follows `root` in `absolute`, compared component by component: "/ws-evil/f" is not inside
/// "/ws". Repeated slashes and `.` are skipped. Empty for the root itself; nothing when either is
/// not absolute or `..` would have to be understood. `..` in the remainder is left to the caller.
[[nodiscard]] constexpr std::optional<std::string_view>
strip_root_prefix(std::string_view absolute, std::string_view root) noexcept {
  if (!is_absolute(absolute) || !is_absolute(root)) return std::nullopt;
  const auto next_name = [](std::string_view& rest) {
    std::string_view name = next_component(rest);
    while (name == ".")
      name = next_component(rest);
    return name;
  };
  for (std::string_view want = next_name(root); !want.empty(); want = next_name(root))
    if (want == ".." || next_name(absolute) != want) return std::nullopt;
  const std::size_t begin = absolute.find_first_not_of('/');
  absolute.remove_prefix(begin == std::string_view::npos ? absolute.size() : begin);
  for (std::string_view rest = absolute; next_component(rest) == ".";)
    absolute = rest;
  return absolute;
}

/// Whether the spelling alone leaves the directory it starts from: an absolute path, or one that at
/// any point has more `..` than names before it, even if it would come back.
[[nodiscard]] constexpr bool escapes_lexically(std::string_view path) noexcept {
  if (is_absolute(path)) return true;
  std::size_t depth = 0;
  for (std::string_view name = next_component(path); !name.empty(); name = next_component(path)) {
    if (name == ".") continue;
    if (name != "..")
      ++depth;
    else if (depth-- == 0)
      return true;
  }
  return false;
}

// --- file names in JSON --------------------------------------------------------------------------
//
// A file name is bytes; a JSON string is Unicode. Each byte b that is not part of valid UTF-8 is
// written as U+EF00 + b, which lies in U+EF80..U+EFFF of the private use area. A name that really
// contains one of those characters has its three bytes written in the same way, so no two names
// share an encoded form and decoding gives back the exact bytes.

namespace detail {

/// Whether UTF-8 for a code point in U+EF80..U+EFFF is at `at` (EE BE 80 .. EE BF BF).
[[nodiscard]] constexpr bool is_escape_at(std::string_view text, std::size_t at) noexcept {
  if (text.size() - at < 3 || text[at] != '\xEE') return false;
  return (text[at + 1] == '\xBE' || text[at + 1] == '\xBF') &&
         (static_cast<unsigned char>(text[at + 2]) & 0xC0) == 0x80;
}

inline void append_escaped_byte(std::string& out, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  const char encoded[] = {'\xEE', static_cast<char>(value < 0xC0 ? 0xBE : 0xBF),
                          static_cast<char>(0x80 | (value & 0x3F))};
  out.append(encoded, sizeof encoded);
}

[[nodiscard]] constexpr std::size_t find_escape(std::string_view text, std::size_t from) noexcept {
  for (std::size_t at = text.find('\xEE', from); at != std::string_view::npos;
       at = text.find('\xEE', at + 1))
    if (is_escape_at(text, at)) return at;
  return std::string_view::npos;
}

} // namespace detail

/// Whether encode_name would change this name; most names pass as they are.
[[nodiscard]] inline bool needs_encoding(std::string_view name) noexcept {
  return !detail::is_valid_utf8(name) || detail::find_escape(name, 0) != std::string_view::npos;
}

/// Valid UTF-8 for any bytes, reversible. ASCII, '/' included, stays as it is, so whole paths may
/// be given.
[[nodiscard]] inline std::string encode_name(std::string_view name) {
  if (!needs_encoding(name)) return std::string(name);
  std::string out;
  out.reserve(name.size() * 3);
  for (std::size_t at = 0; at < name.size();) {
    const detail::utf8_sequence found = detail::first_sequence(name.substr(at));
    if (found.state == detail::utf8_state::complete && !detail::is_escape_at(name, at)) {
      out.append(name, at, found.size);
    } else {
      for (std::size_t i = 0; i < found.size; ++i)
        detail::append_escaped_byte(out, name[at + i]);
    }
    at += found.size;
  }
  return out;
}

/// The bytes that encode_name was given. Text that encode_name would not have produced is decoded
/// by the same rule; the only bytes that an escape can produce are 0x80..0xFF, so no slash, NUL or
/// dot comes into being.
[[nodiscard]] inline std::string decode_name(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;
  for (std::size_t at = detail::find_escape(text, 0); at != std::string_view::npos;
       at = detail::find_escape(text, copied)) {
    out.append(text, copied, at - copied);
    const unsigned high = text[at + 1] == '\xBE' ? 0x80 : 0xC0;
    out += static_cast<char>(high | (static_cast<unsigned char>(text[at + 2]) & 0x3F));
    copied = at + 3;
  }
  out.append(text.substr(copied));
  return out;
}

} // namespace paddock
