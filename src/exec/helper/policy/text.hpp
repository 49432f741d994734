// SPDX-License-Identifier: MIT
#pragma once

// Text and numbers, for a program without the C library's formatting.

#include <cstddef>

namespace paddock::exec {

/// Puts text together in a buffer; there is always a NUL at the end.
class text_writer {
public:
  template <std::size_t size>
  explicit text_writer(char (&buffer)[size]) : at_(buffer), left_(size - 1) {
    buffer[0] = '\0';
  }
  text_writer& add(const char* text);
  text_writer& add(unsigned long number);
  /// Whether everything fitted.
  [[nodiscard]] bool complete() const { return complete_; }

private:
  char* at_;
  std::size_t left_;
  bool complete_ = true;
};

/// Reads decimal digits and leaves `at` behind them; false when there are none, or too many.
bool read_number(const char*& at, unsigned long& number);

/// The canonical name of something that exists, with every link resolved; false when there is none.
/// Needs /proc.
bool resolve(const char* path, char* into, std::size_t size);
template <std::size_t size> bool resolve(const char* path, char (&into)[size]) {
  return resolve(path, into, size);
}
/// The name of what a descriptor stands for.
bool name_of_descriptor(int fd, char* into, std::size_t size);

} // namespace paddock::exec
