// SPDX-License-Identifier: MIT
#pragma once

// Cuts a stream of text for people into lines of bounded length; what is beyond is dropped.

#include <cstddef>
#include <string>
#include <string_view>

namespace paddock::mcp {

class log_lines {
public:
  static constexpr std::size_t line_bytes_max = std::size_t{8} * 1024;

  template <class F> void append(std::string_view bytes, const F& on_line) {
    for (;;) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      line_.append(part.substr(0, line_bytes_max - line_.size()));
      if (end == std::string_view::npos) return;
      finish(on_line);
      bytes.remove_prefix(end + 1);
    }
  }
  /// Hands over what follows the last newline, too.
  template <class F> void finish(const F& on_line) {
    if (line_.ends_with('\r')) line_.pop_back();
    if (!line_.empty()) on_line(std::string_view(line_));
    line_.clear();
  }

private:
  std::string line_;
};

} // namespace paddock::mcp
