// SPDX-License-Identifier: MIT
#pragma once

// What the agent has closed is opened for the time of a restore: a directory that nobody may list,
// or a file that nobody may read, would hide what was changed in it.

#include "history/change_sets.hpp"
#include "history/restore_plan.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace paddock::history {

/// What the agent has closed and a restore would open, parents first.
[[nodiscard]] std::vector<std::string> closed_by_agent(const path_changes& all,
                                                       const restore_request& request);

class opened_up {
public:
  explicit opened_up(store::impl& of) noexcept : of_(of) {}
  opened_up(const opened_up&) = delete;
  opened_up& operator=(const opened_up&) = delete;
  ~opened_up() { close({}); }

  /// Opens what the agent has closed since, as deep as that goes, and takes in what it finds there
  /// as the agent's. What cannot be opened stays as it was. Errors: those of looking and recording.
  [[nodiscard]] result<void> open_all(std::uint64_t offset, const restore_request& request);
  /// Gives back the modes; to what has been restored those that it is to have.
  void close(const std::vector<restore_step>& restored);

private:
  struct opened_entry {
    std::uint64_t inode = 0;
    unsigned was = 0, now = 0; ///< modes
  };
  /// Whether there was something to open, and whose doing that was.
  [[nodiscard]] bool open_some(const path_changes& all, const restore_request& request, cause& by);
  [[nodiscard]] bool open_one(const std::string& path, const known_state& state);
  [[nodiscard]] result<void> look(const cause& by, const restore_request& request);

  store::impl& of_;
  std::map<std::string, opened_entry> entries_;
  std::vector<work_marks::mark> marks_; ///< for who comes after a kill
};

} // namespace paddock::history
