// SPDX-License-Identifier: MIT
#pragma once

// Which names of a workspace may have changed since the last look, as inotify(7) tells.
//
// It does not hear of everything: a file that somebody gave a second name outside of the workspace
// and wrote through that one, or wrote through a mapping that is still there, is in no event. A
// command that is confined to the workspace, and that nothing outlives, can do neither. What others
// did so is found by the next whole scan, which puts it down by the time of change.

#include "history/scan.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/path/root.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::history {

/// Whether any file may have got a second name since the last look.
enum class new_links : std::uint8_t { possible, none };

class directory_watch final : public scan_observer {
public:
  directory_watch(const root& workspace, std::size_t watches_max)
      : workspace_(workspace), watches_max_(watches_max) {}

  /// A whole scan begins, of so many directories at least: what was heard until now, it finds.
  void begin(std::uint64_t directories);
  /// It is taken in, and these it has met; whoever watches hears what changes from its begin on.
  void settle(const std::vector<std::string>& met, const scan_outcome& found);
  /// What `changed` named has been looked at and taken in; so with these.
  void settle_named(const std::vector<std::string>& met, const scan_outcome& found);
  /// Nothing is known before the next whole scan.
  void forget() { is_settled_ = false; }
  /// Where something may have changed since then, of a directory with all that is in it; nothing:
  /// anywhere. Without new links only what others linked and removed meanwhile is not heard of.
  [[nodiscard]] std::optional<std::vector<std::string>> changed(const file_index& index,
                                                                new_links links);

  /// Of a scan, by its threads: before the names of a directory are read.
  void entered(const std::string& path, int directory, std::uint64_t inode) override;

private:
  struct place {
    std::uint64_t inode = 0;
    int watch = 0;
  };
  [[nodiscard]] bool can_hear() const;
  void give_back();
  /// Reads all events; whether they name all that may have changed.
  [[nodiscard]] bool take_events(new_links links);
  [[nodiscard]] bool take_event(const char* event, std::string_view name, new_links links);
  /// Whether a name may have been a second one of some file, and is not any more.
  [[nodiscard]] bool was_passing(const char* event, const std::string& path);
  void look_again_at(const std::vector<std::string>& met);
  /// Whether the file has names that nothing was heard of.
  [[nodiscard]] bool has_other_names(const std::string& path, const file_status& status,
                                     const file_index& index) const;

  const root& workspace_;
  std::size_t watches_max_;
  file_descriptor events_;
  bool is_tried_ = false;
  bool is_settled_ = false;
  std::mutex mutex_;           // of what a scan's threads share
  bool is_everywhere_ = false; ///< there were too few watches for all directories
  std::map<std::string, place, std::less<>> places_;
  std::unordered_map<int, std::string> paths_; ///< by watch
  std::set<std::string> names_, appeared_;
  std::set<std::string> placed_; ///< entries that had the name of a tool's new file before
  std::map<std::uint32_t, std::string> moving_; ///< what appeared, by the move that takes it away
  std::set<std::string> moved_on_;              ///< and what such a move has given a lasting name
  std::set<std::string> linked_;                ///< files that had several names
  std::uint32_t own_move_ = 0;                  ///< of a file that a tool has made ready
};

} // namespace paddock::history
