// SPDX-License-Identifier: MIT
// UTF-16 decoded and encoded, for a judge with other codecs. Each line of the input is `decode
// BYTES` or `encode le|be|none TEXT` in hexadecimal digits behind an x; each of the output
// `le|be|none BYTES`, or `fault OFFSET WORDS`.

#include "support/text/hex_lines.hpp"

#include <paddock/text/utf16.hpp>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using paddock::utf16_mark;

constexpr std::string_view marks[] = {"none", "le", "be"};

std::string fault(const paddock::text_fault& e) {
  return "fault " + std::to_string(e.offset) + " " + e.operation;
}

std::string decode(std::string bytes) {
  auto done = paddock::decode_text(std::move(bytes));
  if (!done) return fault(done.error());
  return std::string(marks[static_cast<std::size_t>(done->mark)]) + " " +
         paddock::test::digits_of(done->text);
}

std::string encode(std::string_view mark, std::string text) {
  const auto at = std::ranges::find(marks, mark) - std::begin(marks);
  auto done = paddock::encode_text(std::move(text), static_cast<utf16_mark>(at));
  if (!done) return fault(done.error());
  return std::string(mark) + " " + paddock::test::digits_of(*done);
}

} // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> words = paddock::test::words_of(line);
    const bool is_decode = words[0] == "decode";
    std::cout << (is_decode ? decode(paddock::test::bytes_of(words[1]))
                            : encode(words[1], paddock::test::bytes_of(words[2])))
              << '\n';
  }
}
