// SPDX-License-Identifier: MIT
#include "search/file_parts.hpp"

#include "sys/syscall.hpp"

#include <paddock/base/detail/utf8.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace paddock {
namespace {

/// Read at once: it stays in the processor's cache while it is searched.
constexpr std::size_t part_bytes = 256 * 1024;
/// Buffers that are larger are counted against the memory that all calls share.
constexpr std::size_t bytes_worth_counting = 1024 * 1024;
constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

bool has_nul(std::string_view text) {
  return !text.empty() && std::memchr(text.data(), '\0', text.size()) != nullptr;
}

} // namespace

result<void> file_parts::open(int directory, const char* name) {
  PADDOCK_TRY(file_, sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  PADDOCK_TRY(const auto status, root_.mounts() == mounts::refuse ? sys::status_at(file_.get(), "")
                                                                  : sys::fstat(file_.get()));
  if (status.kind != entry_kind::file) return error{error_code::not_regular, 0, "search"};
  PADDOCK_CHECK(root_.check_entered(file_.get(), status));
  expected_ = status.size;
  mark_ = utf16_mark::none;
  decoded_.clear();
  read_ = size_ = 0;
  text_ = {};
  is_at_end_ = is_binary_ = false;
  return {};
}

result<void> file_parts::next(std::size_t kept) {
  if (mark_ != utf16_mark::none) return next_decoded(kept);
  if (size_ > 0) {
    const auto dropped = static_cast<std::size_t>(text_.data() - buffer_.data()) + kept;
    std::memmove(buffer_.data(), buffer_.data() + dropped, size_ - dropped);
    size_ -= dropped;
  }
  const bool is_first = read_ == 0;
  std::size_t wanted = std::max(part_bytes, 2 * size_); // half of it at least is new
  for (bool has_line = false; !has_line && !is_at_end_; wanted *= 2) {
    const std::size_t before = size_;
    // One byte more than there should be tells whether the file has grown.
    const auto all = static_cast<std::size_t>(size_ + expected_ - read_ + 1);
    if (read_ <= expected_ && all < wanted) wanted = all;
    PADDOCK_CHECK(fill(wanted));
    const std::string_view added = std::string_view(buffer_).substr(before, size_ - before);
    if (is_first && before == 0 && (mark_ = utf16_mark_of(added)) != utf16_mark::none)
      return next_decoded(0);
    is_binary_ = has_nul(added);
    has_line = is_binary_ || added.find('\n') != std::string_view::npos;
    if (!has_line) PADDOCK_CHECK(check_line(size_));
  }
  text_ = std::string_view(buffer_).substr(0, size_);
  if (!is_at_end_) text_ = text_.substr(0, text_.rfind('\n') + 1);
  if (is_first && text_.starts_with(utf8_mark)) text_.remove_prefix(utf8_mark.size());
  return {};
}

result<void> file_parts::next_decoded(std::size_t kept) {
  std::size_t skipped = decoded_.empty() && text_.empty() ? utf16_mark_bytes : 0;
  if (skipped == 0) decoded_.erase(0, kept);
  while (true) {
    const std::size_t before = decoded_.size();
    PADDOCK_CHECK(decode(std::exchange(skipped, 0)));
    const std::string_view added = std::string_view(decoded_).substr(before);
    is_binary_ = has_nul(added);
    if (is_at_end_ || is_binary_ || added.find('\n') != std::string_view::npos) break;
    PADDOCK_CHECK(check_line(decoded_.size()));
    PADDOCK_CHECK(fill(part_bytes));
  }
  text_ = decoded_;
  if (!is_at_end_) text_ = text_.substr(0, text_.rfind('\n') + 1);
  return {};
}

result<void> file_parts::check_line(std::size_t bytes) const {
  if (bytes > options_.line_bytes_max) return error{error_code::too_large, 0, "search"};
  return {};
}

result<void> file_parts::fill(std::size_t wanted) {
  while (size_ < wanted && !is_at_end_) {
    if (wanted > buffer_.size()) {
      const std::size_t larger = std::max(wanted, part_bytes);
      PADDOCK_CHECK(count_buffer(larger, counted_));
      buffer_.resize(larger);
    }
    PADDOCK_TRY(const std::size_t n,
                sys::read(file_.get(), std::span(buffer_).subspan(size_, wanted - size_)));
    is_at_end_ = n == 0 || (read_ + n == expected_ && n < wanted - size_);
    size_ += n;
    read_ += n;
  }
  return {};
}

result<void> file_parts::decode(std::size_t skipped) {
  std::string_view bytes = std::string_view(buffer_).substr(skipped, size_ - skipped);
  const std::size_t most = decoded_.size() + bytes.size() / 2 * 3; // of a unit above U+07FF
  if (most > decoded_.capacity()) {
    const std::size_t larger = std::max(most, 2 * decoded_.size());
    PADDOCK_CHECK(count_buffer(larger, decoded_counted_));
    decoded_.reserve(larger);
  }
  // Before the end two units are looked at, which may be halves of one character.
  while (bytes.size() >= (is_at_end_ ? 2u : 4u)) {
    const detail::utf16_character found = detail::first_utf16(bytes, mark_);
    detail::append_utf8(decoded_, found.is_half() ? char32_t{0xFFFD} : found.code);
    bytes.remove_prefix(found.size);
  }
  std::memmove(buffer_.data(), bytes.data(), bytes.size());
  size_ = bytes.size();
  return {};
}

result<void> file_parts::count_buffer(std::size_t bytes, std::uint64_t& counted) {
  if (bytes <= bytes_worth_counting || bytes <= counted) return {};
  PADDOCK_CHECK(memory_.grow(bytes - counted, options_.bounds));
  counted = bytes;
  return {};
}

void file_parts::close() noexcept {
  file_ = {};
  if (buffer_.size() > bytes_worth_counting) buffer_ = {};
  if (decoded_.capacity() > bytes_worth_counting) decoded_ = {};
}

} // namespace paddock
