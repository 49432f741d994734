// SPDX-License-Identifier: MIT
#pragma once

// Names that lead to one entry on some file system, though they differ in their bytes: because it
// folds case, normalises, ignores what cannot be seen, or cuts names as Windows does.
//
// This guards protected names, so it needs no library and is the same in each build. The question
// is narrow, for protected names are ASCII: which characters turn into ASCII? Where one of them
// turns into several letters or figures (`㎏`, `Ⅷ`, `⑩`), any will do: a name too many is
// protected, never one too few.

#include <string_view>

namespace paddock {

/// Whether some file system takes such a spelling for another name, but for the case of its
/// letters: Unicode, short names, dots and blanks at the end.
[[nodiscard]] bool could_be_an_alias(std::string_view name);

/// Whether a file system may take `name`, a component of a path, for `plain`: by case, by
/// compatibility (`．ｇｉｔ`), by characters that it ignores, by dots and blanks at the end, by a
/// stream (`.git::$DATA`), by a backslash for a slash, by its short name (`GIT~1`). `plain` is
/// ASCII; other characters in it are compared byte by byte.
[[nodiscard]] bool same_folded(std::string_view name, std::string_view plain);

/// Whether it may take `name` for one that begins with `plain`.
[[nodiscard]] bool begins_folded(std::string_view name, std::string_view plain);

} // namespace paddock
