// SPDX-License-Identifier: MIT
#pragma once

/// What a text search looks for: a literal text, or a regular expression of RE2, in single lines.
///
/// Each line is a text of its own, so a match never goes beyond it, and `\A` and `\z` are its ends;
/// `$` matches before LF and before CRLF. Folded case is Unicode's simple folding. As in RE2, `\w`,
/// `\d` and `\b` are about ASCII, there are no look-around and no back-references, and the time is
/// linear in the text. Whole words are bounded by what is no letter, mark, digit or `_` of Unicode.
/// Built without RE2, only literal texts in exact or ASCII case can be looked for;
/// `have_regular_expressions` tells.
///
/// Thread-safety: a compiled pattern is immutable and may be used by any number of threads.

#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace paddock {

enum class pattern_syntax : std::uint8_t { regular_expression, literal };
enum class letter_case : std::uint8_t { exact, folded };
enum class match_bounds : std::uint8_t { anywhere, whole_words };

struct pattern_options {
  pattern_syntax syntax = pattern_syntax::regular_expression;
  letter_case letters = letter_case::exact;
  match_bounds bounds = match_bounds::anywhere;
};

/// Whether this build has RE2.
[[nodiscard]] bool have_regular_expressions() noexcept;

/// A compiled pattern; a cheap copy shares it.
class text_pattern {
public:
  /// The longest pattern.
  static constexpr std::size_t bytes_max = 4096;

  /// Errors: invalid_argument (empty, malformed, more than one line; `operation` says what is
  /// wrong), too_large (the pattern, or the program it makes), unsupported (needs RE2).
  [[nodiscard]] static result<text_pattern> compile(std::string_view text,
                                                    const pattern_options& options = {});

  struct prepared;
  /// What the searching code uses.
  [[nodiscard]] const prepared& get() const noexcept { return *prepared_; }

private:
  explicit text_pattern(std::shared_ptr<const prepared> compiled) noexcept
      : prepared_(std::move(compiled)) {}
  std::shared_ptr<const prepared> prepared_;
};

} // namespace paddock
