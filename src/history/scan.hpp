// SPDX-License-Identifier: MIT
#pragma once

// What of the workspace looks other than the index has it. Nothing is changed and no content read.

#include "history/file_index.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

/// Hears of each directory before its names are read, on the scan's threads.
class scan_observer {
public:
  virtual void entered(const std::string& path, int directory, std::uint64_t inode) = 0;

protected:
  ~scan_observer() = default;
};

/// An entry that is new, looks other than before, or is not sure to be as it looks.
struct met_entry {
  std::string path;
  known_state seen; ///< `held` says at most that nothing can be held
};

struct scan_options {
  unsigned threads_max = 2;
  std::uint64_t entries_max = 2'000'000;
  work_bounds bounds{};
  scan_observer* observer = nullptr;
  /// Gets all that is met but directories, a thousand at a time, while the scan goes on; one call
  /// after the other, on its threads. The outcome has the directories alone then.
  std::function<result<void>(std::vector<met_entry>&&)> take{};
};

struct scan_outcome {
  std::vector<met_entry> met{};      ///< by path, so parents first
  std::vector<met_entry> untaken{};  ///< of a thread, for `take`
  std::vector<std::string> gone{};   ///< of a directory that is gone, itself alone
  std::vector<std::string> closed{}; ///< directories that could not be looked into
  std::vector<std::string> opened{}; ///< those that can be looked into again
  std::vector<std::string> linked{}; ///< files that have several names
  bool is_whole = false;             ///< all of the workspace was looked at
  std::uint64_t entries = 0;
};

/// Everything. Unreadable directories keep their last known entries. Errors: root_gone, too_many,
/// cancelled, timed_out.
[[nodiscard]] result<scan_outcome> scan(const root& workspace, const file_index& index,
                                        const scan_options& options);
/// These paths, the directories above them and, of a directory, all in it. Hidden ones are left
/// out. Errors: as above.
[[nodiscard]] result<scan_outcome> scan_paths(const root& workspace, const file_index& index,
                                              std::span<const std::string> paths,
                                              const scan_options& options);

/// Opens a path without following any link. "" is the root.
[[nodiscard]] result<file_descriptor> open_plain(const root& workspace, const std::string& path,
                                                 std::uint64_t flags);
/// The same from a directory that was opened so.
[[nodiscard]] result<file_descriptor> open_plain_in(const root& workspace, int directory,
                                                    const std::string& path, std::uint64_t flags);
/// What is there, be it a link, without following any. Errors: those of `open_plain`.
[[nodiscard]] result<file_status> plain_status(const root& workspace, std::string_view path);

} // namespace paddock::history
