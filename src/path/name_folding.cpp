// SPDX-License-Identifier: MIT
#include "path/name_folding.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/base/detail/utf8.hpp>
#include <paddock/base/detail/visible_text.hpp>
#include <paddock/base/limits.hpp>

#include <gsl/assert>

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace paddock {
namespace {

/// What characters beyond ASCII turn into.
enum class becomes : std::uint8_t {
  letters, ///< one to four, figures and dots behind the first among them
  figures, ///< one to four of what is no letter
  blanks,  ///< one to three dots or blanks
};
constexpr std::size_t letters_max = 4;
constexpr std::size_t blanks_max = 3;

/// Blocks in which characters have such a compatibility decomposition or case folding (Unicode, K
/// of NFKC_Casefold), in order. A block may have others beside them.
struct block {
  char32_t first;
  char32_t last;
  becomes what;
};
constexpr block blocks[] = {
    {0x00A0, 0x00A0, becomes::blanks},    {0x00AA, 0x00AA, becomes::letters},
    {0x00B2, 0x00B3, becomes::figures},   {0x00B9, 0x00B9, becomes::figures},
    {0x00BA, 0x00BA, becomes::letters},   {0x00DF, 0x00DF, becomes::letters},
    {0x0132, 0x0133, becomes::letters},   {0x017F, 0x017F, becomes::letters},
    {0x01C7, 0x01CC, becomes::letters},   {0x01F1, 0x01F3, becomes::letters},
    {0x02B0, 0x02B8, becomes::letters},   {0x02E1, 0x02E3, becomes::letters},
    {0x037E, 0x037E, becomes::figures},   {0x1D2C, 0x1D6A, becomes::letters},
    {0x1D9C, 0x1DBF, becomes::letters},   {0x1E9E, 0x1E9E, becomes::letters},
    {0x1FEF, 0x1FEF, becomes::figures},   {0x2000, 0x200A, becomes::blanks},
    {0x2024, 0x2026, becomes::blanks},    {0x202F, 0x202F, becomes::blanks},
    {0x203C, 0x203C, becomes::figures},   {0x2047, 0x2049, becomes::figures},
    {0x205F, 0x205F, becomes::blanks},    {0x2070, 0x2070, becomes::figures},
    {0x2071, 0x2071, becomes::letters},   {0x2074, 0x207E, becomes::figures},
    {0x207F, 0x207F, becomes::letters},   {0x2080, 0x208E, becomes::figures},
    {0x2090, 0x209C, becomes::letters},   {0x20A8, 0x20A8, becomes::letters},
    {0x2100, 0x214F, becomes::letters},   {0x2160, 0x217F, becomes::letters},
    {0x2460, 0x249B, becomes::figures},   {0x249C, 0x24B5, becomes::letters},
    {0x24EA, 0x24EA, becomes::figures},   {0x2A74, 0x2A76, becomes::figures},
    {0x2C7C, 0x2C7D, becomes::letters},   {0x3000, 0x3000, becomes::blanks},
    {0x3250, 0x3250, becomes::letters},   {0x3251, 0x325F, becomes::figures},
    {0x32B1, 0x32BF, becomes::figures},   {0x32CC, 0x32CF, becomes::letters},
    {0x3371, 0x33DF, becomes::letters},   {0x33FF, 0x33FF, becomes::letters},
    {0xA7F1, 0xA7F4, becomes::letters},   {0xFB00, 0xFB06, becomes::letters},
    {0xFB29, 0xFB29, becomes::figures},   {0xFE10, 0xFE16, becomes::figures},
    {0xFE19, 0xFE19, becomes::blanks},    {0xFE30, 0xFE30, becomes::blanks},
    {0xFE33, 0xFE4F, becomes::figures},   {0xFE50, 0xFE50, becomes::figures},
    {0xFE52, 0xFE52, becomes::blanks},    {0xFE54, 0xFE6B, becomes::figures},
    {0x107A5, 0x107A5, becomes::letters}, {0x1CCF0, 0x1CCF9, becomes::figures},
    {0x1F100, 0x1F10A, becomes::figures}, {0x1F110, 0x1F12E, becomes::letters},
    {0x1F14A, 0x1F16C, becomes::letters}, {0x1F190, 0x1F190, becomes::letters},
    {0x1FBF0, 0x1FBF9, becomes::figures},
};

/// Alphabets of which each letter turns into one, so that words written in them stay words. They
/// may be there several times.
struct alphabet {
  char32_t first;
  char32_t last;
  std::string_view letters;
};
constexpr std::string_view latin = "abcdefghijklmnopqrstuvwxyz";
constexpr alphabet alphabets[] = {
    {0x24B6, 0x24E9, latin},          {0x1CCD6, 0x1CCEF, latin}, {0x1D400, 0x1D6A3, latin},
    {0x1D7CE, 0x1D7FF, "0123456789"}, {0x1F130, 0x1F149, latin},
};
constexpr char32_t full_width_first = 0xFF01; // '!', and so on to '~'
constexpr char32_t full_width_last = 0xFF5E;

/// A part of a name as a file system may see it.
struct seen {
  char byte = 0; ///< 0: any of what `what` says
  becomes what = becomes::letters;
};

/// Nothing for what stays as it is.
std::optional<seen> folded(char32_t c) {
  if (c >= full_width_first && c <= full_width_last)
    return seen{detail::ascii_lower(static_cast<char>(c - full_width_first + '!'))};
  if (const auto* a = detail::find_range(alphabets, c); a != nullptr)
    return seen{a->letters[(c - a->first) % a->letters.size()]};
  if (const auto* b = detail::find_range(blocks, c); b != nullptr) return seen{0, b->what};
  return std::nullopt;
}

/// Takes what comes next off a name: a character that is folded, or a byte. Nothing at its end.
std::optional<seen> next(std::string_view& name) {
  while (!name.empty()) {
    const auto size = detail::first_sequence(name).size;
    const char32_t c = detail::code_point(name.substr(0, size));
    const bool is_ignored = size > 1 && detail::is_hidden(c);
    const auto turned = size > 1 ? folded(c) : std::nullopt;
    const char byte = name.front();
    name.remove_prefix(is_ignored || turned ? size : 1);
    if (!is_ignored) return turned ? turned : seen{detail::ascii_lower(byte)};
  }
  return std::nullopt;
}

constexpr bool is_letter(char lower) {
  return lower >= 'a' && lower <= 'z';
}

/// How many bytes at the beginning of `plain` may be what the character turned into.
std::size_t most(becomes what, std::string_view plain) {
  const auto fits = [&](std::size_t at) {
    const char c = detail::ascii_lower(plain[at]);
    const bool is_blank = c == '.' || c == ' ';
    if (what == becomes::blanks) return is_blank;
    return what == becomes::figures ? !is_letter(c) : at > 0 || !is_blank;
  };
  const std::size_t limit = what == becomes::blanks ? blanks_max : letters_max;
  std::size_t size = 0;
  while (size < std::min(limit, plain.size()) && fits(size))
    ++size;
  return size;
}

/// Whether Windows cuts a name here: all to the end are dots and blanks, or a stream or, behind a
/// backslash, another component follows them.
bool is_cut(std::string_view rest) {
  while (const auto each = next(rest)) {
    if (each->byte == ':' || each->byte == '\\') return true;
    if (each->byte == 0 ? each->what != becomes::blanks : each->byte != '.' && each->byte != ' ')
      return false;
  }
  return true;
}

enum class then : bool { cut, anything };

/// All ways to read the name at once: `reached[n]` says that what was read so far may be the first
/// n bytes of `plain`.
bool matches(std::string_view name, std::string_view plain, then rest) {
  std::bitset<2 * name_bytes_max> reached;
  Expects(plain.size() < reached.size());
  reached.set(0);
  while (reached.any()) {
    if (reached[plain.size()] && (rest == then::anything || is_cut(name))) return true;
    const auto part = next(name);
    if (!part) return false;
    const auto before = std::exchange(reached, {});
    for (std::size_t n = 0; n < plain.size(); ++n) {
      if (!before[n]) continue;
      if (part->byte != 0) {
        reached[n + 1] = reached[n + 1] || detail::ascii_lower(plain[n]) == part->byte;
        continue;
      }
      for (std::size_t size = most(part->what, plain.substr(n)); size > 0; --size)
        reached.set(n + size);
    }
  }
  return false;
}

/// What of a name's part goes into a short one.
std::string shortened(std::string_view part, std::size_t size_max) {
  constexpr std::string_view replaced = "+,;=[]";
  std::string out;
  for (const char c : part)
    if (c != '.' && c != ' ' && out.size() < size_max)
      out += replaced.find(c) != replaced.npos ? '_' : c;
  return out;
}

constexpr std::size_t short_base_max = 8;
constexpr std::size_t short_extension_max = 3;
constexpr std::string_view decimal = "0123456789";

/// Whether `stem`, with a mark and figures behind it, is short for a name with that base: its
/// beginning, as far as there is room, or one or two letters and a checksum, of whatever.
bool is_short_stem(std::string_view stem, std::size_t behind, std::string_view base) {
  constexpr std::size_t checksum = 4;
  constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
  if (stem.size() + behind > short_base_max) return false;
  if (stem.size() == base.size() || stem.size() + behind == short_base_max)
    if (detail::equal_ignoring_ascii_case(stem, base.substr(0, stem.size()))) return true;
  if (stem.size() <= checksum) return false;
  const auto letters = stem.substr(0, stem.size() - checksum);
  return letters.size() <= 2 &&
         detail::equal_ignoring_ascii_case(letters, base.substr(0, letters.size())) &&
         stem.find_first_not_of(hexadecimal, letters.size()) == std::string_view::npos;
}

/// Whether it is the short name of `plain` on VFAT or NTFS: `GITMOD~1`, or `GI7EBA~1`.
bool is_short_name(std::string_view name, std::string_view plain) {
  const auto mark = name.find('~');
  if (mark == std::string_view::npos || mark == 0) return false;
  const auto end = std::min(name.find_first_not_of(decimal, mark + 1), name.size());
  if (end == mark + 1) return false;
  plain.remove_prefix(std::min(plain.find_first_not_of(". "), plain.size()));
  const auto dot = std::min(plain.rfind('.'), plain.size());
  const auto base = shortened(plain.substr(0, dot), short_base_max);
  if (!is_short_stem(name.substr(0, mark), end - mark, base)) return false;
  auto extension = shortened(plain.substr(dot), short_extension_max);
  if (!extension.empty()) extension.insert(0, 1, '.');
  const auto rest = name.substr(end);
  return detail::equal_ignoring_ascii_case(rest.substr(0, extension.size()), extension) &&
         is_cut(rest.substr(std::min(extension.size(), rest.size())));
}

} // namespace

bool could_be_an_alias(std::string_view name) {
  return name.ends_with('.') || !std::ranges::all_of(name, [](char c) {
           return is_letter(detail::ascii_lower(c)) || (c >= '0' && c <= '9') || c == '.' ||
                  c == '_' || c == '-';
         });
}

bool same_folded(std::string_view name, std::string_view plain) {
  if (detail::equal_ignoring_ascii_case(name, plain)) return true;
  if (!could_be_an_alias(name)) return false;
  return matches(name, plain, then::cut) || is_short_name(name, plain);
}

bool begins_folded(std::string_view name, std::string_view plain) {
  if (detail::equal_ignoring_ascii_case(name.substr(0, plain.size()), plain)) return true;
  return could_be_an_alias(name) && matches(name, plain, then::anything);
}

} // namespace paddock
