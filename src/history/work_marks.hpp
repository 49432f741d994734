// SPDX-License-Identifier: MIT
#pragma once

// What the agent has under way, for who opens the store after a kill and for other processes: a
// file for each command and each call of a tool, locked as long as the process lives that does it.
// One that nobody locks is of work that was cut short.

#include "history/journal_records.hpp"
#include "history/store_directory.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

inline constexpr std::string_view mark_prefix = "mark-";
inline constexpr std::string_view start_prefix = "start-"; ///< and its number

/// Not thread-safe; whoever uses it holds the store's lock. Its end does not.
class work_marks {
public:
  explicit work_marks(int directory) : directory_(directory) {}
  work_marks(const work_marks&) = delete;
  work_marks& operator=(const work_marks&) = delete;
  ~work_marks();

  struct mark {
    std::string name{}; ///< empty: none
    file_descriptor lock{};
  };
  /// Marks work as begun; of the record author, tool, command, time and the paths of transitions
  /// count. Errors: those of writing, no_space where `room` bytes are not enough.
  [[nodiscard]] result<mark> put(const journal_record& work, std::uint64_t room);
  /// It has ended and is recorded.
  void remove(mark&& ended);
  /// It has ended and was not recorded: it is found cut short from now on.
  void leave(mark&& ended);

  /// Work as marks tell of it. Without transitions it may have touched everything, be it a command
  /// or a tool; else what lies at or beneath their paths.
  struct state {
    std::vector<journal_record> living{}; ///< of other processes
    std::vector<journal_record> cut_short{};
    std::vector<std::string> left{}; ///< the marks that nobody locks
  };
  /// Of others, among the files of the store. Errors: those of reading.
  [[nodiscard]] result<state> look(std::span<const store_file> files) const;
  /// What was cut short is recorded.
  void remove_left(const state& seen);

  /// Says which start a server has, until this object ends. Errors: those of writing.
  [[nodiscard]] result<void> serve_from(std::uint64_t start);
  /// Of all servers that live; removes what those have left that do not.
  [[nodiscard]] std::vector<std::uint64_t> living_starts() const;

private:
  int directory_;
  std::vector<std::string> own_;
  mark serving_;
  std::vector<mark> idle_; ///< empty, and locked: a call of a tool costs no new file
};

} // namespace paddock::history
