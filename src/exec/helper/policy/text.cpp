// SPDX-License-Identifier: MIT
#include "exec/helper/policy/text.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace paddock::exec {

text_writer& text_writer::add(const char* text) {
  for (; *text != '\0' && left_ > 0; --left_)
    *at_++ = *text++;
  complete_ = complete_ && *text == '\0';
  *at_ = '\0';
  return *this;
}

text_writer& text_writer::add(unsigned long number) {
  char digits[24];
  char* first = digits + sizeof digits - 1;
  *first = '\0';
  do {
    *--first = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return add(first);
}

bool read_number(const char*& at, unsigned long& number) {
  const char* begin = at;
  number = 0;
  for (; *at >= '0' && *at <= '9' && at - begin < 19; ++at)
    number = number * 10 + static_cast<unsigned long>(*at - '0');
  return at != begin && (*at < '0' || *at > '9');
}

bool resolve(const char* path, char* into, std::size_t size) {
  const int fd = ::open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return false;
  const bool named = name_of_descriptor(fd, into, size);
  ::close(fd);
  return named && into[0] == '/';
}

bool name_of_descriptor(int fd, char* into, std::size_t size) {
  char link[48];
  text_writer(link).add("/proc/self/fd/").add(static_cast<unsigned long>(fd));
  const ssize_t length = ::readlink(link, into, size - 1);
  into[length < 0 ? 0 : length] = '\0';
  return length > 0;
}

} // namespace paddock::exec
