// SPDX-License-Identifier: MIT
#pragma once

// What the record of a change of several files says, as a value and as bytes. Pure.
//
// A record is text: a line for each directory that is worked in or made and each rename, a line
// with the sum of all before it, and then a line for each stage that was reached. It is whole on
// the disk before anything else happens, so one that is not whole says that nothing has.

#include <paddock/base/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// By what content is known again: its size and a sum that is quick and no secret.
struct content_mark {
  std::uint64_t size = 0;
  std::optional<std::uint64_t> sum{}; ///< nothing: the size has to do

  friend bool operator==(const content_mark&, const content_mark&) = default;
};
/// FNV-1a, of some bytes and those behind them.
inline constexpr std::uint64_t empty_content_sum = 0xCBF29CE484222325U;
[[nodiscard]] std::uint64_t content_sum(std::string_view bytes,
                                        std::uint64_t before = empty_content_sum) noexcept;
[[nodiscard]] content_mark mark_of(std::string_view bytes) noexcept;

/// One rename, or two where a file system has no exchange. Paths are resolved.
struct change_step {
  enum class kind : std::uint8_t {
    create,  ///< temporary -> path
    replace, ///< temporary <-> path; else path -> aside, temporary -> path
    remove,  ///< path -> temporary
    move,    ///< from -> path
  };
  kind what = kind::create;
  std::string path{};
  std::string from{};      ///< of a move, else empty
  std::string temporary{}; ///< a name beside `path`
  std::string aside{};     ///< another
  content_mark fresh{};    ///< of create and replace
  content_mark old{};      ///< of the others
  unsigned old_mode = 0;   ///< of replace

  friend bool operator==(const change_step&, const change_step&) = default;
};

enum class change_stage : std::uint8_t {
  begun,  ///< temporary files may be there; nothing is renamed
  staged, ///< everything may be renamed
  done,   ///< all is as it is to be, but for what has temporary names
  undone, ///< all is as it was, but for these
};

/// A directory that was looked at, and which one it is.
struct change_place {
  std::string path; ///< resolved; empty for the root
  std::uint64_t device = 0, inode = 0;

  friend bool operator==(const change_place&, const change_place&) = default;
};

struct change_record {
  bool is_durable = false;                ///< what is on the disk counts
  std::vector<change_place> places{};     ///< the directories of all steps that were there before
  std::vector<std::string> directories{}; ///< made for it, each above the next
  std::vector<change_step> steps{};
  change_stage stage = change_stage::begun;

  friend bool operator==(const change_record&, const change_record&) = default;
};

/// The bytes of a record in the stage `begun`.
[[nodiscard]] std::string render(const change_record& record);
/// What is put behind them when a stage is reached.
[[nodiscard]] std::string_view stage_line(change_stage stage) noexcept;
/// How every record begins, of whichever version.
inline constexpr std::string_view change_record_magic = "paddock changes ";

// What a record may be and ask for, so that one that somebody else has written keeps nobody busy
// for long.
inline constexpr std::size_t change_record_bytes_max = std::size_t{64} * 1024 * 1024;
inline constexpr std::size_t change_record_lines_max = 100'000; ///< places, directories, steps
/// Of all files that are known again by their sums.
inline constexpr std::uint64_t change_record_marked_bytes_max = std::uint64_t{2} << 30U;

/// Errors: too_many (lines), too_large (content).
[[nodiscard]] result<void> check_extent(const change_record& record);

/// Nothing for what is no whole record, or one beyond these bounds. Every path is relative and
/// every other name a temporary one. Errors: unsupported (a version that is not known).
[[nodiscard]] result<std::optional<change_record>> parse_change_record(std::string_view bytes);

} // namespace paddock
