// SPDX-License-Identifier: MIT
#pragma once

// Hands out the records of a journal's file one by one, also behind damage.

#include "history/journal_records.hpp"

#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::history {

/// Not thread-safe; the file stays open meanwhile.
class journal_stream {
public:
  /// From an offset at which a record begins, to another one.
  journal_stream(int fd, std::uint64_t begin, std::uint64_t end) : fd_(fd), at_(begin), end_(end) {}

  enum class got : std::uint8_t {
    record,
    end,
    cut_off, ///< a record that was being written
    damaged, ///< what is left holds no whole record
  };
  /// What is damaged is passed over where a whole record follows. Errors: those of reading.
  [[nodiscard]] result<got> next(journal_record& into, std::uint64_t& offset);
  /// Behind the last record that was handed out, and what was passed over before it.
  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }
  /// What was passed over at first, from and to; empty: nothing.
  struct gap {
    std::uint64_t begin = 0, end = 0;
  };
  [[nodiscard]] const gap& first_gap() const noexcept { return gap_; }

private:
  [[nodiscard]] result<got> one(journal_record& into, std::uint64_t& offset);
  [[nodiscard]] result<bool> find_next();
  [[nodiscard]] result<bool> is_record_at(std::uint64_t at);
  [[nodiscard]] result<bool> ends_in_zeros() const;
  void go_to(std::uint64_t at);
  [[nodiscard]] result<void> fill(std::size_t wanted);
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(used_); }
  [[nodiscard]] std::size_t left() const { return buffer_.size() - used_; }

  int fd_;
  std::uint64_t at_, end_;
  std::string buffer_;
  std::size_t used_ = 0;
  gap gap_;
};

} // namespace paddock::history
