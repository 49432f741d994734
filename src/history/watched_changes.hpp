// SPDX-License-Identifier: MIT
#pragma once

// The changes that a tool reports itself. Files that others save meanwhile stay theirs.

#include "file/change_observer.hpp"
#include "history/path_tops.hpp"
#include "history/store_impl.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

/// Covers files and links at the given paths and beneath them. Compares each entry that the tool
/// replaced with the index from before the call, and reads it into the store if it differs: after
/// the call nobody could.
class watched_changes final : public change_observer, public others_changes {
public:
  watched_changes(const store::impl& in, std::span<const std::string> paths);

  void changed(const std::string& path, const displaced_entry& before,
               const std::optional<file_status>& after) override;
  void moved_directory(const std::string& from, const std::string& to) override;
  void changed_somehow(const std::string& path) override { all_.add(path); }

  /// Writes the changes that others made before the tool's own, and changes of the tool that are
  /// overwritten already. Call before the scan is absorbed. Errors: those of writing the journal.
  [[nodiscard]] result<void> record(store::impl& in, const cause& by, const cause& others,
                                    const scan_outcome& found);
  /// True unless the entry is as the tool left it.
  [[nodiscard]] bool has(const transition& step) const override;

private:
  struct file_change {
    std::vector<store::impl::fetched> before{}; ///< versions of others, in order
    known_state after{};
  };
  [[nodiscard]] known_state known_of(std::string_view path) const;
  [[nodiscard]] store::impl::fetched read(const std::string& path, const displaced_entry& entry,
                                          const known_state& seen) const;
  void add_moved(store::impl& in, journal_record& before, const scan_outcome& found) const;

  const store::impl& in_;
  path_tops paths_;
  std::map<std::string, known_state, std::less<>> known_;
  std::map<std::string, file_change, std::less<>> changes_;
  std::map<std::string, std::string, std::less<>> moved_; ///< directories: new path to old
  path_tops all_;
};

/// Changes at paths that were read-only for a command, and for all that ran beside it: there since
/// before the first of them began.
class read_only_changes final : public others_changes {
public:
  /// `since_ns`: when that was, by the clock of file times.
  read_only_changes(const store::impl& in, std::span<const std::string> paths,
                    std::int64_t since_ns);
  [[nodiscard]] bool has(const transition& step) const override;

private:
  [[nodiscard]] path_tops there_before() const;

  const store::impl& in_;
  std::int64_t since_ns_;
  path_tops paths_;
  mutable std::optional<path_tops> there_; ///< of these, once somebody asks
};

} // namespace paddock::history
