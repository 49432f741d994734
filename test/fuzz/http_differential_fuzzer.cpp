// SPDX-License-Identifier: MIT
// One request as our reader and Boost.Beast read it: they differ in the listed ways only.
#include "http/request_differential.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddock::test;
  if (size == 0) return 0; // Beast looks at a first byte
  const std::string_view stream(reinterpret_cast<const char*>(data), size);
  const request_read ours = read_by_us(stream);
  const request_read beast = read_by_beast(stream);
  if (const auto what = difference(ours, beast, stream)) {
    std::cerr << *what << "\n  we: " << ours << "\n  Beast: " << beast << "\n";
    std::abort();
  }
  return 0;
}
