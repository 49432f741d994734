// SPDX-License-Identifier: MIT
#include "history/journal.hpp"

#include "file/replace.hpp"
#include "history/journal_stream.hpp"
#include "history/store_directory.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace paddock::history {
namespace {

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
