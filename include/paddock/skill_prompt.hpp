// SPDX-License-Identifier: MIT
#pragma once

/// The part of a system prompt that tells a model which skills there are: id, name and description
/// of each, never their content, which the model reads when it needs it (progressive disclosure).
///
/// Descriptions are written by strangers: whatever they contain, they stay one item of the list.
/// This does not keep a model from believing what a description says.
///
/// Thread-safety: pure functions.

#include <paddock/skill_store.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace paddock {

enum class prompt_format : std::uint8_t {
  seed, ///< an introduction and one line per skill
  xml,  ///< <available_skills>, as the Agent Skills reference library writes it
};

struct prompt_options {
  prompt_format format = prompt_format::seed;
  /// Of the whole text; descriptions are shortened evenly before a skill is left out.
  std::size_t bytes_max = 16'000;
  /// Put before each path, for models that need absolute ones; empty: relative to the root.
  std::string path_prefix;
};

struct skill_prompt {
  std::string text;          ///< empty when there are no skills
  std::size_t shortened = 0; ///< descriptions that are not whole
  std::size_t left_out = 0;  ///< skills that did not fit; the text says so
};

[[nodiscard]] skill_prompt make_skill_prompt(std::span<const skill> skills,
                                             const prompt_options& options = {});

} // namespace paddock
