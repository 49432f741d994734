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

/// {"error", "message", …}: a failure, as a sentence for people.
[[nodiscard]] std::string to_json(const error& failure);
/// The same, with what the import says about it.
[[nodiscard]] std::string to_json(const import_error& failure);

} // namespace paddock::skills_page
