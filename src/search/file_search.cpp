// SPDX-License-Identifier: MIT
#include "search/file_search.hpp"

#include "base/out_of_memory.hpp"
#include "search/line_matcher.hpp"
#include "search/work_pace.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/text/detail/line_breaks.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

namespace {

/// Read at once: it stays in the processor's cache while it is searched.
constexpr std::size_t part_bytes = 256 * 1024;
/// Buffers that are larger are counted against the memory that all calls share.
constexpr std::size_t bytes_worth_counting = 1024 * 1024;
constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

bool has_nul(std::string_view text) {
  return !text.empty() && std::memchr(text.data(), '\0', text.size()) != nullptr;
}

} // namespace

result<void> file_parts::open(int directory, const char* name) {
  PADDOCK_TRY(file_, sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  PADDOCK_TRY(const auto status, root_.mounts() == mounts::refuse ? sys::status_at(file_.get(), "")
                                                                  : sys::fstat(file_.get()));
  if (status.kind != entry_kind::file) return error{error_code::not_regular, 0, "search"};
  PADDOCK_CHECK(root_.check_entered(file_.get(), status));
  expected_ = status.size;
  mark_ = utf16_mark::none;
  decoded_.clear();
  read_ = size_ = 0;
  text_ = {};
  is_at_end_ = is_binary_ = false;
  return {};
}

result<void> file_parts::next(std::size_t kept) {
  if (mark_ != utf16_mark::none) return next_decoded(kept);
  if (size_ > 0) {
    const auto dropped = static_cast<std::size_t>(text_.data() - buffer_.data()) + kept;
    std::memmove(buffer_.data(), buffer_.data() + dropped, size_ - dropped);
    size_ -= dropped;
  }
  const bool is_first = read_ == 0;
  std::size_t wanted = std::max(part_bytes, 2 * size_); // half of it at least is new
  for (bool has_line = false; !has_line && !is_at_end_; wanted *= 2) {
    const std::size_t before = size_;
    // One byte more than there should be tells whether the file has grown.
    const auto all = static_cast<std::size_t>(size_ + expected_ - read_ + 1);
    if (read_ <= expected_ && all < wanted) wanted = all;
    PADDOCK_CHECK(fill(wanted));
    const std::string_view added = std::string_view(buffer_).substr(before, size_ - before);
    if (is_first && before == 0 && (mark_ = utf16_mark_of(added)) != utf16_mark::none)
      return next_decoded(0);
    is_binary_ = has_nul(added);
    has_line = is_binary_ || added.find('\n') != std::string_view::npos;
    if (!has_line) PADDOCK_CHECK(check_line(size_));
  }
  text_ = std::string_view(buffer_).substr(0, size_);
  if (!is_at_end_) text_ = text_.substr(0, text_.rfind('\n') + 1);
  if (is_first && text_.starts_with(utf8_mark)) text_.remove_prefix(utf8_mark.size());
  return {};
}

result<void> file_parts::next_decoded(std::size_t kept) {
  std::size_t skipped = decoded_.empty() && text_.empty() ? utf16_mark_bytes : 0;
  if (skipped == 0) decoded_.erase(0, kept);
  while (true) {
    const std::size_t before = decoded_.size();
    PADDOCK_CHECK(decode(std::exchange(skipped, 0)));
    const std::string_view added = std::string_view(decoded_).substr(before);
    is_binary_ = has_nul(added);
    if (is_at_end_ || is_binary_ || added.find('\n') != std::string_view::npos) break;
    PADDOCK_CHECK(check_line(decoded_.size()));
    PADDOCK_CHECK(fill(part_bytes));
  }
  text_ = decoded_;
  if (!is_at_end_) text_ = text_.substr(0, text_.rfind('\n') + 1);
  return {};
}

result<void> file_parts::check_line(std::size_t bytes) const {
  if (bytes > options_.line_bytes_max) return error{error_code::too_large, 0, "search"};
  return {};
}

result<void> file_parts::fill(std::size_t wanted) {
  while (size_ < wanted && !is_at_end_) {
    if (wanted > buffer_.size()) {
      const std::size_t larger = std::max(wanted, part_bytes);
      PADDOCK_CHECK(count_buffer(larger, counted_));
      buffer_.resize(larger);
    }
    PADDOCK_TRY(const std::size_t n,
                sys::read(file_.get(), std::span(buffer_).subspan(size_, wanted - size_)));
    is_at_end_ = n == 0 || (read_ + n == expected_ && n < wanted - size_);
    size_ += n;
    read_ += n;
  }
  return {};
}

result<void> file_parts::decode(std::size_t skipped) {
  std::string_view bytes = std::string_view(buffer_).substr(skipped, size_ - skipped);
  const std::size_t most = decoded_.size() + bytes.size() / 2 * 3; // of a unit above U+07FF
  if (most > decoded_.capacity()) {
    const std::size_t larger = std::max(most, 2 * decoded_.size());
    PADDOCK_CHECK(count_buffer(larger, decoded_counted_));
    decoded_.reserve(larger);
  }
  // Before the end two units are looked at, which may be halves of one character.
  while (bytes.size() >= (is_at_end_ ? 2u : 4u)) {
    const detail::utf16_character found = detail::first_utf16(bytes, mark_);
    detail::append_utf8(decoded_, found.is_half() ? char32_t{0xFFFD} : found.code);
    bytes.remove_prefix(found.size);
  }
  std::memmove(buffer_.data(), bytes.data(), bytes.size());
  size_ = bytes.size();
  return {};
}

result<void> file_parts::count_buffer(std::size_t bytes, std::uint64_t& counted) {
  if (bytes <= bytes_worth_counting || bytes <= counted) return {};
  PADDOCK_CHECK(memory_.grow(bytes - counted, options_.bounds));
  counted = bytes;
  return {};
}

void file_parts::close() noexcept {
  file_ = {};
  if (buffer_.size() > bytes_worth_counting) buffer_ = {};
  if (decoded_.capacity() > bytes_worth_counting) decoded_ = {};
}

namespace {

constexpr std::size_t not_found = std::string_view::npos;
constexpr std::size_t line_bytes = 2 * sizeof(found_line);
/// Of a line that is cut, what is shown before the match.
constexpr std::size_t characters_before_match = 100;

/// So many characters further. A byte that is part of no valid one counts as one: a run of such
/// bytes is cut like any other text.
std::size_t forward(std::string_view line, std::size_t at, std::uint64_t characters) {
  for (; at < line.size() && characters > 0; --characters)
    at += detail::first_sequence(line.substr(at)).size;
  return at;
}

std::size_t backward(std::string_view line, std::size_t at, std::uint64_t characters) {
  for (; at > 0 && characters > 0; --characters) {
    std::size_t size = std::min<std::size_t>(at, 4);
    while (size > 1 && detail::first_sequence(line.substr(at - size, size)).size != size)
      --size;
    at -= size;
  }
  return at;
}

found_line shown(std::string_view line, std::size_t match, std::uint64_t number, bool context,
                 std::uint64_t characters_max) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  found_line made{.line_number = number, .text = {}, .context = context};
  if (line.size() > characters_max) {
    std::size_t begin = backward(line, std::min(match, line.size()), characters_before_match);
    const std::size_t end = forward(line, begin, characters_max);
    if (begin > 0 && end == line.size()) begin = backward(line, end, characters_max); // has room
    made.cut = begin > 0 || end < line.size();
    line = line.substr(begin, end - begin);
  }
  made.text = line;
  return made;
}

/// Where the line before the one that begins at `begin` begins. Precondition: there is one.
std::size_t line_before(std::string_view text, std::size_t begin) {
  const std::size_t newline = begin < 2 ? not_found : text.rfind('\n', begin - 2);
  return newline == not_found ? 0 : newline + 1;
}

} // namespace

/// Makes the lines of one file, the matching ones and what is around them, each once. The file may
/// come in parts, which end with lines: each function is given the part that is at hand, and
/// positions are those in it.
class shown_lines {
public:
  shown_lines(const search_options& options, std::vector<found_line>& lines)
      : options_(options), lines_(lines) {}

  void add(std::string_view text, const matched_line& match) {
    add_after(text, match.begin);
    std::vector<std::size_t> before;
    for (std::size_t begin = match.begin; begin > next_ && before.size() < options_.before;) {
      begin = line_before(text, begin);
      if (begin >= next_) before.push_back(begin);
    }
    for (std::size_t i = before.size(); i-- > 0;)
      show(text, before[i], 0, true);
    show(text, match.begin, match.match - match.begin, false);
    after_ = options_.after;
  }
  /// Adds what comes after the last match, up to `end`.
  void add_after(std::string_view text, std::size_t end) {
    for (; after_ > 0 && next_ < end && next_ < text.size(); --after_)
      show(text, next_, 0, true);
  }
  /// Where the lines begin that may still be shown before a match behind the end of `text`.
  [[nodiscard]] std::size_t needed_from(std::string_view text) const {
    std::size_t begin = text.size();
    for (std::uint64_t lines = 0; lines < options_.before && begin > next_; ++lines)
      begin = line_before(text, begin);
    return begin;
  }
  /// The next part begins where this one has `begin`; at most `needed_from`.
  void move_on(std::string_view text, std::size_t begin) {
    count_up_to(text, begin);
    counted_ -= begin;
    next_ = next_ > begin ? next_ - begin : 0;
  }

  /// What the lines hold that were added since it was asked.
  std::size_t take_bytes() noexcept { return std::exchange(bytes_, 0); }

private:
  void show(std::string_view text, std::size_t begin, std::size_t match, bool context) {
    count_up_to(text, begin);
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == not_found ? text.size() : newline;
    lines_.push_back(shown(text.substr(begin, end - begin), match, number_, context,
                           options_.line_characters_max));
    bytes_ += line_bytes + lines_.back().text.size();
    next_ = newline == not_found ? text.size() : newline + 1;
  }
  void count_up_to(std::string_view text, std::size_t end) {
    if (end <= counted_) return;
    number_ += detail::count_breaks(text.substr(counted_, end - counted_)).all;
    counted_ = end;
  }

  const search_options& options_;
  std::vector<found_line>& lines_;
  std::size_t next_ = 0;     ///< behind the last line that was shown
  std::size_t counted_ = 0;  ///< line breaks are counted up to here
  std::uint64_t number_ = 1; ///< of the line there
  std::uint64_t after_ = 0;  ///< lines of context that are still wanted
  std::size_t bytes_ = 0;    ///< of the lines that were added
};

namespace {

/// What is kept is counted in steps of this, and with the room that a vector has.
constexpr std::size_t kept_bytes_counted_at_once = 256 * 1024;
/// Lines that do not match between two looks at the bounds.
constexpr std::uint64_t look_lines = 64 * 1024;

} // namespace

result<void> file_search::keep(std::uint64_t bytes) {
  if ((kept_ += bytes) < kept_bytes_counted_at_once) return {};
  return memory_.grow(std::exchange(kept_, 0), options_.bounds);
}

result<void> file_search::match(std::string_view text, std::size_t from, std::uint64_t lines_max,
                                shown_lines& lines, std::uint64_t& count) {
  const auto take = [&](const matched_line& line) -> result<void> {
    if (count++ >= lines_max) return {};
    lines.add(text, line);
    return keep(lines.take_bytes());
  };
  work_pace pace(options_.bounds, look_lines);
  while (true) {
    PADDOCK_TRY(const auto line, matcher_.next(text, from, options_.bounds));
    if (options_.lines == wanted_lines::not_matching) {
      const std::size_t end = line ? line->begin : text.size();
      for (std::size_t newline = from; from < end; from = newline + 1) {
        newline = std::min(text.find('\n', from), text.size());
        PADDOCK_CHECK(take({.begin = from, .end = newline, .match = from}));
        if (!pace()) return pace.within();
      }
    } else if (line) {
      PADDOCK_CHECK(take(*line));
    }
    if (!line) break;
    from = line->end + 1;
  }
  lines.add_after(text, text.size());
  return keep(lines.take_bytes());
}

result<void> file_search::search_parts(std::uint64_t lines_max, file_outcome& outcome) {
  shown_lines lines(options_, outcome.lines);
  for (std::size_t kept = 0; !parts_.is_at_end();) {
    const std::size_t known = parts_.text().size() - kept;
    if (const auto read = parts_.next(kept); !read) {
      const error_code code = read.error().code;
      if (code == error_code::timed_out || code == error_code::cancelled) return read.error();
      outcome = unread(read.error());
      return {};
    }
    if (parts_.is_binary()) {
      outcome = {.verdict = file_verdict::binary};
      return {};
    }
    PADDOCK_CHECK(match(parts_.text(), known, lines_max, lines, outcome.count));
    kept = lines.needed_from(parts_.text());
    lines.move_on(parts_.text(), kept);
  }
  outcome.bytes = parts_.bytes();
  return {};
}

file_outcome file_search::unread(const error& why) {
  return {.verdict = why.code == error_code::too_large ? file_verdict::too_large
                                                       : file_verdict::unreadable,
          .why = why.code,
          .no_memory = refused_memory(why)};
}

result<file_outcome> file_search::search(int directory, const char* name, std::uint64_t lines_max) {
  PADDOCK_CHECK(options_.bounds.check());
  if (const auto open = parts_.open(directory, name); !open) return unread(open.error());
  file_outcome outcome;
  const auto searched = search_parts(lines_max, outcome);
  parts_.close();
  PADDOCK_CHECK(searched);
  return outcome;
}

void keep_matches(std::vector<found_line>& lines, std::uint64_t first, std::uint64_t end,
                  const search_options& options) {
  std::vector<std::uint64_t> kept; // line numbers
  std::uint64_t index = 0;
  for (found_line& line : lines) {
    if (line.context) continue;
    if (index >= first && index < end)
      kept.push_back(line.line_number);
    else
      line.context = true;
    ++index;
  }
  std::erase_if(lines, [&](const found_line& line) {
    if (!line.context) return false;
    const auto after = std::ranges::lower_bound(kept, line.line_number);
    const bool before_match = after != kept.end() && *after - line.line_number <= options.before;
    const bool behind_match =
        after != kept.begin() && line.line_number - *(after - 1) <= options.after;
    return !before_match && !behind_match;
  });
}

} // namespace paddock
