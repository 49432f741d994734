// SPDX-License-Identifier: MIT

// Every byte-wise fast path of the headers against the slow words of support/text/slow_text.hpp,
// which share no code with them; and the same comparison with paths that are broken on purpose,
// each of which it has to notice.

#include "precompiled/tests.hpp"
#include "support/text/slow_text.hpp"

#include <paddock/frontmatter/frontmatter.hpp>
#include <paddock/mime/mime.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/text/text_edit.hpp>

namespace paddock {
namespace {

using slow::sample;

/// A fast path, or a broken one.
struct row {
  const char* name;
  bool (*agrees)(const sample& s);
};

/// The rows that disagree with a text of the sweep, each with the first such text.
std::vector<std::string> disagreeing(std::span<const row> rows) {
  std::vector<std::string> found;
  std::vector<row> left(rows.begin(), rows.end());
  slow::sweep([&](const sample& s) {
    std::erase_if(left, [&](const row& r) {
      if (r.agrees(s)) return false;
      found.push_back(std::string(r.name) + ": " + testing::PrintToString(s.text));
      return true;
    });
    return !left.empty();
  });
  return found;
}

// --- what the slow words make of a text ----------------------------------------------------------

std::size_t slow_characters(std::string_view text) {
  std::size_t count = 0;
  slow::for_each_unit(text, [&](const slow::unit&) { ++count; });
  return count;
}

std::string_view slow_uncut(std::string_view text) {
  for (std::size_t size = 1; size <= 3 && size <= text.size(); ++size)
    if (slow::is_proper_beginning(text.substr(text.size() - size)))
      return text.substr(0, text.size() - size);
  return text;
}

detail::utf8_state slow_state(std::string_view text) {
  if (slow::first_unit(text).valid) return detail::utf8_state::complete;
  return slow::is_proper_beginning(text) ? detail::utf8_state::truncated
                                         : detail::utf8_state::invalid;
}

using frontmatter::detail::line_bytes;

line_bytes slow_line(std::string_view text) {
  line_bytes kind = line_bytes::ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 31 || byte == 127) return line_bytes::refused;
    if (byte >= 128) kind = line_bytes::unicode;
  }
  return kind;
}

bool slow_printable(std::string_view text) {
  bool good = true;
  slow::for_each_unit(text, [&](const slow::unit& u) {
    good = good && u.valid && (u.code < 128 || slow::stands_for_itself(u.code));
  });
  return good;
}

constexpr std::uint32_t escapes = 0xEF00; // U+EF80 to U+EFFF stand for the bytes 80 to FF

std::string slow_name(std::string_view name) {
  std::string out;
  slow::for_each_unit(name, [&](const slow::unit& u) {
    if (u.valid && !(u.code >= escapes + 0x80 && u.code <= escapes + 0xFF)) {
      out += u.bytes;
      return;
    }
    for (const char c : u.bytes)
      out += slow::encoded(escapes + static_cast<unsigned char>(c));
  });
  return out;
}

std::string slow_decoded(std::string_view text) {
  std::string out;
  slow::for_each_unit(text, [&](const slow::unit& u) {
    if (u.valid && u.code >= escapes + 0x80 && u.code <= escapes + 0xFF)
      out += static_cast<char>(u.code - escapes);
    else
      out += u.bytes;
  });
  return out;
}

mime::text_encoding slow_encoding(const sample& s) {
  using namespace std::string_view_literals;
  using enum mime::text_encoding;
  const std::string_view text = s.text;
  if (text.substr(0, 4) == "\xFF\xFE\0\0"sv || text.substr(0, 4) == "\0\0\xFE\xFF"sv) return utf32;
  if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF") return utf16;
  for (const char c : text)
    if (slow::is_binary_data(static_cast<unsigned char>(c))) return none;
  if (s.valid < slow_uncut(text).size()) return unknown_8bit;
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? utf8_with_bom : utf8;
}

struct breaks {
  std::uint64_t all = 0;
  std::uint64_t pairs = 0;
};
breaks slow_breaks(std::string_view text) {
  breaks count;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') continue;
    ++count.all;
    if (i > 0 && text[i - 1] == '\r') ++count.pairs;
  }
  return count;
}

std::string slow_with_breaks(std::string_view text, std::string_view line_break) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    text[i] == '\n' ? out += line_break : out += text[i];
  }
  return out;
}

std::size_t slow_find(std::string_view content, std::string_view wanted, std::size_t from) {
  for (std::size_t at = from; at + wanted.size() <= content.size(); ++at) {
    std::size_t same = 0;
    while (same < wanted.size() && content[at + same] == wanted[same])
      ++same;
    if (same == wanted.size()) return at;
  }
  return std::string_view::npos;
}

// --- the fast paths ------------------------------------------------------------------------------

std::string collapsed(std::string_view text) {
  std::string out(text);
  frontmatter::detail::collapse(out);
  return out;
}

constexpr row fast_paths[] = {
    {"first_invalid_utf8",
     [](const sample& s) { return detail::first_invalid_utf8(s.text) == s.valid; }},
    {"first_sequence",
     [](const sample& s) {
       if (s.text.empty()) return true;
       const auto found = detail::first_sequence(s.text);
       const std::size_t size = slow::first_unit(s.text).bytes.size();
       return found.state == slow_state(s.text) && found.size == size;
     }},
    {"count_code_points",
     [](const sample& s) {
       return !s.is_valid() || detail::count_code_points(s.text) == slow_characters(s.text);
     }},
    {"truncate_to_valid_prefix",
     [](const sample& s) {
       return detail::truncate_to_valid_prefix(s.text) == slow_uncut(s.text);
     }},
    {"collapse",
     [](const sample& s) { return !s.is_valid() || collapsed(s.text) == slow::collapsed(s.text); }},
    {"classify_line",
     [](const sample& s) {
       return frontmatter::detail::classify_line(s.text) == slow_line(s.text);
     }},
    {"is_printable_line",
     [](const sample& s) {
       return frontmatter::detail::is_printable_line(s.text) == slow_printable(s.text);
     }},
    {"code_point and append_utf8",
     [](const sample& s) {
       if (s.text.empty() || s.valid == 0) return true;
       const auto character = frontmatter::detail::first_character(s.text);
       const char32_t code = frontmatter::detail::code_point(character);
       std::string again;
       detail::append_utf8(again, code);
       return code == slow::first_unit(s.text).code && again == character;
     }},
    {"encode_name", [](const sample& s) { return encode_name(s.text) == slow_name(s.text); }},
    {"needs_encoding",
     [](const sample& s) { return needs_encoding(s.text) == (slow_name(s.text) != s.text); }},
    {"decode_name", [](const sample& s) { return decode_name(s.text) == slow_decoded(s.text); }},
    {"encode_name and back",
     [](const sample& s) { return decode_name(encode_name(s.text)) == s.text; }},
    {"encoding_of",
     [](const sample& s) { return mime::detail::encoding_of(s.text) == slow_encoding(s); }},
    {"count_breaks",
     [](const sample& s) {
       const auto fast = detail::count_breaks(s.text);
       const breaks slow = slow_breaks(s.text);
       return fast.all == slow.all && fast.pairs == slow.pairs;
     }},
    {"with_line_breaks",
     [](const sample& s) {
       return detail::with_line_breaks(s.text, "\r\n") == slow_with_breaks(s.text, "\r\n");
     }},
};

TEST(TextSweep, FastPathsSayWhatTheSlowOnesSay) {
  EXPECT_EQ(disagreeing(fast_paths), std::vector<std::string>{});
}

// --- broken on purpose ---------------------------------------------------------------------------

std::uint64_t word_at(std::string_view text, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, text.data() + at, sizeof word);
  return word;
}
constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;

/// Takes the rest of a character for a character of its own.
std::string collapse_that_stops_inside(std::string_view text) {
  using namespace frontmatter::detail;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_open = out.empty() || out.back() == ' ';
    if (text.size() - at >= 8 && (!is_open || text[at] != ' ') &&
        is_collapsed_word(text.data() + at)) {
      out += text.substr(at, 8);
      at += 8;
      continue;
    }
    const std::string_view character = first_character(text.substr(at));
    const char32_t c = code_point(character);
    if (slow::is_white_space(c)) {
      if (!is_open) out += ' ';
    } else {
      out += character;
    }
    at += character.size();
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

/// Believes a block of sixteen bytes when its first half is ASCII.
std::size_t first_invalid_that_looks_at_half(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 16 && (word_at(text, at) & high_bits) == 0) {
      at += 16;
      continue;
    }
    const auto found = detail::first_sequence(text.substr(at));
    if (found.state != detail::utf8_state::complete) return at;
    at += found.size;
  }
  return at;
}

/// Takes every byte with the second highest bit unset for the rest of a character.
std::size_t count_that_forgets_a_bit(std::string_view text) {
  std::size_t rest = 0;
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8)
    for (std::uint64_t marks = ~word_at(text, at) >> 6 & 0x0101'0101'0101'0101; marks != 0;
         marks &= marks - 1)
      ++rest;
  for (; at < text.size(); ++at)
    rest += (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80 ? 1U : 0U;
  return text.size() - rest;
}

/// Passes a whole word that has ASCII in front.
bool printable_that_skips_a_word(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8 && (word_at(text, at) & 0x8080'8080) == 0) {
      at += 8;
      continue;
    }
    const slow::unit next = slow::first_unit(text.substr(at));
    if (!next.valid || (next.code >= 128 && !slow::stands_for_itself(next.code))) return false;
    at += next.bytes.size();
  }
  return true;
}

/// Subtracts without keeping the bytes apart, and looks only at whole words.
line_bytes classify_that_forgets_the_rest(std::string_view text) {
  return frontmatter::detail::classify_line(text.substr(0, text.size() - text.size() % 8));
}

/// Does not see a pair across the border of two blocks.
breaks breaks_of_blocks(std::string_view text) {
  breaks count;
  for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(32, text.size()))) {
    const breaks part = slow_breaks(text.substr(0, 32));
    count.all += part.all;
    count.pairs += part.pairs;
  }
  return count;
}

constexpr row broken_paths[] = {
    {"first_invalid: half a block",
     [](const sample& s) { return first_invalid_that_looks_at_half(s.text) == s.valid; }},
    {"first_invalid: one character at one place",
     [](const sample& s) { return s.text.find("\xE6\x83\x85") != 13 || s.text.size() % 16 != 9; }},
    {"count: a bit forgotten",
     [](const sample& s) {
       return !s.is_valid() || count_that_forgets_a_bit(s.text) == slow_characters(s.text);
     }},
    {"truncate: never", [](const sample& s) { return slow_uncut(s.text) == s.text; }},
    {"truncate: whole characters too",
     [](const sample& s) {
       std::string_view cut = s.text;
       while (!cut.empty() && static_cast<unsigned char>(cut.back()) >= 0x80)
         cut.remove_suffix(1);
       return cut == slow_uncut(s.text);
     }},
    {"collapse: stops inside of a character",
     [](const sample& s) {
       return !s.is_valid() || collapse_that_stops_inside(s.text) == slow::collapsed(s.text);
     }},
    {"classify: the rest forgotten",
     [](const sample& s) { return classify_that_forgets_the_rest(s.text) == slow_line(s.text); }},
    {"printable: a word skipped",
     [](const sample& s) { return printable_that_skips_a_word(s.text) == slow_printable(s.text); }},
    {"encode_name: the last escape forgotten",
     [](const sample& s) { return slow_name(s.text).find("\xEE\xBF\xBF") == std::string::npos; }},
    {"decode_name: looks at the first byte only",
     [](const sample& s) {
       return (s.text.find('\xEE') == std::string_view::npos) == (slow_decoded(s.text) == s.text);
     }},
    {"encoding_of: a control byte forgotten",
     [](const sample& s) {
       std::string text(s.text);
       std::ranges::replace(text, '\x1F', 'x');
       return slow_encoding({text, s.valid}) == slow_encoding(s);
     }},
    {"encoding_of: the cut off end refused",
     [](const sample& s) {
       return (slow_encoding(s) == mime::text_encoding::unknown_8bit) ==
              (slow_encoding(s) != mime::text_encoding::none && !s.is_valid());
     }},
    {"count_breaks: blocks of their own",
     [](const sample& s) { return breaks_of_blocks(s.text).pairs == slow_breaks(s.text).pairs; }},
    {"with_line_breaks: every CR goes",
     [](const sample& s) {
       std::string text(s.text);
       std::erase(text, '\r');
       return slow_with_breaks(text, "\n") == slow_with_breaks(s.text, "\n");
     }},
};

TEST(TextSweep, BrokenPathsAreNoticed) {
  EXPECT_EQ(disagreeing(broken_paths).size(), std::size(broken_paths));
}

// --- finding -------------------------------------------------------------------------------------

/// Contents longer than the finder's blocks, of few letters, so that it is often nearly right.
template <class Find> bool finds_as_the_slow_one(Find find) {
  std::mt19937 random(1);
  constexpr std::string_view alphabets[] = {"ab", "aaab", "abcdefgh\n", "e t\xC3\xA9",
                                            "\x80\xFF\0z"};
  for (int round = 0; round < 20'000; ++round) {
    const std::string_view letters = alphabets[random() % std::size(alphabets)];
    std::string content(random() % 400, 'a');
    for (char& c : content)
      c = letters[random() % letters.size()];
    const std::size_t begin = content.empty() ? 0 : random() % content.size();
    std::string wanted = content.substr(begin, 1 + random() % (round % 2 == 0 ? 5 : 90));
    if (wanted.empty()) wanted = "x";
    if (random() % 4 == 0) wanted[random() % wanted.size()] = letters[random() % letters.size()];
    const std::size_t from = random() % 3 == 0 ? random() % (content.size() + 1) : 0;
    if (find(content, wanted, from) != slow_find(content, wanted, from)) return false;
  }
  return true;
}

TEST(TextSweep, TheFinderFindsWhatALoopFinds) {
  EXPECT_TRUE(finds_as_the_slow_one(
      [](std::string_view content, std::string_view wanted, std::size_t from) {
        return detail::text_finder(wanted).find(content, from);
      }));
  EXPECT_FALSE(finds_as_the_slow_one( // misses what lies across the border of two blocks
      [](std::string_view content, std::string_view wanted, std::size_t from) {
        const std::size_t at = content.find(wanted, from);
        const bool across =
            at != std::string_view::npos && at / 64 != (at + wanted.size() - 1) / 64;
        return across ? content.find(wanted, at + 1) : at;
      }));
}

} // namespace
} // namespace paddock
