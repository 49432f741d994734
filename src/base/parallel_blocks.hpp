// SPDX-License-Identifier: MIT
#pragma once

// A loop over many independent items, shared by the calling thread and some others.

#include "base/start_thread.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace paddock {

/// Calls work(i) once for each i below `count`. The others begin at once, the caller joins in with
/// `finish`, and may do something else before that.
template <class Work> class parallel_blocks {
public:
  /// `threads` counts the calling one. Fewer are used where the system has no more. Each takes
  /// `block` items at a time: many small ones, or one that waits for something.
  parallel_blocks(std::size_t count, unsigned threads, Work work, std::size_t block = 256)
      : count_(count), block_(block), work_(std::move(work)), others_(std::max(threads, 1u) - 1) {
    for (auto& other : others_)
      if (!start_thread(other, [this] { drain(); })) break;
  }
  parallel_blocks(const parallel_blocks&) = delete;
  parallel_blocks& operator=(const parallel_blocks&) = delete;
  ~parallel_blocks() { finish(); }

  void finish() {
    drain();
    for (auto& other : others_)
      if (other.joinable()) other.join();
  }

private:
  void drain() {
    for (std::size_t begin = 0; (begin = next_.fetch_add(block_)) < count_;)
      for (std::size_t i = begin; i < std::min(begin + block_, count_); ++i)
        work_(i);
  }

  std::size_t count_;
  std::size_t block_;
  Work work_;
  std::atomic<std::size_t> next_{0};
  std::vector<std::thread> others_;
};

} // namespace paddock
