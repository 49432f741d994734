// SPDX-License-Identifier: MIT
#include "exec/command_output.hpp"

#include <algorithm>
#include <utility>

namespace paddock {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// How many bytes a UTF-8 sequence has that begins with this byte.
std::size_t sequence_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xF0U) return 4;
  if (byte >= 0xE0U) return 3;
  return byte >= 0xC0U ? 2 : 1;
}

} // namespace

std::string_view without_cut_begin(std::string_view text) {
  std::size_t cut = 0;
  while (cut < 3 && cut < text.size() && is_continuation(text[cut]))
    ++cut;
  return text.substr(cut);
}

std::string_view without_cut_end(std::string_view text) {
  const std::size_t longest = std::min<std::size_t>(text.size(), 4);
  for (std::size_t back = 1; back <= longest; ++back) {
    const char c = text[text.size() - back];
    if (is_continuation(c)) continue;
    return sequence_size(c) > back ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

void output_collector::append(std::string_view bytes) {
  total_ += bytes.size();
  const auto room = static_cast<std::size_t>(head_max_ - head_.size());
  const std::string_view first = bytes.substr(0, room);
  head_.append(first);
  append_to_tail(bytes.substr(first.size()));
}

void output_collector::append_to_tail(std::string_view bytes) {
  if (bytes.size() > tail_max_)
    bytes.remove_prefix(bytes.size() - static_cast<std::size_t>(tail_max_));
  const std::string_view growth =
      bytes.substr(0, static_cast<std::size_t>(tail_max_ - ring_.size()));
  ring_.append(growth);
  bytes.remove_prefix(growth.size());
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), ring_.size() - ring_begin_);
    std::copy_n(bytes.data(), size, ring_.data() + ring_begin_);
    ring_begin_ = (ring_begin_ + size) % ring_.size();
    bytes.remove_prefix(size);
  }
}

captured_output output_collector::finish() && {
  std::ranges::rotate(ring_, ring_.begin() + static_cast<std::ptrdiff_t>(ring_begin_));
  const bool truncated = total_ > head_.size() + ring_.size();
  if (!truncated) {
    head_ += ring_;
    ring_.clear();
  }
  return {
      .head = std::move(head_), .tail = std::move(ring_), .total = total_, .truncated = truncated};
}

std::string captured_output::text(std::size_t bytes_max) const {
  if (!truncated && head.size() <= bytes_max) return head;
  const std::string_view last = truncated ? std::string_view(tail) : std::string_view(head);
  const std::size_t half = bytes_max / 2;
  const std::string_view begin = without_cut_end(std::string_view(head).substr(0, half));
  const std::string_view end =
      without_cut_begin(last.substr(last.size() - std::min(half, last.size())));
  const std::uint64_t left_out = total - begin.size() - end.size();
  std::string text(begin);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "[... " + std::to_string(left_out) + " bytes left out ...]\n";
  text += end;
  return text;
}

} // namespace paddock
