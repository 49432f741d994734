// SPDX-License-Identifier: MIT
#pragma once

// Keeps the beginning and the end of a stream of any length in bounded memory.

#include <paddock/exec/command.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock {

/// Without the end of a UTF-8 sequence at its beginning.
[[nodiscard]] std::string_view without_cut_begin(std::string_view text);
/// Without the beginning of a UTF-8 sequence at its end.
[[nodiscard]] std::string_view without_cut_end(std::string_view text);

class output_collector {
public:
  explicit output_collector(std::uint64_t bytes_max) noexcept
      : head_max_(bytes_max - bytes_max / 2), tail_max_(bytes_max / 2) {}

  void append(std::string_view bytes);
  [[nodiscard]] captured_output finish() &&;

private:
  void append_to_tail(std::string_view bytes);

  std::uint64_t head_max_;
  std::uint64_t tail_max_;
  std::uint64_t total_ = 0;
  std::string head_;
  std::string ring_;           ///< grows to tail_max_, then is overwritten from `ring_begin_` on
  std::size_t ring_begin_ = 0; ///< its oldest byte, once it is full
};

} // namespace paddock
