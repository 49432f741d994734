// SPDX-License-Identifier: MIT
#pragma once

// A frontmatter block as JSON, every field that the author wrote, with the types that YAML 1.2's
// core schema gives them: what the skills extension calls verbatim, and what its clients compare
// with their own reading of the file.

#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// Whether the library was built with the YAML parser that this needs.
[[nodiscard]] bool has_frontmatter_json() noexcept;

/// The block, which lies between the fences, as a JSON object. Nothing when it is not a YAML
/// mapping, when readers disagree about it (duplicate keys, `<<`, tags but `!!str`), when JSON
/// cannot say it (infinity, keys that are not scalars), or when its aliases make it long.
[[nodiscard]] std::optional<std::string> frontmatter_json(std::string_view block);

} // namespace paddock::mcp
