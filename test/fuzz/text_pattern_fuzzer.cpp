// SPDX-License-Identifier: MIT

// A byte of options, a pattern, a NUL, a text. The lines that match are the same with the literals
// looked for first, without, and with each line given to RE2 alone.

#include "search/line_matcher.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <re2/re2.h>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace paddock;

void require(bool condition) {
  if (!condition) std::abort();
}

using line_begins = std::vector<std::size_t>;

/// Each line that matches, as the searching code finds it.
line_begins found_by(const text_pattern::prepared& pattern, std::string_view text) {
  line_matcher matcher(pattern);
  line_begins lines;
  for (std::size_t from = 0; from <= text.size();) {
    const auto next = matcher.next(text, from, {});
    require(next.has_value());
    if (!*next) break;
    const matched_line& line = **next;
    require(line.begin >= from && line.begin <= line.match && line.match <= line.end);
    require(line.end == std::min(text.find('\n', line.begin), text.size()));
    lines.push_back(line.begin);
    from = line.end + 1;
  }
  require(matcher.lines_left_out() == 0);
  return lines;
}

/// Each line that matches when it is the whole text.
line_begins found_alone(const std::string& expression, letter_case letters, std::string_view text) {
  re2::RE2::Options options;
  options.set_case_sensitive(letters == letter_case::exact);
  options.set_never_nl(true);
  options.set_log_errors(false);
  const re2::RE2 compiled(expression, options);
  require(compiled.ok());
  line_begins lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line(text.substr(begin, end - begin));
    if (re2::RE2::PartialMatch(line, compiled)) lines.push_back(begin);
    begin = end + 1;
  }
  return lines;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t pattern_bytes_max = 200, text_bytes_max = 4096; // each is compiled thrice
  if (size == 0) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string asked(all.substr(0, all.find('\0')));
  // An allocation of its own, so that a read beyond it is seen.
  const std::vector<char> text(
      all.begin() + static_cast<std::ptrdiff_t>(std::min(asked.size() + 1, all.size())), all.end());
  if (asked.size() > pattern_bytes_max || text.size() > text_bytes_max) return 0;
  const bool literal = (data[0] & 1) != 0, folded = (data[0] & 2) != 0, words = (data[0] & 4) != 0;
  const auto compiled = text_pattern::compile(
      asked, {.syntax = literal ? pattern_syntax::literal : pattern_syntax::regular_expression,
              .letters = folded ? letter_case::folded : letter_case::exact,
              .bounds = words ? match_bounds::whole_words : match_bounds::anywhere});
  if (!compiled) {
    require(compiled.error().operation != nullptr);
    return 0;
  }
  const std::string_view view(text.data(), text.size());
  const text_pattern::prepared& with = compiled->get();
  text_pattern::prepared without = with;
  without.literals.reset();
  without.letters = folded ? letter_case::folded : letter_case::exact;
  if (without.expression.empty()) without.expression = re2::RE2::QuoteMeta(asked);
  const line_begins found = found_by(with, view);
  require(found == found_by(without, view));
  require(found == found_alone(without.expression, without.letters, view));
  // What was asked for itself; a carriage return is no part of a line for `$`.
  if (!words && view.find('\r') == std::string_view::npos) {
    const std::string own = literal ? re2::RE2::QuoteMeta(asked) : asked;
    require(found == found_alone(own, without.letters, view));
  }
  return 0;
}
