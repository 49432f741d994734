// SPDX-License-Identifier: MIT
#pragma once

// The newest bytes of a stream of any length, each known by its offset from the stream's beginning.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace paddock {

class output_ring {
public:
  /// Keeps at least the last `bytes_max`, and at most a block more.
  explicit output_ring(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  void append(std::string_view bytes);
  /// The offset of the oldest byte that is kept.
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
  /// How many bytes there were.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// The bytes at [from, from + bytes_max) that are kept; `from` is not beyond the end.
  [[nodiscard]] std::string bytes(std::uint64_t from, std::uint64_t bytes_max) const;
  /// Memory that it takes.
  [[nodiscard]] std::uint64_t held_bytes() const noexcept { return blocks_.size() * block_bytes; }

private:
  static constexpr std::size_t block_bytes = 32UL * 1024;
  [[nodiscard]] std::size_t block_of(std::uint64_t offset) const noexcept {
    return static_cast<std::size_t>((offset - begin_) / block_bytes);
  }

  std::uint64_t bytes_max_;
  std::uint64_t begin_ = 0; ///< where the first block begins: blocks go as a whole
  std::uint64_t end_ = 0;
  std::deque<std::unique_ptr<char[]>> blocks_;
};

} // namespace paddock
