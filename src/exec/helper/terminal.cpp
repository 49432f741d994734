// SPDX-License-Identifier: MIT
#include "exec/helper/terminal.hpp"

#include "exec/helper/policy/helper.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::exec {
namespace {

long control(int fd, unsigned long request, long value) {
  return ::syscall(SYS_ioctl, fd, request, value);
}

template <class Value> long control(int fd, unsigned long request, Value* value) {
  return ::syscall(SYS_ioctl, fd, request, value);
}

/// With the message that it is there.
int send_to_library(int channel, int fd) {
  const sys::exec_message told{sys::exec_event::terminal, 0, 0};
  return send_with_descriptor(channel, &told, sizeof told, fd);
}

} // namespace

terminal open_terminal(int channel) {
  const int library_side = ::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (library_side < 0) return {-1, errno};
  int locked = 0;
  struct winsize size{};
  size.ws_row = sys::terminal_rows;
  size.ws_col = sys::terminal_columns;
  terminal made;
  if (control(library_side, TIOCSPTLCK, &locked) == 0 &&
      control(library_side, TIOCSWINSZ, &size) == 0)
    made.command_side = static_cast<int>(
        control(library_side, TIOCGPTPEER, static_cast<long>(O_RDWR | O_NOCTTY | O_CLOEXEC)));
  if (made.command_side < 0)
    made.os_errno = errno;
  else
    made.os_errno = send_to_library(channel, library_side);
  ::close(library_side);
  return made;
}

int take_terminal(int command_side) {
  return control(command_side, TIOCSCTTY, 0L) == 0 ? 0 : errno;
}

} // namespace paddock::exec
