// SPDX-License-Identifier: MIT
#include "history/journal.hpp"

#include "file/replace.hpp"
#include "history/journal_records.hpp"
#include "history/store_directory.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/result.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

/// Hands out the records of a journal's file one by one, also behind damage. The file stays open
/// meanwhile.
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
  [[nodiscard]] result<got> next(journal_record& into, std::uint64_t& offset) {
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
  /// Behind the last record that was handed out, and what was passed over before it.
  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }
  /// What was passed over at first, from and to; empty: nothing.
  struct gap {
    std::uint64_t begin = 0, end = 0;
  };
  [[nodiscard]] const gap& first_gap() const noexcept { return gap_; }

private:
  [[nodiscard]] result<got> one(journal_record& into, std::uint64_t& offset) {
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
  /// From the damaged record at `at_` to the next whole one, if there is one.
  [[nodiscard]] result<bool> find_next() {
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
  [[nodiscard]] result<bool> is_record_at(std::uint64_t at) {
    journal_record ignored;
    std::uint64_t offset = 0;
    go_to(at);
    PADDOCK_TRY(const got there, one(ignored, offset));
    go_to(at);
    return there == got::record;
  }
  /// As a power cut leaves it where something was to be written.
  [[nodiscard]] result<bool> ends_in_zeros() const {
    std::string last(std::min<std::uint64_t>(end_ - at_, 16), '?'); // so many no record has there
    PADDOCK_CHECK(read_all(fd_, last, end_ - last.size()));
    return last.find_first_not_of('\0') == std::string::npos;
  }
  void go_to(std::uint64_t at) {
    at_ = at;
    buffer_.clear();
    used_ = 0;
  }
  [[nodiscard]] result<void> fill(std::size_t wanted) {
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
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(used_); }
  [[nodiscard]] std::size_t left() const { return buffer_.size() - used_; }

  int fd_;
  std::uint64_t at_, end_;
  std::string buffer_;
  std::size_t used_ = 0;
  gap gap_;
};

constexpr const char* journal_name = "journal";
constexpr std::string_view journal_magic = "paddock journal 1\n";
constexpr const char* new_journal_name = "journal.new";
constexpr std::size_t write_bytes = std::size_t{1} << 20U;
constexpr const char* damaged_journal_name = "journal.damaged";

} // namespace

result<journal::found> journal::open(access how, bool must_exist) {
  bool is_cut = false;
  if (inode_ != 0) {
    const auto status = sys::status_at(directory_, journal_name, AT_SYMLINK_NOFOLLOW);
    const bool is_same = status && status->inode == inode_;
    if (is_same && status->size >= end_) return found::more;
    is_cut = is_same;
    must_exist = true;
  }
  constexpr int plain = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
  const int made = how == access::full ? O_CREAT : 0;
  auto opened = sys::openat(directory_, journal_name, plain | made, 0600);
  was_damaged_ = was_damaged_ || (!opened && must_exist);
  PADDOCK_TRY(fd_, std::move(opened));
  PADDOCK_TRY(const auto status, sys::fstat(fd_.get()));
  if (status.kind != entry_kind::file) return error{error_code::io, 0, "history journal"};
  std::string magic(std::min<std::uint64_t>(status.size, journal_magic.size()), '\0');
  PADDOCK_TRY(const std::size_t size, read_all(fd_.get(), magic, 0));
  has_gap_ = size == journal_magic.size() && magic != journal_magic;
  was_damaged_ = has_gap_ || sys::entry_status_at(directory_, damaged_journal_name).has_value();
  if (status.size < journal_magic.size() && how == access::full) { // not even that was written
    PADDOCK_CHECK(sys::ftruncate(fd_.get(), 0));
    PADDOCK_CHECK(write_all(fd_.get(), journal_magic));
  }
  inode_ = status.inode;
  end_ = journal_magic.size();
  if (!is_cut && (!must_exist || status.size >= journal_magic.size())) return found::another;
  has_gap_ = was_damaged_ = true;
  if (how == access::full) (void)put_aside(0, 0); // others hear of it, too
  return found::lost;
}

result<void> journal::catch_up(const visit& each, access how, const work_bounds& bounds) {
  grown_ = 0;
  has_rest_ = false; // others may have written meanwhile: what is there is looked at
  PADDOCK_TRY(const auto status, sys::fstat(fd_.get()));
  if (status.size <= end_) return {};
  journal_stream in(fd_.get(), end_, status.size);
  const auto take_gap = [&] {
    const auto& gap = in.first_gap();
    if (gap.end == 0) return;
    has_gap_ = was_damaged_ = true;
    if (how == access::full) (void)put_aside(gap.begin, gap.end); // it is in the journal still
  };
  for (;;) {
    if (const auto going_on = bounds.check(); !going_on) {
      end_ = in.at();
      take_gap();
      return going_on;
    }
    journal_record record;
    std::uint64_t offset = 0;
    PADDOCK_TRY(const auto got, in.next(record, offset));
    if (got == journal_stream::got::record) {
      has_gap_ = has_gap_ || in.first_gap().end != 0;
      each(std::move(record), offset);
      continue;
    }
    const bool is_damaged = got == journal_stream::got::damaged;
    was_damaged_ = was_damaged_ || is_damaged;
    if (got == journal_stream::got::end || how == access::reading) break;
    end_ = in.at(); // the records before it are taken, whatever becomes of the rest
    if (is_damaged) PADDOCK_CHECK(put_aside(in.at(), status.size));
    PADDOCK_CHECK(sys::ftruncate(fd_.get(), in.at()));
    break;
  }
  take_gap();
  end_ = in.at();
  return {};
}

/// For whoever wants to know what it was; a longer one is cut.
result<void> journal::put_aside(std::uint64_t begin, std::uint64_t end) const {
  constexpr std::uint64_t aside_bytes_max = std::uint64_t{1} << 20U;
  std::string bytes(std::min(end - begin, aside_bytes_max), '\0');
  PADDOCK_TRY(const std::size_t size, read_all(fd_.get(), bytes, begin));
  bytes.resize(size);
  return write_store_file(directory_, damaged_journal_name, bytes, true);
}

std::uint64_t journal::begin() noexcept {
  return journal_magic.size();
}

void journal::forget_damage() {
  (void)sys::unlinkat(directory_, damaged_journal_name, 0);
  was_damaged_ = has_gap_;
}

result<std::uint64_t> journal::append(const journal_record& record, std::uint64_t room) {
  const std::string bytes = render(record);
  if (bytes.size() > room) return error{error_code::no_space, 0, budget_operation};
  if (has_rest_) PADDOCK_CHECK(sys::ftruncate(fd_.get(), end_)); // nothing may come behind it
  has_rest_ = false;
  const auto written = write_all(fd_.get(), bytes);
  if (!written) {
    has_rest_ = !sys::ftruncate(fd_.get(), end_);
    return written.error();
  }
  const std::uint64_t at = end_;
  end_ += bytes.size();
  grown_ += bytes.size();
  return at;
}

result<void> journal::sync() const {
  return sys::fdatasync(fd_.get());
}

result<void> journal::read_from(std::uint64_t offset, const look& each,
                                const work_bounds& bounds) const {
  journal_stream in(fd_.get(), offset, end_);
  for (;;) {
    journal_record record;
    std::uint64_t at = 0;
    PADDOCK_TRY(const auto got, in.next(record, at));
    if (got == journal_stream::got::end) return {};
    if (got != journal_stream::got::record) return error{error_code::io, 0, "history journal"};
    if (!each(record, at)) return {};
    PADDOCK_CHECK(bounds.check());
  }
}

result<void> journal::replace(std::uint64_t room,
                              const std::function<result<void>(const put&)>& all) {
  PADDOCK_TRY(const auto fd, sys::openat(directory_, new_journal_name,
                                         O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  std::string waiting(journal_magic);
  const auto flush = [&]() -> result<void> {
    if (waiting.size() > room) return error{error_code::no_space, 0, budget_operation};
    room -= waiting.size();
    PADDOCK_CHECK(write_all(fd.get(), waiting));
    waiting.clear();
    return {};
  };
  result<void> done = all([&](const journal_record& record) -> result<void> {
    waiting += render(record);
    return waiting.size() < write_bytes ? result<void>() : flush();
  });
  if (done) done = flush();
  if (done) done = sys::fdatasync(fd.get());
  if (done) done = sys::renameat2(directory_, new_journal_name, directory_, journal_name, 0);
  if (done) return sys::fsync(directory_);
  (void)sys::unlinkat(directory_, new_journal_name, 0);
  return done;
}

} // namespace paddock::history
