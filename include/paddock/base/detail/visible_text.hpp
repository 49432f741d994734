// SPDX-License-Identifier: MIT
#pragma once

/// Characters that a model reads and a person who looks at the text does not see, and where such a
/// character does something that can be seen and stays.
///
/// Hidden is what Unicode calls Default_Ignorable_Code_Point (tags, variation selectors, joiners,
/// fillers, marks of direction, reserved code points among them), and the format characters
/// (general category Cf) beside it, but for those that enclose digits and are drawn
/// (Prepended_Concatenation_Mark). The tables are those of Unicode 17; tests compare them with
/// other implementations. Control characters (Cc) are hidden too, but for the white space among
/// them.
///
/// What stays, once in a row and only between characters that it joins, parts or shapes:
/// - ZERO WIDTH JOINER between two emoji, which are one picture with it, and beside a virama;
/// - ZERO WIDTH NON-JOINER beside a virama (RFC 5892, appendix A.1) and between letters of scripts
///   that are written joined up, as Persian spells with it;
/// - VARIATION SELECTOR-16 behind an emoji that is drawn as text without it (Emoji without
///   Emoji_Presentation), a digit only before the mark that makes it a key;
/// - Mongolian variation selectors behind a Mongolian letter.
///
/// Thread-safety: pure functions.

#include <paddock/base/detail/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::detail {

struct code_range {
  char32_t first;
  char32_t last;
};

/// In order. With their names for people.
struct hidden_range {
  char32_t first;
  char32_t last;
  const char* name;
};
inline constexpr hidden_range hidden_ranges[] = {
    {0x0000, 0x0008, "a control character"},
    {0x000E, 0x001F, "a control character"},
    {0x007F, 0x0084, "a control character"},
    {0x0086, 0x009F, "a control character"},
    {0x00AD, 0x00AD, "a soft hyphen"},
    {0x034F, 0x034F, "a combining grapheme joiner"},
    {0x061C, 0x061C, "a mark of direction"},
    {0x115F, 0x1160, "a Hangul filler"},
    {0x17B4, 0x17B5, "a Khmer vowel that is not drawn"},
    {0x180B, 0x180F, "a Mongolian variation selector"},
    {0x200B, 0x200B, "a zero width space"},
    {0x200C, 0x200D, "a zero width joiner or non-joiner"},
    {0x200E, 0x200F, "a mark of direction"},
    {0x202A, 0x202E, "a mark of direction"},
    {0x2060, 0x2065, "a word joiner or invisible operator"},
    {0x2066, 0x206F, "a mark of direction"},
    {0x3164, 0x3164, "a Hangul filler"},
    {0xFE00, 0xFE0F, "a variation selector"},
    {0xFEFF, 0xFEFF, "a byte order mark"},
    {0xFFA0, 0xFFA0, "a Hangul filler"},
    {0xFFF0, 0xFFFB, "a format character"},
    {0x13430, 0x1343F, "a format character"},
    {0x1BCA0, 0x1BCA3, "a format character"},
    {0x1D173, 0x1D17A, "a format character"},
    {0xE0000, 0xE00FF, "a tag character"},
    {0xE0100, 0xE01EF, "a variation selector"},
    {0xE01F0, 0xE0FFF, "a format character"},
};

/// Emoji without Emoji_Presentation, but for digits, '#' and '*'.
inline constexpr code_range text_emoji[] = {
    {0x00A9, 0x00A9},   {0x00AE, 0x00AE},   {0x203C, 0x203C},   {0x2049, 0x2049},
    {0x2122, 0x2122},   {0x2139, 0x2139},   {0x2194, 0x2199},   {0x21A9, 0x21AA},
    {0x2328, 0x2328},   {0x23CF, 0x23CF},   {0x23ED, 0x23EF},   {0x23F1, 0x23F2},
    {0x23F8, 0x23FA},   {0x24C2, 0x24C2},   {0x25AA, 0x25AB},   {0x25B6, 0x25B6},
    {0x25C0, 0x25C0},   {0x25FB, 0x25FC},   {0x2600, 0x2604},   {0x260E, 0x260E},
    {0x2611, 0x2611},   {0x2618, 0x2618},   {0x261D, 0x261D},   {0x2620, 0x2620},
    {0x2622, 0x2623},   {0x2626, 0x2626},   {0x262A, 0x262A},   {0x262E, 0x262F},
    {0x2638, 0x263A},   {0x2640, 0x2640},   {0x2642, 0x2642},   {0x265F, 0x2660},
    {0x2663, 0x2663},   {0x2665, 0x2666},   {0x2668, 0x2668},   {0x267B, 0x267B},
    {0x267E, 0x267E},   {0x2692, 0x2692},   {0x2694, 0x2697},   {0x2699, 0x2699},
    {0x269B, 0x269C},   {0x26A0, 0x26A0},   {0x26A7, 0x26A7},   {0x26B0, 0x26B1},
    {0x26C8, 0x26C8},   {0x26CF, 0x26CF},   {0x26D1, 0x26D1},   {0x26D3, 0x26D3},
    {0x26E9, 0x26E9},   {0x26F0, 0x26F1},   {0x26F4, 0x26F4},   {0x26F7, 0x26F9},
    {0x2702, 0x2702},   {0x2708, 0x2709},   {0x270C, 0x270D},   {0x270F, 0x270F},
    {0x2712, 0x2712},   {0x2714, 0x2714},   {0x2716, 0x2716},   {0x271D, 0x271D},
    {0x2721, 0x2721},   {0x2733, 0x2734},   {0x2744, 0x2744},   {0x2747, 0x2747},
    {0x2763, 0x2764},   {0x27A1, 0x27A1},   {0x2934, 0x2935},   {0x2B05, 0x2B07},
    {0x3030, 0x3030},   {0x303D, 0x303D},   {0x3297, 0x3297},   {0x3299, 0x3299},
    {0x1F170, 0x1F171}, {0x1F17E, 0x1F17F}, {0x1F202, 0x1F202}, {0x1F237, 0x1F237},
    {0x1F321, 0x1F321}, {0x1F324, 0x1F32C}, {0x1F336, 0x1F336}, {0x1F37D, 0x1F37D},
    {0x1F396, 0x1F397}, {0x1F399, 0x1F39B}, {0x1F39E, 0x1F39F}, {0x1F3CB, 0x1F3CE},
    {0x1F3D4, 0x1F3DF}, {0x1F3F3, 0x1F3F3}, {0x1F3F5, 0x1F3F5}, {0x1F3F7, 0x1F3F7},
    {0x1F43F, 0x1F43F}, {0x1F441, 0x1F441}, {0x1F4FD, 0x1F4FD}, {0x1F549, 0x1F54A},
    {0x1F56F, 0x1F570}, {0x1F573, 0x1F579}, {0x1F587, 0x1F587}, {0x1F58A, 0x1F58D},
    {0x1F590, 0x1F590}, {0x1F5A5, 0x1F5A5}, {0x1F5A8, 0x1F5A8}, {0x1F5B1, 0x1F5B2},
    {0x1F5BC, 0x1F5BC}, {0x1F5C2, 0x1F5C4}, {0x1F5D1, 0x1F5D3}, {0x1F5DC, 0x1F5DE},
    {0x1F5E1, 0x1F5E1}, {0x1F5E3, 0x1F5E3}, {0x1F5E8, 0x1F5E8}, {0x1F5EF, 0x1F5EF},
    {0x1F5F3, 0x1F5F3}, {0x1F5FA, 0x1F5FA}, {0x1F6CB, 0x1F6CB}, {0x1F6CD, 0x1F6CF},
    {0x1F6E0, 0x1F6E5}, {0x1F6E9, 0x1F6E9}, {0x1F6F0, 0x1F6F0}, {0x1F6F3, 0x1F6F3},
};

/// Canonical_Combining_Class=Virama.
inline constexpr code_range viramas[] = {
    {0x094D, 0x094D},   {0x09CD, 0x09CD},   {0x0A4D, 0x0A4D},   {0x0ACD, 0x0ACD},
    {0x0B4D, 0x0B4D},   {0x0BCD, 0x0BCD},   {0x0C4D, 0x0C4D},   {0x0CCD, 0x0CCD},
    {0x0D3B, 0x0D3C},   {0x0D4D, 0x0D4D},   {0x0DCA, 0x0DCA},   {0x0E3A, 0x0E3A},
    {0x0EBA, 0x0EBA},   {0x0F84, 0x0F84},   {0x1039, 0x103A},   {0x1714, 0x1715},
    {0x1734, 0x1734},   {0x17D2, 0x17D2},   {0x1A60, 0x1A60},   {0x1B44, 0x1B44},
    {0x1BAA, 0x1BAB},   {0x1BF2, 0x1BF3},   {0x2D7F, 0x2D7F},   {0xA806, 0xA806},
    {0xA82C, 0xA82C},   {0xA8C4, 0xA8C4},   {0xA953, 0xA953},   {0xA9C0, 0xA9C0},
    {0xAAF6, 0xAAF6},   {0xABED, 0xABED},   {0x10A3F, 0x10A3F}, {0x11046, 0x11046},
    {0x11070, 0x11070}, {0x1107F, 0x1107F}, {0x110B9, 0x110B9}, {0x11133, 0x11134},
    {0x111C0, 0x111C0}, {0x11235, 0x11235}, {0x112EA, 0x112EA}, {0x1134D, 0x1134D},
    {0x113CE, 0x113D0}, {0x11442, 0x11442}, {0x114C2, 0x114C2}, {0x115BF, 0x115BF},
    {0x1163F, 0x1163F}, {0x116B6, 0x116B6}, {0x1172B, 0x1172B}, {0x11839, 0x11839},
    {0x1193D, 0x1193E}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47},
    {0x11A99, 0x11A99}, {0x11C3F, 0x11C3F}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97},
    {0x11F41, 0x11F42}, {0x1612F, 0x1612F},
};

/// Letters and marks of Arabic, Syriac, Thaana, N'Ko, Mandaic.
inline constexpr code_range cursive_letters[] = {
    {0x0620, 0x065F}, {0x066E, 0x06D3}, {0x06D5, 0x06EF}, {0x06FA, 0x06FF},
    {0x0710, 0x077F}, {0x07CA, 0x07FA}, {0x0840, 0x085F}, {0x0860, 0x08E1},
    {0x08E3, 0x08FF}, {0xFB50, 0xFDFF}, {0xFE70, 0xFEFC},
};

template <class Range, std::size_t size>
[[nodiscard]] constexpr const Range* find_range(const Range (&table)[size], char32_t c) noexcept {
  std::size_t begin = 0;
  for (std::size_t end = size; begin < end;) {
    const std::size_t middle = begin + (end - begin) / 2;
    table[middle].last < c ? begin = middle + 1 : end = middle;
  }
  return begin < size && table[begin].first <= c ? table + begin : nullptr;
}

/// What a hidden character is, for people; null for one that is seen.
[[nodiscard]] constexpr const char* hidden_name(char32_t c) noexcept {
  if ((c >= 0x20 && c < 0x7F) || (c > 0x3164 && c < 0xFE00)) return nullptr; // nearly all text
  const hidden_range* const found = find_range(hidden_ranges, c);
  return found != nullptr ? found->name : nullptr;
}

[[nodiscard]] constexpr bool is_hidden(char32_t c) noexcept {
  return hidden_name(c) != nullptr;
}

/// Characters that look like a blank, or like nothing but a line's end: white space (White_Space),
/// and the empty Braille pattern.
[[nodiscard]] constexpr bool is_blank_character(char32_t c) noexcept {
  if (c > 0x3000) return false;
  return c == 0x20 || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x2800 || c == 0x3000;
}

/// Whether a hidden character does something between these two that can be seen. `before` is the
/// last character that was kept, 0 for none, also behind a blank.
[[nodiscard]] constexpr bool is_needed_between(char32_t before, char32_t c,
                                               char32_t after) noexcept {
  constexpr char32_t non_joiner = 0x200C;
  constexpr char32_t joiner = 0x200D;
  constexpr char32_t emoji_selector = 0xFE0F;
  constexpr char32_t key_mark = 0x20E3;
  const auto is_picture = [](char32_t p) {
    return (p >= 0x1F000 && p <= 0x1FAFF) || p == 0x2B1B || find_range(text_emoji, p) != nullptr;
  };
  if (before == 0 || before == joiner || before == non_joiner) return false;
  if (c == emoji_selector) {
    const bool is_key = (before >= '0' && before <= '9') || before == '#' || before == '*';
    return is_key ? after == key_mark : find_range(text_emoji, before) != nullptr;
  }
  if (c >= 0x180B && c <= 0x180F) return before >= 0x1820 && before <= 0x18AA;
  if (c != joiner && c != non_joiner) return false;
  if (find_range(viramas, before) != nullptr) return true;
  if (find_range(viramas, after) != nullptr) return before >= 0x0900 && !is_hidden(before);
  if (c == joiner) return (before == emoji_selector || is_picture(before)) && is_picture(after);
  return find_range(cursive_letters, before) != nullptr &&
         find_range(cursive_letters, after) != nullptr;
}

/// Walks over a text, character by character.
class visible_text {
public:
  struct character {
    std::string_view bytes;
    char32_t code = 0xFFFD; ///< of bytes that are no UTF-8
    bool is_valid = false;
    bool is_hidden = false; ///< and does nothing that can be seen
  };

  explicit visible_text(std::string_view text) noexcept : rest_(text) {}
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

  /// The characters before the next that is a blank or not of ASCII, at most `size_max`; none of
  /// them is hidden.
  std::string_view take_ascii(std::size_t size_max) noexcept {
    const std::string_view within = rest_.substr(0, size_max);
    std::size_t size = 0;
    while (size < within.size() && within[size] > 0x20 && within[size] < 0x7F)
      ++size;
    if (size > 0) before_ = static_cast<unsigned char>(within[size - 1]);
    rest_.remove_prefix(size);
    return within.substr(0, size);
  }

  /// The next character. Precondition: not at the end.
  character next() noexcept {
    character now = first(rest_);
    rest_.remove_prefix(now.bytes.size());
    if (now.is_valid && detail::is_hidden(now.code))
      now.is_hidden = !is_needed_between(before_, now.code, rest_.empty() ? 0 : first(rest_).code);
    const bool parts = is_blank_character(now.code) || (now.code < 0xA0 && now.is_hidden);
    if (parts || !now.is_hidden) before_ = parts ? 0 : now.code;
    return now;
  }

private:
  [[nodiscard]] static character first(std::string_view text) noexcept {
    const utf8_sequence found = first_sequence(text);
    const std::string_view bytes = text.substr(0, found.size);
    if (found.state != utf8_state::complete) return {.bytes = bytes};
    return {.bytes = bytes, .code = code_point(bytes), .is_valid = true};
  }

  std::string_view rest_;
  char32_t before_ = 0;
};

/// A text without what is hidden in it; all else, line breaks and bytes that are no UTF-8 included,
/// stays.
[[nodiscard]] inline std::string without_hidden(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (visible_text walk(text); !walk.at_end();)
    if (const auto c = walk.next(); !c.is_hidden) out += c.bytes;
  return out;
}

[[nodiscard]] inline bool has_hidden(std::string_view text) noexcept {
  for (visible_text walk(text); !walk.at_end();)
    if (walk.next().is_hidden) return true;
  return false;
}

/// A text for people in which what is hidden is named: "a\u{200B}b".
[[nodiscard]] inline std::string with_hidden_named(std::string_view text) {
  std::string out;
  for (visible_text walk(text); !walk.at_end();) {
    const auto c = walk.next();
    if (!c.is_hidden) {
      out += c.bytes;
      continue;
    }
    std::string digits; // backwards
    for (auto rest = static_cast<std::uint32_t>(c.code); rest > 0 || digits.empty(); rest /= 16)
      digits += "0123456789ABCDEF"[rest % 16];
    out.append("\\u{").append(digits.rbegin(), digits.rend()).append("}");
  }
  return out;
}

/// A name on its line: '?' in place of what is hidden in it, and of what would begin a new line or
/// move the cursor. Bytes that are no UTF-8 are '?' too.
[[nodiscard]] inline std::string on_one_line(std::string_view name) {
  std::string out;
  for (visible_text walk(name); !walk.at_end();) {
    const auto c = walk.next();
    const bool moves = c.code < 0x20 || c.code == 0x85 || c.code == 0x2028 || c.code == 0x2029;
    out += c.is_valid && !c.is_hidden && !moves ? c.bytes : "?";
  }
  return out;
}

} // namespace paddock::detail
