// SPDX-License-Identifier: MIT
#include "search/line_matcher.hpp"

#include "sys/syscall.hpp"

#include <algorithm>

#if PADDOCK_HAVE_RE2
#include <re2/re2.h>
#else
namespace re2 {
class RE2 {};
} // namespace re2
#endif

namespace paddock {
namespace {

constexpr std::size_t npos = std::string_view::npos;

/// Given to the expression at once, and what is left of it for a slow one.
constexpr std::size_t slice_bytes = 64 * 1024, slow_slice_bytes = 4 * 1024;
/// The instructions of a program that is given whole slices. At worst each is run for each byte, so
/// a larger program is given less.
constexpr std::size_t whole_slice_program = 2000;
/// An expression that takes longer for a slice is slow.
constexpr std::int64_t slow_ms = 20;
/// A slow expression is not given longer lines.
constexpr std::size_t slow_line_bytes = 256 * 1024;
/// Between two looks at the bounds, and what each search takes beside its bytes.
constexpr std::uint64_t look_bytes = 64 * 1024, search_bytes = 64;

matched_line line_around(std::string_view text, std::size_t from, std::size_t match) {
  const std::size_t before = match == 0 ? npos : text.rfind('\n', match - 1);
  const std::size_t end = text.find('\n', match);
  return {.begin = before == npos || before < from ? from : before + 1,
          .end = end == npos ? text.size() : end,
          .match = match};
}

} // namespace

line_matcher::line_matcher(const text_pattern::prepared& pattern)
    : pattern_(pattern), slice_(slice_bytes) {
#if PADDOCK_HAVE_RE2
  if (pattern.expression.empty()) return;
  re2::RE2::Options options;
  options.set_case_sensitive(pattern.letters == letter_case::exact);
  options.set_never_nl(true);
  options.set_log_errors(false);
  expression_ = std::make_unique<re2::RE2>(pattern.expression, options);
  const auto size = static_cast<std::size_t>(std::max(expression_->ProgramSize(), 1));
  if (size > whole_slice_program)
    slice_ = std::max(slice_bytes * whole_slice_program / size, 2 * slow_slice_bytes);
#endif
}

line_matcher::~line_matcher() = default;

std::optional<std::size_t> line_matcher::find_in(std::string_view text, std::size_t from,
                                                 std::size_t end) {
#if PADDOCK_HAVE_RE2
  re2::StringPiece found;
  const std::size_t begin = pattern_.lines_apart ? from : 0;
  const re2::StringPiece all(text.data() + begin,
                             (pattern_.lines_apart ? end : text.size()) - begin);
  if (!expression_->Match(all, from - begin, end - begin, re2::RE2::UNANCHORED, &found, 1))
    return std::nullopt;
  return static_cast<std::size_t>(found.data() - text.data());
#else
  static_cast<void>(text), static_cast<void>(from), static_cast<void>(end);
  return std::nullopt;
#endif
}

bool line_matcher::is_slow(std::string_view text, std::size_t from, std::size_t end) {
  const std::int64_t began = sys::thread_time_ms();
  static_cast<void>(find_in(text, from, end));
  return sys::thread_time_ms() - began > slow_ms;
}

result<void> line_matcher::look_after(std::uint64_t bytes, const work_bounds& bounds) {
  if ((since_look_ += bytes + search_bytes) < look_bytes) return {};
  since_look_ = 0;
  return bounds.check();
}

result<std::optional<matched_line>> line_matcher::next(std::string_view text, std::size_t from,
                                                       const work_bounds& bounds) {
  return pattern_.literals ? next_by_literals(text, from, bounds)
                           : next_by_expression(text, from, bounds);
}

result<std::optional<matched_line>>
line_matcher::next_by_literals(std::string_view text, std::size_t from, const work_bounds& bounds) {
  while (from < text.size()) {
    const std::size_t literal = pattern_.literals->find(text, from);
    if (literal == npos) break;
    const matched_line line = line_around(text, from, literal);
    PADDOCK_CHECK(look_after(line.end - from, bounds));
    if (!expression_) return std::optional(line);
    PADDOCK_TRY(const auto found, next_by_expression(text.substr(0, line.end), line.begin, bounds));
    if (found) return found;
    from = line.end + 1;
  }
  return std::optional<matched_line>();
}

result<std::optional<matched_line>> line_matcher::next_by_expression(std::string_view text,
                                                                     std::size_t from,
                                                                     const work_bounds& bounds) {
  while (from < text.size()) {
    std::size_t end = std::min(from + slice_, text.size());
    if (pattern_.lines_apart) {
      end = std::min(text.find('\n', from), text.size());
    } else if (end < text.size()) {
      const std::size_t last = text.rfind('\n', end - 1);
      end = last != npos && last >= from ? last : std::min(text.find('\n', end), text.size());
    }
    if (end == text.size() && text.back() == '\n') --end; // behind which there is no line
    const bool measured = slice_ != slow_slice_bytes && end - from >= slow_slice_bytes;
    if (end - from > slow_line_bytes && !tried_) { // how fast is it?
      tried_ = true;
      if (is_slow(text, from, from + slice_)) slice_ = slow_slice_bytes;
    }
    if (slice_ == slow_slice_bytes && end - from > slow_line_bytes) {
      ++left_out_;
      from = end + 1;
      continue;
    }
    const std::int64_t began = measured ? sys::monotonic_ms() : 0;
    const auto found = find_in(text, from, end);
    // The clock on the wall, which costs little, only says when to look at the other one.
    if (measured && sys::monotonic_ms() - began > slow_ms && is_slow(text, from, end))
      slice_ = slow_slice_bytes;
    PADDOCK_CHECK(look_after(slice_ == slow_slice_bytes || pattern_.lines_apart
                                 ? look_bytes
                                 : found.value_or(end) - from,
                             bounds));
    if (found) return std::optional(line_around(text.substr(0, end), from, *found));
    from = end + 1;
  }
  return std::optional<matched_line>();
}

} // namespace paddock
