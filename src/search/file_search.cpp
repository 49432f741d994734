// SPDX-License-Identifier: MIT
#include "search/file_search.hpp"

#include "base/out_of_memory.hpp"
#include "search/work_pace.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/text/detail/line_breaks.hpp>
#include <paddock/text/utf16.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace paddock {
namespace {

constexpr std::size_t npos = std::string_view::npos;
/// Buffers that are larger are counted against the memory that all calls share.
constexpr std::size_t bytes_worth_counting = 1024 * 1024;
/// What is kept is counted in smaller steps than that, and with the room that a vector has.
constexpr std::size_t kept_bytes_counted_at_once = 256 * 1024;
/// Lines that do not match between two looks at the bounds.
constexpr std::uint64_t look_lines = 64 * 1024;
constexpr std::size_t line_bytes = 2 * sizeof(found_line);
/// Of a line that is cut, what is shown before the match.
constexpr std::size_t characters_before_match = 100;

/// UTF-16 as UTF-8; a surrogate without its other half becomes U+FFFD.
void decode_utf16(std::string_view bytes, utf16_mark mark, std::string& out) {
  while (bytes.size() >= 2) {
    const detail::utf16_character found = detail::first_utf16(bytes, mark);
    detail::append_utf8(out, found.is_half() ? char32_t{0xFFFD} : found.code);
    bytes.remove_prefix(found.size);
  }
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// So many characters further; bytes that are no UTF-8 count as they come.
std::size_t forward(std::string_view line, std::size_t at, std::uint64_t characters) {
  for (; at < line.size() && characters > 0; --characters) {
    ++at;
    while (at < line.size() && is_continuation(line[at]))
      ++at;
  }
  return at;
}

found_line shown(std::string_view line, std::size_t match, std::uint64_t number, bool context,
                 std::uint64_t characters_max) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  found_line made{.line = number, .text = {}, .context = context};
  if (line.size() > characters_max) {
    std::size_t begin = std::min(match, line.size());
    for (std::size_t back = 0;
         begin > 0 && (back < characters_before_match || is_continuation(line[begin]));) {
      --begin;
      if (!is_continuation(line[begin])) ++back;
    }
    std::size_t end = forward(line, begin, characters_max);
    if (begin > 0 && end == line.size()) { // room is left: begin earlier
      std::size_t all = 0;
      for (begin = line.size(); begin > 0 && all < characters_max;)
        if (!is_continuation(line[--begin])) ++all;
    }
    made.cut = begin > 0 || end < line.size();
    line = line.substr(begin, end - begin);
  }
  made.text = line;
  return made;
}

/// Where the line before the one that begins at `begin` begins. Precondition: there is one.
std::size_t line_before(std::string_view text, std::size_t begin) {
  const std::size_t newline = begin < 2 ? npos : text.rfind('\n', begin - 2);
  return newline == npos ? 0 : newline + 1;
}

/// Makes the lines of a file that are returned: matches and what is around them, each once.
class shown_lines {
public:
  shown_lines(std::string_view text, const search_options& options, std::vector<found_line>& lines)
      : text_(text), options_(options), lines_(lines) {}

  void add(const matched_line& match) {
    add_after(match.begin);
    std::vector<std::size_t> before;
    for (std::size_t begin = match.begin; begin > next_ && before.size() < options_.before;) {
      begin = line_before(text_, begin);
      if (begin >= next_) before.push_back(begin);
    }
    for (std::size_t i = before.size(); i-- > 0;)
      show(before[i], 0, true);
    show(match.begin, match.match - match.begin, false);
    after_ = options_.after;
  }
  /// What the lines hold that were added since it was asked.
  std::size_t take_bytes() noexcept { return std::exchange(bytes_, 0); }
  /// Adds what comes after the last match, up to `end`.
  void add_after(std::size_t end) {
    for (; after_ > 0 && next_ < end && next_ < text_.size(); --after_)
      show(next_, 0, true);
  }

private:
  void show(std::size_t begin, std::size_t match, bool context) {
    number_ += detail::count_breaks(text_.substr(counted_, begin - counted_)).all;
    counted_ = begin;
    const std::size_t newline = text_.find('\n', begin);
    const std::size_t end = newline == npos ? text_.size() : newline;
    lines_.push_back(shown(text_.substr(begin, end - begin), match, number_, context,
                           options_.line_characters_max));
    bytes_ += line_bytes + lines_.back().text.size();
    next_ = newline == npos ? text_.size() : newline + 1;
  }

  std::string_view text_;
  const search_options& options_;
  std::vector<found_line>& lines_;
  std::size_t next_ = 0;     ///< behind the last line that was shown
  std::size_t counted_ = 0;  ///< line breaks are counted up to here
  std::uint64_t number_ = 1; ///< of the line there
  std::uint64_t after_ = 0;  ///< lines of context that are still wanted
  std::size_t bytes_ = 0;    ///< of the lines that were added
};

} // namespace

result<std::string_view> file_search::read(int directory, const char* name) {
  PADDOCK_TRY(const auto fd,
              sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  PADDOCK_TRY(const auto status, root_.mounts() == mounts::refuse ? sys::status_at(fd.get(), "")
                                                                  : sys::fstat(fd.get()));
  if (status.kind != entry_kind::file) return error{error_code::not_regular, 0, "search"};
  PADDOCK_CHECK(root_.check_entered(fd.get(), status));
  const std::uint64_t bytes_max = options_.file_bytes_max;
  if (status.size > bytes_max) return error{error_code::too_large, 0, "search"};
  std::size_t size = 0;
  // One byte more than there should be tells whether it has grown.
  for (std::size_t wanted = static_cast<std::size_t>(status.size) + 1;;) {
    if (wanted > buffer_.size()) {
      const std::size_t larger = std::max(wanted, 2 * buffer_.size());
      PADDOCK_CHECK(count_buffer(larger, counted_));
      buffer_.resize(larger);
    }
    PADDOCK_TRY(const std::size_t n,
                sys::read(fd.get(), std::span(buffer_).subspan(size, wanted - size)));
    size += n;
    if (n == 0 || (size == status.size && n < wanted)) break;
    if (size > bytes_max) return error{error_code::too_large, 0, "search"};
    if (size == wanted) wanted = std::min<std::size_t>(2 * wanted, bytes_max + 1);
  }
  return std::string_view(buffer_).substr(0, size);
}

result<void> file_search::count_buffer(std::size_t bytes, std::uint64_t& counted) {
  if (bytes <= bytes_worth_counting || bytes <= counted) return {};
  PADDOCK_CHECK(memory_.grow(bytes - counted, options_.bounds));
  counted = bytes;
  return {};
}

result<void> file_search::keep(std::uint64_t bytes) {
  if ((kept_ += bytes) < kept_bytes_counted_at_once) return {};
  return memory_.grow(std::exchange(kept_, 0), options_.bounds);
}

/// The text of a file in UTF-8, without its byte order mark.
result<std::string_view> file_search::as_text(std::string_view bytes) {
  if (const utf16_mark mark = utf16_mark_of(bytes); mark != utf16_mark::none) {
    const std::size_t most = bytes.size() / 2 * 3; // of a unit above U+07FF
    PADDOCK_CHECK(count_buffer(most, decoded_counted_));
    decoded_.clear();
    decoded_.reserve(most);
    decode_utf16(bytes.substr(utf16_mark_bytes), mark, decoded_);
    return std::string_view(decoded_);
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  return bytes;
}

result<void> file_search::match(std::string_view text, std::uint64_t lines_max,
                                file_outcome& outcome) {
  shown_lines lines(text, options_, outcome.lines);
  const auto take = [&](const matched_line& line) -> result<void> {
    if (outcome.count++ >= lines_max) return {};
    lines.add(line);
    return keep(lines.take_bytes());
  };
  work_pace pace(options_.bounds, look_lines);
  std::size_t from = 0;
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
  lines.add_after(text.size());
  return keep(lines.take_bytes());
}

result<file_outcome> file_search::search(int directory, const char* name, std::uint64_t lines_max) {
  PADDOCK_CHECK(options_.bounds.check());
  file_outcome outcome;
  const auto content = read(directory, name);
  const auto decoded = content ? as_text(*content) : content;
  if (!decoded) {
    const error_code code = decoded.error().code;
    if (code == error_code::timed_out || code == error_code::cancelled) return decoded.error();
    outcome.why = code;
    outcome.no_memory = refused_memory(decoded.error());
    outcome.verdict =
        code == error_code::too_large ? file_verdict::too_large : file_verdict::unreadable;
    return outcome;
  }
  const std::string_view text = *decoded;
  outcome.bytes = content->size();
  if (!text.empty() && std::memchr(text.data(), '\0', text.size()) != nullptr) {
    outcome.verdict = file_verdict::binary;
    outcome.bytes = 0;
    return outcome;
  }
  PADDOCK_CHECK(match(text, lines_max, outcome));
  return outcome;
}

void keep_matches(std::vector<found_line>& lines, std::uint64_t first, std::uint64_t end,
                  const search_options& options) {
  std::vector<std::uint64_t> kept; // line numbers
  std::uint64_t index = 0;
  for (found_line& line : lines) {
    if (line.context) continue;
    if (index >= first && index < end)
      kept.push_back(line.line);
    else
      line.context = true;
    ++index;
  }
  std::erase_if(lines, [&](const found_line& line) {
    if (!line.context) return false;
    const auto after = std::ranges::lower_bound(kept, line.line);
    const bool before_match = after != kept.end() && *after - line.line <= options.before;
    const bool behind_match = after != kept.begin() && line.line - *(after - 1) <= options.after;
    return !before_match && !behind_match;
  });
}

} // namespace paddock
