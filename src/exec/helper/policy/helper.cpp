// SPDX-License-Identifier: MIT
#include "exec/helper/policy/helper.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace paddock::exec {

void send_event(int channel, sys::exec_event event, int first, int second) {
  const sys::exec_message message{event, first, second};
  (void)!::send(channel, &message, sizeof message, MSG_NOSIGNAL);
}

int send_with_descriptor(int channel, const void* told, unsigned long size, int fd) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  iovec bytes{const_cast<void*>(told), size};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return ::syscall(SYS_sendmsg, channel, &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}

void fail(int channel, sys::exec_stage stage, int os_errno) {
  send_event(channel, sys::exec_event::failed, static_cast<int>(stage), os_errno);
  ::_exit(127);
}

bool open_null_streams() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return false;
  for (int fd = 0; fd < 3; ++fd) {
    if (null == fd ? ::fcntl(fd, F_SETFD, 0) < 0 : ::dup2(null, fd) < 0) return false;
  }
  if (null > 2) ::close(null);
  return true;
}

// Kernels before 5.9 have no call for it.
void close_descriptors(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  rlimit open_files{};
  if (::getrlimit(RLIMIT_NOFILE, &open_files) != 0) return;
  for (unsigned fd = first; fd <= last && fd < open_files.rlim_cur; ++fd)
    ::close(static_cast<int>(fd));
}

void hand_over(int channel, const sys::exec_message& event, int fd) {
  const int failed = fd < 0 ? errno : send_with_descriptor(channel, &event, sizeof event, fd);
  if (failed != 0) fail(channel, sys::exec_stage::confinement, failed);
  ::close(fd);
}

} // namespace paddock::exec
