// SPDX-License-Identifier: MIT
#include "exec/output_ring.hpp"

#include <algorithm>
#include <utility>

namespace paddock {

void output_ring::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto used = static_cast<std::size_t>((end_ - begin_) % block_bytes);
    if (used == 0 && block_of(end_) == blocks_.size()) {
      std::unique_ptr<char[]> block;
      if (blocks_.size() > 1 && end_ - begin_ >= bytes_max_ + block_bytes) {
        block = std::move(blocks_.front());
        blocks_.pop_front();
        begin_ += block_bytes;
      } else {
        block = std::make_unique_for_overwrite<char[]>(block_bytes);
      }
      blocks_.push_back(std::move(block));
    }
    const std::size_t size = std::min(bytes.size(), block_bytes - used);
    std::copy_n(bytes.data(), size, blocks_.back().get() + used);
    end_ += size;
    bytes.remove_prefix(size);
  }
}

std::string output_ring::bytes(std::uint64_t from, std::uint64_t bytes_max) const {
  from = std::clamp(from, begin_, end_);
  const std::uint64_t until = from + std::min(bytes_max, end_ - from);
  std::string out;
  out.reserve(static_cast<std::size_t>(until - from));
  while (from < until) {
    const auto within = static_cast<std::size_t>((from - begin_) % block_bytes);
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(until - from, block_bytes - within));
    out.append(blocks_[block_of(from)].get() + within, size);
    from += size;
  }
  return out;
}

} // namespace paddock
