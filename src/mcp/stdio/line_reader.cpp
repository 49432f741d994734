// SPDX-License-Identifier: MIT
#include "mcp/stdio/line_reader.hpp"

#include <algorithm>
#include <cstring>

namespace paddock::mcp {
namespace {

constexpr std::size_t usual_capacity = std::size_t{64} * 1024;
constexpr std::size_t read_bytes_min = std::size_t{4} * 1024;

} // namespace

void line_reader::reallocate(std::size_t capacity) {
  const std::size_t held = end_ - begin_;
  // Not value-initialised: pages that no line reaches are never touched.
  std::unique_ptr<char[]> bigger(new char[capacity + json_padding]);
  if (held > 0) std::memcpy(bigger.get(), buffer_.get() + begin_, held);
  buffer_ = std::move(bigger);
  capacity_ = capacity;
  scanned_ -= begin_;
  begin_ = 0;
  end_ = held;
}

std::span<char> line_reader::space() {
  const std::size_t held = end_ - begin_;
  if (held == 0) {
    begin_ = scanned_ = end_ = 0;
    if (capacity_ != usual_capacity) reallocate(usual_capacity);
  } else if (capacity_ - end_ < read_bytes_min) {
    if (held + read_bytes_min > capacity_ || held > capacity_ / 2) {
      reallocate(std::min(capacity_ * 2, line_bytes_max_ + 2 * read_bytes_min + usual_capacity));
    } else {
      std::memmove(buffer_.get(), buffer_.get() + begin_, held);
      scanned_ -= begin_;
      begin_ = 0;
      end_ = held;
    }
  }
  return {buffer_.get() + end_, capacity_ - end_};
}

std::optional<line_reader::item> line_reader::take() {
  for (;;) {
    if (scanned_ == end_) return std::nullopt;
    const char* const from = buffer_.get() + scanned_;
    const void* const found = std::memchr(from, '\n', end_ - scanned_);
    if (found == nullptr) {
      scanned_ = end_;
      if (skipping_) {
        begin_ = end_;
        return std::nullopt;
      }
      // One more for a '\r', which belongs to the line's end.
      if (end_ - begin_ <= line_bytes_max_ + 1) return std::nullopt;
      skipping_ = true;
      begin_ = end_;
      return item{.line = {}, .too_long = true};
    }
    const auto newline = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.get());
    std::string_view line(buffer_.get() + begin_, newline - begin_);
    begin_ = scanned_ = newline + 1;
    if (skipping_) {
      skipping_ = false;
      continue;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > line_bytes_max_) return item{.line = {}, .too_long = true};
    return item{.line = line};
  }
}

std::optional<line_reader::item> line_reader::take_rest() {
  const std::string_view rest(buffer_.get() + begin_, end_ - begin_);
  begin_ = scanned_ = end_;
  if (skipping_ || rest.empty()) return std::nullopt;
  if (rest.size() > line_bytes_max_) return item{.line = {}, .too_long = true};
  return item{.line = rest};
}

} // namespace paddock::mcp
