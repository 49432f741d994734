// SPDX-License-Identifier: MIT
#include "history/journal_stream.hpp"

#include "file/replace.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace paddock::history {
namespace {

constexpr std::uint64_t read_bytes = std::uint64_t{1} << 20U;
/// Head, kind, number and time, where the number is as short as it can be.
constexpr std::size_t beginning_bytes = record_head_size + 1 + 1 + 8;

/// A cheap look before a sum is made: the kind is one, and the time lies within 8,000 years.
bool may_begin_record(std::string_view bytes) {
  byte_reader in(bytes.substr(record_head_size));
  const std::uint8_t kind = in.u8();
  (void)in.number();
  const std::uint64_t time = in.u64();
  return kind >= 1 && kind <= 3 && (!in.is_good() || time >> 48U == 0);
}

} // namespace

result<journal_stream::got> journal_stream::next(journal_record& into, std::uint64_t& offset) {
  if (at_ == end_) return got::end;
  PADDOCK_TRY(const got first, one(into, offset));
  if (first == got::record) return first;
  const std::uint64_t damaged_at = at_;
  PADDOCK_TRY(const bool is_another, find_next());
  if (!is_another) {
    go_to(damaged_at);
    PADDOCK_TRY(const bool is_unwritten, ends_in_zeros());
    return is_unwritten ? got::cut_off : first;
  }
  if (gap_.end == 0) gap_ = {.begin = damaged_at, .end = at_};
  return one(into, offset);
}

result<journal_stream::got> journal_stream::one(journal_record& into, std::uint64_t& offset) {
  PADDOCK_CHECK(fill(record_head_size));
  if (left() < record_head_size) return got::cut_off;
  const auto size = record_size(rest().substr(0, record_head_size));
  if (!size) return got::damaged;
  if (*size > end_ - at_) return got::cut_off;
  PADDOCK_CHECK(fill(*size));
  if (left() < *size) return got::cut_off;
  auto record = parse_record(rest().substr(0, *size));
  if (!record) return got::damaged;
  into = *std::move(record);
  offset = at_;
  at_ += *size;
  used_ += *size;
  return got::record;
}

/// As a power cut leaves it where something was to be written.
result<bool> journal_stream::ends_in_zeros() const {
  std::string last(std::min<std::uint64_t>(end_ - at_, 16), '?'); // so many no record has there
  PADDOCK_CHECK(read_all(fd_, last, end_ - last.size()));
  return last.find_first_not_of('\0') == std::string::npos;
}

void journal_stream::go_to(std::uint64_t at) {
  at_ = at;
  buffer_.clear();
  used_ = 0;
}

result<bool> journal_stream::is_record_at(std::uint64_t at) {
  journal_record ignored;
  std::uint64_t offset = 0;
  go_to(at);
  PADDOCK_TRY(const got there, one(ignored, offset));
  go_to(at);
  return there == got::record;
}

/// From the damaged record at `at_` to the next whole one, if there is one.
result<bool> journal_stream::find_next() {
  const std::uint64_t begin = at_;
  PADDOCK_CHECK(fill(record_head_size));
  const auto size =
      left() < record_head_size ? std::nullopt : record_size(rest().substr(0, record_head_size));
  if (size && *size < end_ - begin) { // most likely its size is right
    PADDOCK_TRY(const bool is_there, is_record_at(begin + *size));
    if (is_there) return true;
    go_to(begin);
  }
  while (end_ - at_ > beginning_bytes) {
    ++at_;
    if (used_ < buffer_.size()) ++used_;
    PADDOCK_CHECK(fill(beginning_bytes));
    if (left() < beginning_bytes) return false;
    const auto like = record_size(rest().substr(0, record_head_size));
    if (!like || *like > end_ - at_ || !may_begin_record(rest())) continue;
    PADDOCK_TRY(const bool is_there, is_record_at(at_));
    if (is_there) return true;
  }
  return false;
}

result<void> journal_stream::fill(std::size_t wanted) {
  if (left() >= wanted) return {};
  buffer_.erase(0, used_);
  used_ = 0;
  const std::uint64_t from = at_ + buffer_.size();
  const std::size_t old = buffer_.size();
  const std::uint64_t more = std::min(end_ - from, std::max<std::uint64_t>(read_bytes, wanted));
  buffer_.resize(old + more);
  PADDOCK_TRY(const std::size_t done, read_all(fd_, std::span(buffer_).subspan(old), from));
  buffer_.resize(old + done);
  return {};
}

} // namespace paddock::history
