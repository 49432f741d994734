// SPDX-License-Identifier: MIT
#include "search/line_matcher.hpp"

#include <paddock/base/detail/utf8.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#if PADDOCK_HAVE_RE2
#include <re2/filtered_re2.h>
#include <re2/re2.h>
#endif

namespace paddock {
namespace {

error fault(error_code code, const char* what) {
  return {code, 0, what};
}

/// Whether the case of a text can be folded without knowledge of Unicode, in which U+212A folds to
/// k and U+017F to s.
bool folds_in_ascii(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || c == 'k' || c == 'K' || c == 's' || c == 'S';
  });
}

#if PADDOCK_HAVE_RE2
/// A program of this size takes 9 MiB in each thread; no program took more than 0.4 s for 4 KiB, a
/// slice of a line_matcher.
constexpr int program_size_max = 50'000;
constexpr const char* too_large_program =
    "the pattern makes a program of more than 50,000 instructions: repeat less, or name smaller "
    "classes, such as [a-z] for \\pL";
/// Shorter literals are met too often to be of use.
constexpr std::size_t literal_bytes_min = 2, atom_bytes_min = 3;

/// What is wrong, and what helps.
const char* text_of(re2::RE2::ErrorCode code) {
  struct known {
    re2::RE2::ErrorCode code;
    const char* text;
  };
  static constexpr known all[] = {
      {re2::RE2::ErrorBadEscape, "an escape is unknown to RE2, which has no back-references"},
      {re2::RE2::ErrorBadCharClass, "a character class is malformed"},
      {re2::RE2::ErrorBadCharRange, "a range in a character class is malformed"},
      {re2::RE2::ErrorMissingBracket, "a ] is missing; \\[ is an ordinary ["},
      {re2::RE2::ErrorMissingParen, "a ) is missing; \\( is an ordinary ("},
      {re2::RE2::ErrorUnexpectedParen, "a ) has no (; \\) is an ordinary )"},
      {re2::RE2::ErrorTrailingBackslash, "a backslash is last"},
      {re2::RE2::ErrorRepeatArgument, "there is nothing for *, + or ? to repeat; \\* is an "
                                      "ordinary *"},
      {re2::RE2::ErrorRepeatSize, "a repetition is of more than 1000"},
      {re2::RE2::ErrorRepeatOp, "a repetition of a repetition is not possible"},
      {re2::RE2::ErrorBadPerlOp, "RE2 has no look-around and no such group; match the text around "
                                 "it, too"},
      {re2::RE2::ErrorBadUTF8, "the pattern is not UTF-8"},
      {re2::RE2::ErrorBadNamedCapture, "the name of a group is malformed"},
  };
  for (const known& each : all)
    if (each.code == code) return each.text;
  return too_large_program;
}

re2::RE2::Options options_for(letter_case letters) {
  re2::RE2::Options options;
  options.set_case_sensitive(letters == letter_case::exact);
  options.set_never_nl(true);
  options.set_log_errors(false);
  return options;
}

enum class pattern_place : std::uint8_t { plain, quoted, in_class, in_negated_class };

/// Calls visit(place, text) for each character, escape and bracket of an expression, in order, as
/// RE2 reads them; where it ends.
template <class Visit> pattern_place visit_pattern(std::string_view rest, Visit&& visit) {
  using enum pattern_place;
  pattern_place here = plain;
  while (!rest.empty()) {
    pattern_place next = here;
    std::size_t size = 1;
    if (here == quoted) {
      if (rest.starts_with("\\E")) size = 2, next = plain;
    } else if (rest.front() == '\\') {
      size = std::min<std::size_t>(2, rest.size());
      if (here == plain && rest.starts_with("\\Q")) next = quoted;
    } else if (here == plain) {
      if (rest.front() == '[') {
        next = rest.starts_with("[^") ? in_negated_class : in_class;
        size = next == in_class ? 1 : 2;
        if (rest.substr(size).starts_with(']')) ++size;
      }
    } else if (rest.front() == ']') {
      next = plain;
    } else if (rest.starts_with("[:")) {
      const std::size_t end = rest.find(":]", 2);
      if (end != std::string_view::npos) size = end + 2;
    }
    visit(here, rest.substr(0, size));
    here = next;
    rest.remove_prefix(size);
  }
  return here;
}

/// The pattern with `$` matching before a carriage return at the end of the line, too, and its last
/// quote closed.
std::string with_line_ends(std::string_view pattern) {
  std::string out;
  const auto end = visit_pattern(pattern, [&](pattern_place where, std::string_view text) {
    out += where == pattern_place::plain && text == "$" ? "(?:\\r?$)" : text;
  });
  return end == pattern_place::quoted ? out + "\\E" : out;
}

/// Whether `\n` is asked for, which no line has. `[^\n]` asks for anything else.
bool names_line_break(std::string_view pattern) {
  bool named = false;
  visit_pattern(pattern, [&](pattern_place where, std::string_view text) {
    named = named || (text == "\\n" && where != pattern_place::in_negated_class);
  });
  return named;
}

/// Whether the expression could tell lines that are searched together from lines alone: it may name
/// the text's ends (`\A`, `\z`, or flags by which `^` and `$` are those) or take a line break
/// (`\C`).
bool needs_lines_apart(std::string_view pattern) {
  for (std::size_t at = 0; at + 1 < pattern.size(); ++at) {
    const std::string_view rest = pattern.substr(at);
    for (const std::string_view escape : {"\\A", "\\z", "\\C"})
      if (rest.starts_with(escape)) return true;
    if (!rest.starts_with("(?")) continue;
    const std::string_view flags = rest.substr(0, rest.find_first_not_of("imsU-", 2));
    if (flags.find('m', std::min(flags.find('-'), flags.size())) != std::string_view::npos)
      return true;
  }
  return false;
}

/// Whether the expression may fold case in a part of it, or name U+212A or U+017F, which
/// FilteredRE2 takes for k and s: in itself, by number, or by a property.
bool may_name_other_cases(std::string_view pattern) {
  if (pattern.find("(?") != std::string_view::npos) return true;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (static_cast<unsigned char>(pattern[at]) >= 0x80) return true;
    if (pattern[at] != '\\' || at + 1 == pattern.size()) continue;
    if (std::string_view("01234567xpP").find(pattern[++at]) != std::string_view::npos) return true;
  }
  return false;
}

/// The longest part of a literal of FilteredRE2 that can be looked for without knowledge of
/// Unicode.
std::string ascii_part(std::string_view atom, bool folded) {
  std::string_view best;
  for (std::size_t begin = 0; begin < atom.size();) {
    std::size_t end = begin;
    while (end < atom.size() && (folded ? folds_in_ascii(atom.substr(end, 1))
                                        : static_cast<unsigned char>(atom[end]) < 0x80))
      ++end;
    if (end - begin > best.size()) best = atom.substr(begin, end - begin);
    begin = end + 1;
  }
  return std::string(best);
}

/// Literals of which every match has one; none where there are none to rely on. `folded`: a match
/// may have other cases of their letters, beyond ASCII.
std::vector<std::string> literals_of(const std::string& expression, letter_case letters,
                                     bool folded) {
  re2::FilteredRE2 filter(static_cast<int>(atom_bytes_min));
  int id = 0;
  if (filter.Add(expression, options_for(letters), &id) != re2::RE2::NoError) return {};
  std::vector<std::string> atoms;
  filter.Compile(&atoms);
  const auto passes = [&](const std::vector<int>& met) {
    std::vector<int> potential;
    filter.AllPotentials(met, &potential);
    return !potential.empty();
  };
  if (atoms.empty() || passes({})) return {};
  std::vector<std::string> parts;
  for (const std::string& atom : atoms)
    parts.push_back(ascii_part(atom, folded));
  // One that none can do without is enough; the longest of them.
  std::size_t needed = atoms.size();
  for (std::size_t i = 0; i < atoms.size() && atoms.size() <= literal_set::literals_max; ++i) {
    std::vector<int> others;
    for (std::size_t other = 0; other < atoms.size(); ++other)
      if (other != i) others.push_back(static_cast<int>(other));
    if (passes(others)) continue;
    if (needed == atoms.size() || parts[i].size() > parts[needed].size()) needed = i;
  }
  if (needed < atoms.size() && parts[needed].size() >= literal_bytes_min) return {parts[needed]};
  if (std::ranges::any_of(parts, [](const auto& part) { return part.size() < literal_bytes_min; }))
    return {};
  std::ranges::sort(parts);
  parts.erase(std::ranges::unique(parts).begin(), parts.end());
  if (parts.size() > literal_set::literals_max) return {};
  return parts;
}

result<text_pattern::prepared> compile_expression(std::string_view text,
                                                  const pattern_options& options) {
  const bool literal = options.syntax == pattern_syntax::literal;
  if (!literal && names_line_break(text))
    return fault(error_code::invalid_argument,
                 "a match is within one line: \\n cannot be part of it");
  text_pattern::prepared made{.letters = options.letters,
                              .lines_apart = !literal && needs_lines_apart(text)};
  const std::string asked = literal ? re2::RE2::QuoteMeta(std::string(text)) : with_line_ends(text);
  made.expression = "(?m:" + asked + ")";
  {
    const re2::RE2 alone{std::string(text), options_for(options.letters)}; // its faults, not ours
    if (!literal && !alone.ok())
      return fault(alone.error_code() == re2::RE2::ErrorPatternTooLarge
                       ? error_code::too_large
                       : error_code::invalid_argument,
                   text_of(alone.error_code()));
  }
  const re2::RE2 compiled(made.expression, options_for(options.letters));
  if (!compiled.ok() || compiled.ProgramSize() > program_size_max)
    return fault(error_code::too_large, too_large_program);
  if (options.bounds == match_bounds::whole_words)
    made.expression = "(?m:(?:^|[^\\pL\\pM\\pN_])" + made.expression + "(?:[^\\pL\\pM\\pN_]|$))";
  std::vector<std::string> literals;
  if (literal && options.letters == letter_case::exact)
    literals = {std::string(text)};
  else
    literals = literals_of(literal ? asked : made.expression, options.letters,
                           options.letters == letter_case::folded || may_name_other_cases(text));
  if (!literals.empty())
    made.literals.emplace(std::move(literals), literal && options.letters == letter_case::exact
                                                   ? letters::exact
                                                   : letters::folded);
  else if (!literal && options.letters == letter_case::exact)
    if (const auto bytes = needed_bytes(text, literal_set::places_max); !bytes.empty())
      made.literals.emplace(bytes);
  return made;
}
#endif

} // namespace

bool have_regular_expressions() noexcept {
  return PADDOCK_HAVE_RE2 != 0;
}

result<text_pattern> text_pattern::compile(std::string_view text, const pattern_options& options) {
  if (text.empty()) return fault(error_code::invalid_argument, "a pattern must not be empty");
  if (text.size() > bytes_max) return fault(error_code::too_large, "a pattern has at most 4096 bytes");
  static_assert(bytes_max == 4096);
  if (text.find_first_of(std::string_view("\n\0", 2)) != std::string_view::npos)
    return fault(error_code::invalid_argument, "a match is within one line, and has no NUL");
  if (!detail::is_valid_utf8(text))
    return fault(error_code::invalid_argument, "the pattern is not UTF-8");
  const bool plain =
      options.syntax == pattern_syntax::literal && options.bounds == match_bounds::anywhere;
  const bool exact = options.letters == letter_case::exact;
  if (plain && (exact || folds_in_ascii(text)))
    return text_pattern(std::make_shared<const prepared>(prepared{
        .literals = literal_set({std::string(text)}, exact ? letters::exact : letters::folded)}));
#if PADDOCK_HAVE_RE2
  PADDOCK_TRY(prepared made, compile_expression(text, options));
  return text_pattern(std::make_shared<const prepared>(std::move(made)));
#else
  return fault(error_code::unsupported,
               "this build has no RE2: only literal text can be searched for");
#endif
}

} // namespace paddock
