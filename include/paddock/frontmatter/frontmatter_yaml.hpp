// SPDX-License-Identifier: MIT
#pragma once

/// The full YAML parser behind frontmatter.hpp: libyaml's events, behind guards against input that
/// would cost it much (size, nesting, number of events). Anchors are followed as far as to see that
/// they exist; nothing is expanded. An optional feature of the build.
///
/// Thread-safety: pure functions.

#include <paddock/frontmatter/frontmatter.hpp>

namespace paddock::frontmatter {

/// The parser to put into `options::full`; null when the library was built without libyaml.
[[nodiscard]] full_parser libyaml() noexcept;

} // namespace paddock::frontmatter
