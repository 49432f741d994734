// SPDX-License-Identifier: MIT
#pragma once

// Cuts a stream of bytes into lines, in bounded memory. Pure: someone else reads the bytes.
// A line is followed by at least `json_padding` readable bytes, so that it can be parsed in place.

#include <paddock/mcp/json.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace paddock::mcp {

class line_reader {
public:
  explicit line_reader(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  /// Where to put the next bytes; never empty. Lines taken before become invalid.
  [[nodiscard]] std::span<char> space();
  /// `bytes` were put there.
  void added(std::size_t bytes) noexcept { end_ += bytes; }

  struct item {
    std::string_view line; ///< without its '\n'
    bool too_long = false; ///< a line beyond the bound began here; the rest of it is skipped
  };
  /// The next line, or nothing until more bytes are added.
  [[nodiscard]] std::optional<item> take();
  /// What follows the last newline, at the end of the stream.
  [[nodiscard]] std::optional<item> take_rest();

private:
  void reallocate(std::size_t capacity);

  std::size_t line_bytes_max_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0; // without the padding
  std::size_t begin_ = 0;    // of the current line
  std::size_t scanned_ = 0;  // no newline in [begin_, scanned_)
  std::size_t end_ = 0;
  bool skipping_ = false;
};

} // namespace paddock::mcp
