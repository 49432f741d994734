// SPDX-License-Identifier: MIT
#pragma once

// What a path leads to, and who decides that.

#include <limits.h>

namespace paddock::exec {

enum class kind_wanted : bool { anything, directory };

/// The canonical name of what an absolute path leads to: no link, no dot component. 0 or an errno;
/// EPERM: it leads through a link in a directory for which `is_foreign(its canonical name,
/// context)` is true, so that somebody else decides where it leads.
struct link_rule {
  bool (*is_foreign)(const char* directory, const void* context);
  const void* context;
  /// If there is one, called with each name on the way, links too; not 0 ends the walk.
  int (*visit)(const char* entry, const void* context) = nullptr;
};
int canonical_name(const char* path, kind_wanted kind, const link_rule& rule,
                   char (&into)[PATH_MAX]);

/// Whether an absolute path has no empty and no dot component, and no slash at its end.
bool is_plain(const char* path);

/// Whether `path` is `directory` or below it; both absolute and plain.
bool is_within(const char* path, const char* directory);

} // namespace paddock::exec
