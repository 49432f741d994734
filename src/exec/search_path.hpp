// SPDX-License-Identifier: MIT
#pragma once

// Where programs are looked for.

#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// The absolute entries of a PATH, in its order: others would depend on the current directory.
[[nodiscard]] std::vector<std::string_view> absolute_entries(std::string_view search_path);

/// Whether this user may run the file at an absolute path.
[[nodiscard]] bool is_runnable(const std::string& path);

} // namespace paddock
