// SPDX-License-Identifier: MIT
#pragma once

// The commands under way, for other processes that have the store open: a file for each, locked as
// long as the process lives that runs it. One that nobody locks is of a command that was cut short.

#include "history/journal_records.hpp"
#include "history/store_directory.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paddock::history {

/// Not thread-safe; whoever uses it holds the store's lock.
class running_commands {
public:
  explicit running_commands(int directory) : directory_(directory) {}

  struct mark {
    std::string name{}; ///< empty: none
    file_descriptor lock{};
  };
  /// Marks one as begun; of the record author, tool, command and time count. Errors: those of
  /// writing, no_space where `room` bytes are not enough.
  [[nodiscard]] result<mark> put(const journal_record& command, std::uint64_t room);
  /// It has ended and is recorded.
  void remove(const mark& ended);
  /// It has ended and was not recorded: it is found cut short from now on.
  void leave(mark&& ended);

  struct state {
    std::optional<journal_record> living{}; ///< one of another process
    std::int64_t first_began_ms = 0;        ///< of those
    std::optional<journal_record> cut_short{};
    std::vector<std::string> left{}; ///< the marks of those that were cut short
  };
  /// Of others, among the files of the store. Errors: those of reading.
  [[nodiscard]] result<state> look(std::span<const store_file> files) const;
  /// What was cut short is recorded.
  void remove_left(const state& seen);

private:
  int directory_;
  std::vector<std::string> own_;
};

} // namespace paddock::history
