// SPDX-License-Identifier: MIT
#pragma once

// What a tool has done by its own account, so that what others save while it works is theirs.

#include "file/change_observer.hpp"
#include "history/path_tops.hpp"
#include "history/store_impl.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

/// Of files and links at some paths and beneath them. It compares what the tool has displaced with
/// what was known before the tool began, and reads what is another: nobody else has it any more.
class watched_changes final : public change_observer, public share_of_others {
public:
  watched_changes(const store::impl& in, std::span<const std::string> paths);

  void changed(const std::string& path, const displaced_entry& before,
               const std::optional<file_status>& after) override;
  void moved_directory(const std::string& from, const std::string& to) override;
  void changed_all(const std::string& path) override { all_.add(path); }

  /// Before a look is taken in: what others did before the tool, and what the tool did that is not
  /// there any more. Errors: those of writing the journal.
  [[nodiscard]] result<void> put_down(store::impl& in, const cause& by, const cause& others,
                                      const scan_outcome& found);
  /// Unless it is as the tool has left it.
  [[nodiscard]] bool has(const transition& step) const override;

private:
  struct deed {
    std::vector<store::impl::fetched> before{}; ///< what others had put there, one after the other
    known_state after{};
  };
  [[nodiscard]] known_state known_of(std::string_view path) const;
  [[nodiscard]] store::impl::fetched read(const std::string& path, const displaced_entry& entry,
                                          const known_state& seen) const;
  void add_moved(store::impl& in, journal_record& before, const scan_outcome& found) const;

  const store::impl& in_;
  path_tops paths_;
  std::map<std::string, known_state, std::less<>> known_;
  std::map<std::string, deed, std::less<>> deeds_;
  std::map<std::string, std::string, std::less<>> moved_; ///< directories, by where they are
  path_tops all_;
};

} // namespace paddock::history
