// SPDX-License-Identifier: MIT
#pragma once

// Types of files by name, as ripgrep's -t has them.

#include <optional>
#include <string>
#include <string_view>

namespace paddock::cli {

/// The glob of a type; nothing for a name that is none.
[[nodiscard]] std::optional<std::string_view> glob_of_type(std::string_view name);
/// "c, cpp, css, …".
[[nodiscard]] std::string all_types();

} // namespace paddock::cli
