// SPDX-License-Identifier: MIT
#pragma once

/// Reading by allow-list: a text file beneath a root whose extension is one of a few. What the
/// ReadFile tool does: skills and their references are read with it, nothing is executed.
///
/// A link is judged by its own name and by that of the file it leads to.
///
/// Not guaranteed: that a file with an allowed extension holds what the extension promises; it is
/// only known to be UTF-8 text without NUL.
///
/// Thread-safety: a pure function of the file system.

#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paddock {

struct allowed_file_options {
  /// With the dot, compared without ASCII case.
  std::vector<std::string> extensions = {".md", ".cs", ".py", ".txt", ".json", ".yml", ".yaml"};
  std::uint64_t bytes_max = limits{}.read_bytes_max;
  work_bounds bounds{};
};

/// The text of the file, a byte order mark included. Errors: unsupported_type (extension),
/// not_text, too_large, and those of root::open_beneath.
[[nodiscard]] result<std::string> read_allowed_file(const root& root, std::string_view path,
                                                    const allowed_file_options& options = {});

} // namespace paddock
