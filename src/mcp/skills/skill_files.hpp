// SPDX-License-Identifier: MIT
#pragma once

// A skill's files as the extension publishes them: regular files beneath the skill's directory,
// never through a link, except that SKILL.md and the directory may be links themselves.

#include <paddock/base/work_bounds.hpp>
#include <paddock/file/file.hpp>
#include <paddock/skill/store.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

inline constexpr std::string_view skill_file_name = "SKILL.md";
/// What the extension promises hosts; larger skills are not published.
inline constexpr std::size_t published_files_max = 512;
inline constexpr std::uint64_t published_bytes_max = std::uint64_t{16} * 1024 * 1024;

/// The directory of a skill, relative to the root, as it is spelled without links.
[[nodiscard]] result<std::string> directory_of(const skill_store& store, const skill& s);

/// One file of the skill. In SKILL.md all values of `metadata` become texts. Errors: those of
/// read_file; escapes_root for a file behind a link.
[[nodiscard]] result<file_content> read_skill_file(const skill_store& store,
                                                   std::string_view directory,
                                                   std::string_view path,
                                                   const work_bounds& bounds);

/// Whether name and description are such as the Agent Skills specification allows.
[[nodiscard]] bool is_publishable(std::string_view name, std::string_view description);

/// Whether the bounds ended the work: there is no telling what would have come of it.
[[nodiscard]] bool is_stopped(const error& e);

/// The skill as an entry of skills/list; nothing when it cannot be published. Errors: those of the
/// bounds.
[[nodiscard]] result<std::optional<std::string>>
skill_entry(const skill_store& store, const skill& s, const work_bounds& bounds);

} // namespace paddock::mcp
