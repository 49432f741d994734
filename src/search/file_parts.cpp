// SPDX-License-Identifier: MIT
#include "search/file_parts.hpp"

#include "sys/syscall.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/text/utf16.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace paddock {
namespace {

/// Read at once: it stays in the processor's cache while it is searched.
constexpr std::size_t part_bytes = 256 * 1024;
/// Buffers that are larger are counted against the memory that all calls share.
constexpr std::size_t bytes_worth_counting = 1024 * 1024;
constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

/// UTF-16 as UTF-8; a surrogate without its other half becomes U+FFFD.
void decode_utf16(std::string_view bytes, utf16_mark mark, std::string& out) {
  while (bytes.size() >= 2) {
    const detail::utf16_character found = detail::first_utf16(bytes, mark);
    detail::append_utf8(out, found.is_half() ? char32_t{0xFFFD} : found.code);
    bytes.remove_prefix(found.size);
  }
}

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
  if (status.size > options_.file_bytes_max) return error{error_code::too_large, 0, "search"};
  expected_ = status.size;
  read_ = size_ = 0;
  text_ = {};
  is_at_end_ = is_binary_ = false;
  return {};
}

result<void> file_parts::next(std::size_t kept) {
  if (size_ > 0) {
    const auto dropped = static_cast<std::size_t>(text_.data() - buffer_.data()) + kept;
    std::memmove(buffer_.data(), buffer_.data() + dropped, size_ - dropped);
    size_ -= dropped;
  }
  const bool is_first = read_ == 0;
  bool is_utf16 = false;
  std::size_t wanted = std::max(part_bytes, 2 * size_); // half of it at least is new
  for (bool has_line = false; !has_line && !is_at_end_; wanted *= 2) {
    const std::size_t before = size_;
    // One byte more than there should be tells whether the file has grown.
    const auto all = static_cast<std::size_t>(size_ + expected_ - read_ + 1);
    if (read_ <= expected_ && (is_utf16 || all < wanted)) wanted = all;
    PADDOCK_CHECK(fill(wanted));
    const std::string_view added = std::string_view(buffer_).substr(before, size_ - before);
    is_utf16 =
        is_first && utf16_mark_of(std::string_view(buffer_).substr(0, size_)) != utf16_mark::none;
    if (is_utf16) {
      if (is_at_end_) return decode();
    } else {
      is_binary_ = has_nul(added);
      has_line = is_binary_ || added.find('\n') != std::string_view::npos;
    }
  }
  text_ = std::string_view(buffer_).substr(0, size_);
  if (!is_at_end_) text_ = text_.substr(0, text_.rfind('\n') + 1);
  if (is_first && text_.starts_with(utf8_mark)) text_.remove_prefix(utf8_mark.size());
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
    if (read_ > options_.file_bytes_max) return error{error_code::too_large, 0, "search"};
  }
  return {};
}

result<void> file_parts::decode() {
  const std::string_view bytes = std::string_view(buffer_).substr(0, size_);
  const std::size_t most = bytes.size() / 2 * 3; // of a unit above U+07FF
  PADDOCK_CHECK(count_buffer(most, decoded_counted_));
  decoded_.clear();
  decoded_.reserve(most);
  decode_utf16(bytes.substr(utf16_mark_bytes), utf16_mark_of(bytes), decoded_);
  text_ = decoded_;
  is_binary_ = has_nul(text_);
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
