// SPDX-License-Identifier: MIT
#pragma once

// Lines of words between a test program and its judge. A word of any bytes is their hexadecimal
// digits behind an x.

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

inline std::string bytes_of(std::string_view word) {
  std::string out;
  for (std::size_t i = 1; i + 1 < word.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(word.substr(i, 2)), nullptr, 16));
  return out;
}

inline std::string digits_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "x";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += {digits[byte / 16U], digits[byte % 16U]};
  }
  return out;
}

} // namespace paddock::test
