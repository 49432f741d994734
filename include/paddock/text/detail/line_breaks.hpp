// SPDX-License-Identifier: MIT
#pragma once

/// The line breaks of a text: LF, and CRLF, the pair. Those of a long text are counted in steps,
/// between which `wanted()` says whether to go on. Thread-safety: pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::detail {

/// What is looked through between two questions whether to go on.
inline constexpr std::size_t wanted_step_bytes = std::size_t{1024} * 1024;

enum class line_endings : std::uint8_t { no_pairs, all_pairs, mixed };

/// Whether the '\n' at `at` is the second byte of a CRLF pair.
[[nodiscard]] inline bool is_pair(std::string_view content, std::size_t at) noexcept {
  return at > 0 && content[at - 1] == '\r';
}

struct break_counts {
  std::uint64_t all = 0;   ///< how often '\n' occurs
  std::uint64_t pairs = 0; ///< how often as the second byte of a CRLF pair
};

/// The inner loop has a fixed length, so that compilers make vector instructions of it.
[[nodiscard]] inline break_counts count_breaks(std::string_view text) noexcept {
  constexpr std::size_t width = 32;
  constexpr std::size_t rounds_max = 255; // a counter is a byte
  if (text.empty()) return {};
  break_counts count{text[0] == '\n' ? 1U : 0U, 0};
  std::size_t at = 1; // so that there always is a byte before
  while (text.size() - at >= width) {
    std::array<std::uint8_t, width> all{};
    std::array<std::uint8_t, width> pairs{};
    for (std::size_t round = 0; round < rounds_max && text.size() - at >= width; ++round) {
      const char* const block = text.data() + at;
      for (std::size_t i = 0; i < width; ++i) {
        const int is_break = block[i] == '\n' ? 1 : 0;
        all[i] = static_cast<std::uint8_t>(all[i] + is_break);
        pairs[i] =
            static_cast<std::uint8_t>(pairs[i] + (is_break & ((block - 1)[i] == '\r' ? 1 : 0)));
      }
      at += width;
    }
    for (std::size_t i = 0; i < width; ++i) {
      count.all += all[i];
      count.pairs += pairs[i];
    }
  }
  for (; at < text.size(); ++at) {
    count.all += text[at] == '\n' ? 1U : 0U;
    count.pairs += text[at] == '\n' && is_pair(text, at) ? 1U : 0U;
  }
  return count;
}

/// The same with questions; nothing when it is not wanted.
template <class Wanted>
[[nodiscard]] std::optional<break_counts> count_breaks(std::string_view text, Wanted& wanted) {
  break_counts count;
  for (std::size_t begin = 0; begin < text.size(); begin += wanted_step_bytes) {
    if (begin > 0 && !wanted()) return std::nullopt;
    const break_counts step = count_breaks(text.substr(begin, wanted_step_bytes));
    count.all += step.all;
    count.pairs += step.pairs + (text[begin] == '\n' && is_pair(text, begin) ? 1U : 0U);
  }
  return count;
}

/// Nothing when it is not wanted.
template <class Wanted>
[[nodiscard]] std::optional<line_endings> line_endings_of(std::string_view content,
                                                          Wanted& wanted) {
  bool has_cr = false;
  for (std::size_t begin = 0; begin < content.size() && !has_cr; begin += wanted_step_bytes) {
    if (begin > 0 && !wanted()) return std::nullopt;
    has_cr = content.substr(begin, wanted_step_bytes).find('\r') != std::string_view::npos;
  }
  if (!has_cr) return line_endings::no_pairs;
  const auto breaks = count_breaks(content, wanted);
  if (!breaks) return std::nullopt;
  if (breaks->pairs == 0) return line_endings::no_pairs;
  return breaks->pairs == breaks->all ? line_endings::all_pairs : line_endings::mixed;
}

/// `text` with `line_break` in place of each LF and of each CRLF pair.
[[nodiscard]] inline std::string with_line_breaks(std::string_view text,
                                                  std::string_view line_break) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    out.append(text.substr(copied, at - copied - (is_pair(text, at) ? 1 : 0)));
    out.append(line_break);
    copied = at + 1;
  }
  out.append(text.substr(copied));
  return out;
}

} // namespace paddock::detail
