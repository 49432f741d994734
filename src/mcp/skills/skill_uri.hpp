// SPDX-License-Identifier: MIT
#pragma once

// The URIs of a skill's files: skill://ID/PATH. The extension wants the last part before PATH to be
// the skill's name, so where the directory is called otherwise it is skill://ID/NAME/PATH.

#include <paddock/skill/store.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

/// The URI of a file or directory of the skill; of the skill's own directory for an empty path.
[[nodiscard]] std::string skill_uri(const skill& s, std::string_view path);

/// The decoded parts after skill://. Nothing for other URIs, and when a part is no file name
/// (empty, a dot, two dots, with a slash or NUL).
[[nodiscard]] std::optional<std::vector<std::string>> parts_of_skill_uri(std::string_view uri);

/// The path within the skill's directory that the parts name, empty for the directory itself;
/// nothing when they do not begin as the skill's URIs do.
[[nodiscard]] std::optional<std::string> path_in_skill(const skill& s,
                                                       const std::vector<std::string>& parts);

} // namespace paddock::mcp
