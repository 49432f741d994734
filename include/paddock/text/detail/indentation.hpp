// SPDX-License-Identifier: MIT
#pragma once

/// How new lines are indented in a file whose lines fitted but for white space. The lines that
/// fitted tell: each is a pair of indentations, the given one and the one of the file. What they do
/// not tell is not guessed. Thread-safety: as for any value.

#include <paddock/text/detail/white_space_matches.hpp>
#include <paddock/text/text_matching.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::detail {

[[nodiscard]] constexpr std::string_view indentation_of(std::string_view line) noexcept {
  std::size_t size = 0;
  while (size < line.size() && is_blank(line[size]))
    ++size;
  return line.substr(0, size);
}

/// A line as a text shows it, and as it is in the file; both without their ends.
struct fitted_line {
  std::string_view given, present;
};

/// The change from the given indentation to that of the file.
class indentation_change {
public:
  static constexpr std::size_t bytes_max = 200; ///< what is longer is no indentation
  static constexpr std::size_t pairs_max = 64;  ///< who shows more shows none

  explicit indentation_change(std::span<const fitted_line> lines) {
    bool is_clear = true;
    for (const fitted_line& line : lines) {
      const std::string_view given = indentation_of(line.given);
      if (given.size() == line.given.size()) continue; // an empty line says nothing
      const std::string_view present = indentation_of(line.present);
      differs_ = differs_ || given != present;
      const pair* const known = find(given);
      const bool is_told = known != nullptr ? known->second == present : pairs_.size() < pairs_max;
      is_clear = is_clear && is_told && given.size() <= bytes_max && present.size() <= bytes_max;
      if (known == nullptr && is_told) pairs_.emplace_back(given, present);
    }
    if (!is_clear) pairs_.clear();
    if (!pairs_.empty()) learn();
  }

  /// Whether a line is indented otherwise than the text shows it.
  [[nodiscard]] bool differs() const noexcept { return differs_; }
  /// Whether there are such as show that it is the same.
  [[nodiscard]] bool is_same() const noexcept { return !differs_ && !pairs_.empty(); }

  /// That of a line which fitted.
  [[nodiscard]] std::optional<std::string> shown(std::string_view given) const {
    const pair* const known = find(given);
    return known != nullptr ? std::optional<std::string>(known->second) : std::nullopt;
  }

  /// That of a new line, if it can be told from those that fitted.
  [[nodiscard]] std::optional<std::string> of(std::string_view given) const {
    if (auto known = shown(given)) return known;
    if (given.size() > bytes_max) return std::nullopt;
    if (added_) return std::string(*added_).append(given);
    if (removed_) {
      if (!given.starts_with(*removed_)) return std::nullopt;
      return std::string(given.substr(removed_->size()));
    }
    return steps_ && is_only(given, steps_->given) ? steps_->of(given.size()) : std::nullopt;
  }

private:
  using pair = std::pair<std::string_view, std::string_view>;

  /// Where every `from` of one character are `to` of the other one, as of a line that is shown.
  struct steps {
    char given = ' ', present = ' ';
    std::int64_t from = 1, to = 1;
    std::int64_t given_size = 0, present_size = 0; ///< of that line

    [[nodiscard]] std::optional<std::string> of(std::size_t size) const {
      const std::int64_t more = (static_cast<std::int64_t>(size) - given_size) * to;
      const std::int64_t made = present_size + more / from;
      if (more % from != 0 || made < 0 || made > static_cast<std::int64_t>(bytes_max))
        return std::nullopt;
      return std::string(static_cast<std::size_t>(made), present);
    }
  };

  std::vector<pair> pairs_; ///< of each given one; none when they say nothing, or two things
  bool differs_ = false;
  std::optional<std::string_view> added_, removed_; ///< in front of each
  std::optional<steps> steps_;

  [[nodiscard]] const pair* find(std::string_view given) const noexcept {
    for (const pair& each : pairs_)
      if (each.first == given) return &each;
    return nullptr;
  }

  [[nodiscard]] static bool is_only(std::string_view text, char c) {
    return text.find_first_not_of(c) == std::string_view::npos;
  }

  void learn() {
    const auto [given, present] = pairs_.front();
    if (present.ends_with(given)) added_ = present.substr(0, present.size() - given.size());
    if (given.ends_with(present)) removed_ = given.substr(0, given.size() - present.size());
    const auto is_behind = [](std::string_view front, std::string_view back, std::string_view all) {
      return all.size() == front.size() + back.size() && all.starts_with(front) &&
             all.ends_with(back);
    };
    for (const auto& [from, to] : pairs_) {
      if (added_ && !is_behind(*added_, from, to)) added_.reset();
      if (removed_ && !is_behind(*removed_, to, from)) removed_.reset();
    }
    if (!added_ && !removed_) learn_steps();
  }

  /// Each side of one character: the shortest and the longest tell the step, and the others have to
  /// fit. Where one is all there is, none is none.
  void learn_steps() {
    constexpr pair none;
    const pair* shortest = pairs_.size() > 1 ? &pairs_.front() : &none;
    const pair* longest = &pairs_.front();
    for (const pair& each : pairs_) {
      if (each.first.size() < shortest->first.size()) shortest = &each;
      if (each.first.size() > longest->first.size()) longest = &each;
    }
    const auto& [given, present] = *longest;
    if (given.empty() || present.empty()) return;
    steps found{.given = given[0], .present = present[0]};
    found.given_size = static_cast<std::int64_t>(shortest->first.size());
    found.present_size = static_cast<std::int64_t>(shortest->second.size());
    found.from = static_cast<std::int64_t>(given.size()) - found.given_size;
    found.to = static_cast<std::int64_t>(present.size()) - found.present_size;
    if (found.from <= 0 || found.to <= 0) return;
    for (const auto& [from, to] : pairs_)
      if (!is_only(from, found.given) || !is_only(to, found.present) ||
          found.of(from.size()) != std::string(to))
        return;
    steps_ = found;
  }
};

/// New text with the indentation of the file, and what that is.
struct indented_text {
  std::string text;
  new_indentation indentation = new_indentation::as_given;
};

/// `new_text` for the place of `old_text`, whose lines fit `present` but for white space. What is
/// before the first word of an old text that begins with one stays; so its first line may be a part
/// of a line, and tells of others only what the rest agrees with.
[[nodiscard]] inline indented_text indented_as(std::span<const std::string_view> present,
                                               std::string_view old_text,
                                               std::string_view new_text) {
  const std::vector<std::string_view> old_lines = lines_without_pairs(old_text);
  std::vector<fitted_line> fitted;
  for (std::size_t i = 0; i < old_lines.size(); ++i)
    fitted.push_back({old_lines[i], without_pair(present[i])});
  const bool may_be_part = !is_blank(old_text.front());
  const indentation_change all(fitted), rest(std::span<const fitted_line>(fitted).subspan(1));
  const auto indentation = [&](std::string_view given) {
    if (!may_be_part) return all.of(given);
    if (auto known = all.shown(given)) return known;
    auto made = all.of(given);
    return made == rest.of(given) ? made : std::nullopt;
  };
  indented_text out{.text = std::string(new_text)};
  if (!all.differs() || (may_be_part && rest.is_same())) return out;
  std::string text;
  bool is_first = true, is_other = false;
  for (const std::string_view line : lines_of(new_text)) {
    const std::string_view given = indentation_of(line);
    const bool stays =
        without_pair(line).size() == given.size() || (is_first && may_be_part && given.empty());
    const auto made = stays                     ? std::optional<std::string>(given)
                      : is_first && may_be_part ? std::nullopt
                                                : indentation(given);
    is_first = false;
    if (!made) {
      out.indentation = new_indentation::not_known;
      return out;
    }
    is_other = is_other || *made != given;
    text.append(*made).append(line.substr(given.size()));
  }
  if (is_other) out = {std::move(text), new_indentation::as_in_file};
  return out;
}

} // namespace paddock::detail
