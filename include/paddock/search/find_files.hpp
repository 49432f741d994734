// SPDX-License-Identifier: MIT
#pragma once

/// Finds files and directories beneath a root by their names.
///
/// What ignore files leave out is left out here too, and counted by rule; names that begin with a
/// dot are found like others, but `.git`, `.hg`, `.svn`, hidden names and this process's own
/// temporary files are not. A directory that is named as the place to begin is walked through even
/// if it is ignored. Links are found, and not followed. It is not a snapshot: what appears or
/// vanishes meanwhile may or may not be found.
///
/// Thread-safety: may be called from any thread; it uses threads of its own.

#include <paddock/base/detail/function_view.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>
#include <paddock/search/coverage.hpp>
#include <paddock/search/glob.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Which entries are wanted. A link counts as what it leads to; one that leads nowhere, or out, as
/// a file. FIFOs, sockets and devices are `any` alone.
enum class wanted_kind : std::uint8_t { any, file, directory };

enum class found_order : std::uint8_t {
  path,     ///< bytewise
  modified, ///< newest first, by path where that is equal
};

/// Whether ignore files count.
enum class ignore_files : std::uint8_t { respect, disregard };

struct find_options {
  wanted_kind kind = wanted_kind::any;
  found_order order = found_order::path;
  ignore_files ignored = ignore_files::respect;
  std::uint64_t offset = 0;
  std::uint64_t limit = 1000; ///< paths returned
  unsigned threads_max = 2;
  std::uint64_t entries_max = 2'000'000; ///< then it ends early
  work_bounds bounds{};
};

struct found_files {
  std::vector<std::string> paths; ///< relative to the root
  std::uint64_t total = 0; ///< matched, whether returned or not; a least number when it ended early
  search_coverage coverage;
};

/// The entries beneath the directory `path` that `wanted` stands for, which is matched against
/// their paths relative to that directory. When the deadline passes, what was found so far is
/// returned and `coverage` tells. Errors: those of root::open_beneath; cancelled.
[[nodiscard]] result<found_files> find_files(const root& root, std::string_view path,
                                             const glob& wanted, const find_options& options = {});

/// Takes a path, which is valid until it returns.
using path_taker = detail::function_view<void(std::string_view)>;

/// The same, giving each path to `take` instead of listing it, in the same order: what very many
/// take is mostly memory that is used for the first time. Before an error some may have been given.
[[nodiscard]] result<found_files> find_files(const root& root, std::string_view path,
                                             const glob& wanted, const find_options& options,
                                             const path_taker& take);

} // namespace paddock
