// SPDX-License-Identifier: MIT
#pragma once

// What the page's script is told, as JSON.

#include <paddock/skill/store.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock::skills_page {

/// {"root", "skills", "notLoaded"}
[[nodiscard]] std::string to_json(const skill_list& list, std::string_view root);
[[nodiscard]] std::string to_json(const skill& one);
/// {"files": [{"path", "size", "kind"}]}
[[nodiscard]] std::string to_json(const std::vector<skill_file>& files);
/// {"text", "size", "truncated"}
[[nodiscard]] std::string preview_json(std::string_view text, std::uint64_t file_size);
/// {"id", "files", "bytes", "replaced", "diagnostics"}
[[nodiscard]] std::string to_json(const import_report& report);

/// {"error", "refusal", "entry", "id", "message"}: an import that its own rules refused.
[[nodiscard]] std::string to_json(const import_error& failure);

} // namespace paddock::skills_page
