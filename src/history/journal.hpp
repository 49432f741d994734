// SPDX-License-Identifier: MIT
#pragma once

// The journal's file: records one behind the other, each with a sum. It only grows; what makes it
// shorter writes another one in its place.

#include "history/journal_records.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>

#include <cstdint>
#include <functional>

namespace paddock::history {

/// Not thread-safe; whoever uses it holds the store's lock.
class journal {
public:
  explicit journal(int directory) : directory_(directory) {}

  enum class found : std::uint8_t {
    more,    ///< or nothing new
    another, ///< it was replaced: nothing that was known of it counts
    lost,    ///< the same, because somebody cut it short, emptied or removed it
  };
  enum class access : std::uint8_t { full, reading };
  /// Opens the file, if that is not the one that is open; made if it is missing, but for reading.
  /// Where it `must_exist`, or did, a missing or empty one is damage.
  [[nodiscard]] result<found> open(access how = access::full, bool must_exist = false);
  using visit = std::function<void(journal_record&& record, std::uint64_t offset)>;
  /// What is behind what was read so far. What is damaged is passed over, and a copy put aside. A
  /// record that is cut off at the end is removed. For reading alone nothing is written. What the
  /// bounds end goes on the next time. Errors: those of reading and writing, cancelled, timed_out.
  [[nodiscard]] result<void> catch_up(const visit& each, access how = access::full,
                                      const work_bounds& bounds = {});
  /// Errors: those of writing, no_space where `room` bytes are not enough; nothing of it is there
  /// then, or, where that cannot be, nothing comes behind what is there of it.
  [[nodiscard]] result<std::uint64_t> append(const journal_record& record, std::uint64_t room);
  [[nodiscard]] result<void> sync() const;
  using look = std::function<bool(const journal_record& record, std::uint64_t offset)>;
  /// All from an offset that `catch_up` or `append` has told up to what is known; false ends it.
  [[nodiscard]] result<void> read_from(std::uint64_t offset, const look& each,
                                       const work_bounds& bounds = {}) const;
  using put = std::function<result<void>(const journal_record& record)>;
  /// Replaces the file by one of the records that `all` puts there. Errors: its own; those of
  /// writing, no_space where `room` bytes are not enough; the file is as it was then.
  [[nodiscard]] result<void> replace(std::uint64_t room,
                                     const std::function<result<void>(const put&)>& all);

  /// Where the first record is.
  [[nodiscard]] static std::uint64_t begin() noexcept;
  /// What `append` has written since the last `catch_up`.
  [[nodiscard]] std::uint64_t grown() const noexcept { return grown_; }
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// Whether records were lost, as far as that is known: until `forget_damage`.
  [[nodiscard]] bool was_damaged() const noexcept { return was_damaged_; }
  /// Whether there is damage in it still, which `replace` removes.
  [[nodiscard]] bool has_gap() const noexcept { return has_gap_; }
  /// Removes what was put aside.
  void forget_damage();

private:
  [[nodiscard]] result<void> put_aside(std::uint64_t begin, std::uint64_t end) const;

  int directory_;
  file_descriptor fd_;
  std::uint64_t inode_ = 0;
  std::uint64_t end_ = 0; ///< behind the last record that is known
  std::uint64_t grown_ = 0;
  bool was_damaged_ = false, has_gap_ = false;
  bool has_rest_ = false; ///< behind `end_` is what `append` could not cut off
};

} // namespace paddock::history
