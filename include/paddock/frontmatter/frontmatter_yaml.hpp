// SPDX-License-Identifier: MIT
#pragma once

/// The full YAML parser behind frontmatter.hpp: libyaml's events, behind guards against input that
/// would cost it much (size, nesting, number of events). An alias stands for the text that its
/// anchor names; of a collection it has the kind alone. An optional feature of the build.
///
/// Thread-safety: pure functions.

#include <paddock/frontmatter/frontmatter.hpp>

namespace paddock::frontmatter {

/// The parser to put into `options::full`; null when the library was built without libyaml.
[[nodiscard]] full_parser libyaml() noexcept;

} // namespace paddock::frontmatter
