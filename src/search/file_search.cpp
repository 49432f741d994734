// SPDX-License-Identifier: MIT
#include "search/file_search.hpp"

#include "base/out_of_memory.hpp"
#include "search/shown_lines.hpp"
#include "search/work_pace.hpp"

#include <algorithm>
#include <utility>

namespace paddock {
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
