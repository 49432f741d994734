// SPDX-License-Identifier: MIT

#include "text/text_pace.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/text/detail/lines.hpp>
#include <paddock/text/detail/text_matches.hpp>
#include <paddock/text/near_miss.hpp>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <map>
#include <vector>

namespace paddock {
namespace {

[[nodiscard]] constexpr bool is_white_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

void add_without_white_space(std::string& out, std::string_view text) {
  for (const char c : text)
    if (!is_white_space(c)) out += c;
}

/// What looks like a character of ASCII, as that one; what is not seen, and white space, as
/// nothing.
void add_looks(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const detail::utf8_sequence first = detail::first_sequence(text);
    const std::string_view sequence = text.substr(0, first.size);
    text.remove_prefix(first.size);
    if (first.size == 1) {
      if (!is_white_space(sequence.front())) out += sequence;
      continue;
    }
    const char32_t c = detail::code_point(sequence);
    const bool is_unseen = c == 0xA0 || (c >= 0x2000 && c <= 0x200D) || c == 0x202F ||
                           c == 0x2060 || c == 0x3000 || c == 0xFEFF;
    if (is_unseen) continue;
    if (c >= 0x2018 && c <= 0x201B)
      out += '\'';
    else if (c >= 0x201C && c <= 0x201F)
      out += '"';
    else if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212)
      out += '-';
    else
      out += sequence;
  }
}

[[nodiscard]] bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

[[nodiscard]] constexpr std::string_view trimmed(std::string_view line) noexcept {
  while (!line.empty() && is_white_space(line.front()))
    line.remove_prefix(1);
  while (!line.empty() && is_white_space(line.back()))
    line.remove_suffix(1);
  return line;
}

[[nodiscard]] constexpr bool is_white_character(std::string_view sequence) noexcept {
  if (sequence.size() == 1) return is_white_space(sequence.front());
  const char32_t c = detail::code_point(sequence);
  return c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x3000;
}

/// Goes once through a content of which `add` leaves less, to tell where its blanks were.
class squeezed_places {
public:
  using squeeze = void (*)(std::string& out, std::string_view text);
  squeezed_places(std::string_view content, squeeze add) : rest_(content), add_(add) {}

  /// Whether a blank, or an end of the content, precedes the byte `at` of what is left. No `at` is
  /// less than the one before.
  [[nodiscard]] bool has_blank_before(std::size_t at) {
    while (passed_ < at && !rest_.empty())
      passed_ += left_of_first().size();
    if (at == 0) return true;
    while (!rest_.empty()) {
      const std::string_view before = rest_;
      if (!left_of_first().empty()) {
        rest_ = before;
        return false;
      }
      if (is_white_character(before.substr(0, before.size() - rest_.size()))) return true;
    }
    return true;
  }

private:
  const std::string& left_of_first() {
    const std::string_view sequence = rest_.substr(0, detail::first_sequence(rest_).size);
    rest_.remove_prefix(sequence.size());
    left_.clear();
    add_(left_, sequence);
    return left_;
  }

  std::string_view rest_;
  const squeeze add_;
  std::size_t passed_ = 0; ///< bytes that were left
  std::string left_;
};

[[nodiscard]] constexpr bool is_of_word(char c) noexcept {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Whether no word goes on across an end of the text in `content` that begins at `at`.
[[nodiscard]] constexpr bool has_whole_words(std::string_view content, std::size_t at,
                                             std::size_t size) noexcept {
  const auto goes_on = [&](std::size_t i) {
    return i > 0 && i < content.size() && is_of_word(content[i - 1]) && is_of_word(content[i]);
  };
  return !goes_on(at) && !goes_on(at + size);
}

/// Some lines of a content.
struct line_span {
  std::size_t begin = 0, count = 0;
};

/// Finds places in one content; none any more once the work is not wanted.
class near_places {
public:
  near_places(std::string_view content, std::string_view old_text, text_pace& pace)
      : lines_(lines_of(content)), old_lines_(lines_of(old_text)), content_(content),
        old_text_(old_text), pace_(pace) {}

  /// Where all but the white space is the same.
  [[nodiscard]] std::optional<line_span> of_other_white_space() const {
    return of_squeezed(add_without_white_space, edge::divides_words);
  }

  /// Where all but that is the same, and what only looks like something else.
  [[nodiscard]] std::optional<line_span> of_look_alike() const {
    if (is_ascii(content_) && is_ascii(old_text_)) return std::nullopt;
    return of_squeezed(add_looks, edge::divides_words);
  }

  /// Where all but the white space is the same, and words may go on.
  [[nodiscard]] std::optional<line_span> of_parts() const {
    return of_squeezed(add_without_white_space, edge::may_be_anywhere);
  }

  /// Where `text` stands, by whole words, that is long enough to mean something.
  [[nodiscard]] std::optional<line_span> of(std::string_view text) const {
    constexpr std::size_t bytes_min = 8;
    std::string seen;
    add_without_white_space(seen, text.substr(0, detail::wanted_step_bytes));
    if (seen.size() < bytes_min) return std::nullopt;
    std::size_t first = std::string_view::npos;
    const auto note = [&](std::size_t offset, std::size_t size) {
      if (has_whole_words(content_, offset, size)) first = std::min(first, offset);
    };
    const auto wanted = [&] { return first == std::string_view::npos && pace_.ask(); };
    (void)detail::for_each_match(content_, text, note, wanted);
    if (first == std::string_view::npos) return std::nullopt;
    const std::size_t line = detail::count_breaks(content_.substr(0, first)).all;
    return line_span{line, lines_of(text).size()};
  }

  /// Where the most lines are the same; else where one is nearly the same as the longest.
  [[nodiscard]] std::optional<line_span> of_similar() const {
    const auto by_lines = most_votes();
    const auto begin = by_lines ? by_lines : like_the_longest();
    if (!begin || pace_.is_over()) return std::nullopt;
    const std::size_t first = *begin < 0 ? 0 : static_cast<std::size_t>(*begin);
    return line_span{first, std::min(old_lines_.size(), lines_.size() - first)};
  }

  [[nodiscard]] near_miss describe(near_miss_kind kind, const line_span& place) const {
    near_miss out{
        .kind = kind, .line_index = place.begin, .found = {}, .wanted = {}, .wanted_line_index = 0};
    const std::size_t end = std::min(place.begin + place.count, lines_.size());
    for (std::size_t i = place.begin; i < end && out.found.size() < out.found_bytes_max; ++i)
      out.found += lines_[i];
    if (out.found.size() > out.found_bytes_max)
      out.found.resize(detail::truncate_to_valid_prefix(
                           std::string_view(out.found).substr(0, out.found_bytes_max))
                           .size());
    if (kind == near_miss_kind::already_applied) return out;
    for (std::size_t i = 0; i < old_lines_.size(); ++i) {
      const std::size_t line = place.begin + i;
      if (line < end && without_end(lines_[line]) == without_end(old_lines_[i])) continue;
      out.wanted = detail::truncate_to_valid_prefix(
          without_end(old_lines_[i]).substr(0, out.found_bytes_max));
      out.wanted_line_index = line;
      break;
    }
    return out;
  }

private:
  static constexpr std::size_t letters_min = 3; ///< of a line that means something
  /// What a blank at an end of the old text is.
  enum class edge : std::uint8_t { divides_words, may_be_anywhere };

  /// Where the old text is in what `add` leaves of both.
  [[nodiscard]] std::optional<line_span> of_squeezed(squeezed_places::squeeze add,
                                                     edge at_ends) const {
    std::string wanted, squeezed;
    for (const std::string_view line : old_lines_) {
      if (!pace_.go_on(line.size())) return std::nullopt;
      add(wanted, line);
    }
    if (wanted.empty()) return std::nullopt;
    squeezed.reserve(content_.size());
    std::vector<std::size_t> ends; // of each line
    ends.reserve(lines_.size());
    for (const std::string_view line : lines_) {
      if (!pace_.go_on(line.size())) return std::nullopt;
      add(squeezed, line);
      ends.push_back(squeezed.size());
    }
    if (!pace_.ask()) return std::nullopt;
    const std::size_t at = find_between_blanks(squeezed, wanted, add, at_ends);
    if (at == std::string::npos) return std::nullopt;
    const auto line_with = [&](std::size_t offset) {
      return static_cast<std::size_t>(std::ranges::upper_bound(ends, offset) - ends.begin());
    };
    const std::size_t begin = line_with(at);
    return line_span{begin, line_with(at + wanted.size() - 1) - begin + 1};
  }

  /// Blanks at the ends of the old text are blanks there, too, or an end of the content: a word
  /// that goes on is another word.
  [[nodiscard]] std::size_t find_between_blanks(std::string_view squeezed, std::string_view wanted,
                                                squeezed_places::squeeze add, edge at_ends) const {
    const bool divides = at_ends == edge::divides_words;
    const bool begins = divides && is_white_space(old_text_.front());
    const bool ends = divides && is_white_space(old_text_.back());
    squeezed_places places(content_, add);
    const detail::text_finder finder(wanted);
    std::size_t at = finder.find(squeezed, 0);
    while (at != std::string_view::npos) {
      const std::size_t end = at + wanted.size();
      const bool fits =
          (!begins || places.has_blank_before(at)) && (!ends || places.has_blank_before(end));
      if (fits || !pace_.go_on(wanted.size())) break;
      at = finder.find(squeezed, end);
    }
    return pace_.is_over() ? std::string_view::npos : at;
  }

  /// Each line of the content that is one of the old text's votes for where that begins. Lines that
  /// are everywhere say little, and have few votes.
  [[nodiscard]] std::optional<std::ptrdiff_t> most_votes() const {
    constexpr std::size_t votes_max = 64;
    struct voter {
      std::vector<std::size_t> old_lines;
      std::size_t votes = 0;
    };
    std::map<std::string_view, voter> voters; // hostile lines could collide in a table of hashes
    std::size_t meaningful = 0;
    for (std::size_t i = 0; i < old_lines_.size(); ++i) {
      if (!pace_.go_on(old_lines_[i].size())) return std::nullopt;
      const std::string_view line = trimmed(old_lines_[i]);
      if (line.size() < letters_min) continue;
      ++meaningful;
      voter& one = voters[line];
      if (one.old_lines.size() < votes_max) one.old_lines.push_back(i);
    }
    if (voters.empty()) return std::nullopt;
    std::map<std::ptrdiff_t, std::size_t> votes;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!pace_.go_on(lines_[i].size())) return std::nullopt;
      const std::string_view line = trimmed(lines_[i]);
      if (line.size() < letters_min) continue;
      const auto found = voters.find(line);
      if (found == voters.end() || found->second.votes >= votes_max) continue;
      found->second.votes += found->second.old_lines.size();
      for (const std::size_t old_line : found->second.old_lines)
        ++votes[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(old_line)];
    }
    const auto best =
        std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
    if (best == votes.end() || best->second * 3 < meaningful) return std::nullopt;
    return best->first;
  }

  /// A line that begins with most of the longest line of the old text; else the one that has the
  /// most runs of three bytes in common with that.
  [[nodiscard]] std::optional<std::ptrdiff_t> like_the_longest() const {
    std::size_t longest = 0;
    for (std::size_t i = 1; i < old_lines_.size(); ++i)
      if (trimmed(old_lines_[i]).size() > trimmed(old_lines_[longest]).size()) longest = i;
    const std::string_view wanted = trimmed(old_lines_[longest]);
    if (wanted.size() < letters_min) return std::nullopt;
    constexpr double prefix_share_min = 0.75;
    constexpr std::ptrdiff_t prefix_bytes_min = 16;
    std::bitset<std::size_t{1} << 16> runs;
    const std::size_t wanted_runs = for_each_run(wanted, [&](std::size_t run) { runs.set(run); });
    std::optional<std::ptrdiff_t> place;
    double most = 0.5; // of the runs of both
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!pace_.go_on(lines_[i].size())) return std::nullopt;
      const std::string_view line = trimmed(lines_[i]);
      if (line.size() < letters_min) continue;
      std::size_t common = 0;
      const std::size_t all =
          for_each_run(line, [&](std::size_t run) { common += runs.test(run) ? 1U : 0U; });
      const double of_runs = 2.0 * static_cast<double>(std::min(common, wanted_runs)) /
                             static_cast<double>(all + wanted_runs);
      const auto prefix = std::ranges::mismatch(line, wanted).in1 - line.begin();
      const double of_prefix = static_cast<double>(prefix) / static_cast<double>(wanted.size());
      const bool begins = prefix >= prefix_bytes_min && of_prefix >= prefix_share_min;
      const double share = begins ? 1 + of_prefix : of_runs;
      if (share <= most) continue;
      most = share;
      place = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(longest);
    }
    return place;
  }

  template <class Use> static std::size_t for_each_run(std::string_view line, const Use& use) {
    constexpr std::uint32_t spread = 2654435761U; // 2^32 / the golden ratio
    const auto byte = [&](std::size_t i) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(line[i]));
    };
    for (std::size_t i = 2; i < line.size(); ++i)
      use(((byte(i - 2) << 16 | byte(i - 1) << 8 | byte(i)) * spread) >> 16);
    return line.size() - 2;
  }

  std::vector<std::string_view> lines_, old_lines_;
  std::string_view content_, old_text_;
  text_pace& pace_;
};

} // namespace

std::optional<near_miss> nearest(std::string_view content, std::string_view old_text,
                                 std::string_view new_text, detail::function_view<bool()> wanted) {
  text_pace pace(wanted);
  if (old_text.empty() || content.empty() || !pace.ask()) return std::nullopt;
  const near_places places(content, old_text, pace);
  const auto done = places.of(new_text);
  const auto other_white_space = places.of_other_white_space();
  if (pace.is_over()) return std::nullopt;
  // An edit of white space alone that was made finds its new text both ways.
  const bool is_done =
      done &&
      (!other_white_space || (other_white_space->begin < done->begin + done->count &&
                              done->begin < other_white_space->begin + other_white_space->count));
  if (is_done) return places.describe(near_miss_kind::already_applied, *done);
  if (other_white_space) return places.describe(near_miss_kind::white_space, *other_white_space);
  if (const auto look_alike = places.of_look_alike()) {
    near_miss found = places.describe(near_miss_kind::similar, *look_alike);
    found.looks_alike = true;
    return found;
  }
  if (const auto similar = places.of_similar())
    return places.describe(near_miss_kind::similar, *similar);
  if (const auto part = places.of_parts()) return places.describe(near_miss_kind::similar, *part);
  return std::nullopt;
}

} // namespace paddock
