// SPDX-License-Identifier: MIT
#pragma once

// The record of a restore under way, in the store: whoever opens it next carries it to its end.

#include "history/restore_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

struct restore_intent {
  std::string staging; ///< a directory at the top of the workspace
  restore_plan plan;   ///< without conflicts
};

/// A directory that the restore has made, and which one it is.
struct made_directory {
  std::string path;
  std::uint64_t inode = 0;
};

[[nodiscard]] std::string render(const restore_intent& intent);
/// Nothing for what is no whole record.
[[nodiscard]] std::optional<restore_intent> parse_intent(std::string_view bytes);

/// Puts it on the disk. Errors: those of writing.
[[nodiscard]] result<void> write_intent(int directory, const restore_intent& intent,
                                        std::uint64_t room);
/// Nothing where there is none, or a damaged one, which is put aside. Errors: those of reading.
[[nodiscard]] result<std::optional<restore_intent>> read_intent(int directory);
void remove_intent(int directory);

/// Puts beside it, on the disk, which directories were made: before anything is put into them.
/// Errors: those of writing.
[[nodiscard]] result<void> write_made(int directory, const std::vector<made_directory>& made);
/// None where none was written.
[[nodiscard]] std::vector<made_directory> read_made(int directory);
/// Keeps what cannot be carried to its end for who looks into it.
void put_intent_aside(int directory);

} // namespace paddock::history
