// SPDX-License-Identifier: MIT
#pragma once

// A strange server's words about its tools, as a model may read them.

#include <string>
#include <string_view>

namespace paddock::skill_manager {

struct readable_schema {
  std::string json;
  /// What cannot be read without characters that a person does not see, for people; empty: nothing.
  std::string refused;
};

/// A tool's input schema without such characters in its words: descriptions, defaults, examples,
/// comments and what else the server does not compare with anything. Where they are in names or in
/// values that it compares (enum, const, pattern, …), the tool would not be the same without them.
[[nodiscard]] readable_schema visible_schema(std::string_view json);

} // namespace paddock::skill_manager
