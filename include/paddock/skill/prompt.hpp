// SPDX-License-Identifier: MIT
#pragma once

/// The part of a system prompt that tells a model which skills there are: id, name and description
/// of each, never their content, which the model reads when it needs it (progressive disclosure).
///
/// Descriptions are written by strangers: whatever they contain, they stay one item of the list, on
/// one line, without characters that a person who looks at it does not see. Names and descriptions
/// longer than the Agent Skills specification allows are cut. None of this keeps a model from
/// believing what a description says.
///
/// Thread-safety: pure functions.

#include <paddock/skill/skill.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace paddock {

enum class prompt_format : std::uint8_t {
  seed, ///< an introduction and one line per skill
  xml,  ///< `<available_skills>`, as the Agent Skills reference library writes it, but with the
        ///< location escaped too
};

struct prompt_options {
  prompt_format format = prompt_format::seed;
  /// Of the whole text; descriptions are shortened evenly before a skill is left out. The user's
  /// skills are left out before the application's, and those with the last ids first.
  std::size_t bytes_max = 16'000;
  /// Put before each path, for models that need absolute ones; empty: relative to the root.
  std::string path_prefix{};
};

struct skill_prompt {
  std::string text;          ///< empty when there are no skills, and when not even a note would fit
  std::size_t shortened = 0; ///< descriptions that are not whole
  std::size_t left_out = 0;  ///< skills that did not fit; the text says so
};

/// The prompt for skills that are given by id, as skill_store::list returns them.
[[nodiscard]] skill_prompt make_skill_prompt(std::span<const skill> skills,
                                             const prompt_options& options = {});

} // namespace paddock
