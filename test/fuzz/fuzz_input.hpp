// SPDX-License-Identifier: MIT
#pragma once

// What fuzz targets share: taking an input apart, and ending where a property does not hold.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace paddock::test {

inline void require(bool condition) {
  if (!condition) std::abort();
}

class fuzz_input {
public:
  fuzz_input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  /// The next byte; 0 behind the end.
  [[nodiscard]] std::uint8_t byte() {
    const std::string_view taken = take(1);
    return taken.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(taken.front());
  }
  [[nodiscard]] std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] std::string_view rest() { return take(rest_.size()); }

private:
  std::string_view rest_;
};

} // namespace paddock::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
