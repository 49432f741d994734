// SPDX-License-Identifier: MIT
// A program that uses the vocabulary alone and links nothing.
#include <paddock/result.hpp>
#include <paddock/version.hpp>

#include <cstdio>

static paddock::result<int> half(int number) {
  if (number % 2 != 0) return paddock::error{paddock::error_code::invalid_argument};
  return number / 2;
}

int main() {
  std::printf("paddock %s\n", PADDOCK_VERSION);
  return half(4).value_or(0) == 2 && !half(3) ? 0 : 1;
}
