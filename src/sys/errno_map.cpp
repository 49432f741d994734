// SPDX-License-Identifier: MIT
#include "sys/errno_map.hpp"

#include <cerrno>

namespace paddock::sys {

error_code code_of(int os_errno) noexcept {
  switch (os_errno) {
  case ENOENT:
    return error_code::not_found;
  case EEXIST:
    return error_code::already_exists;
  case ENOTDIR:
    return error_code::not_a_directory;
  case EISDIR:
    return error_code::is_a_directory;
  case ENOTEMPTY:
    return error_code::not_empty;
  case ENXIO:
  case ENODEV:
    return error_code::not_regular;
  case EACCES:
  case EPERM:
    return error_code::permission_denied;
  case EROFS:
  case ETXTBSY:
    return error_code::read_only;
  case ENOSPC:
  case EDQUOT:
    return error_code::no_space;
  case EFBIG:
  case EOVERFLOW:
  case E2BIG:
    return error_code::too_large;
  case EMFILE:
  case ENFILE:
  case ENOMEM:
  case EAGAIN:
  case EMLINK:
  case ENOBUFS:
    return error_code::too_many;
  case ENAMETOOLONG:
    return error_code::name_too_long;
  case ELOOP:
    return error_code::symlink_loop;
  case EXDEV:
  case EBUSY: // removing or renaming a mount point
    return error_code::crosses_mount;
  case EINVAL:
    return error_code::invalid_argument;
  case ETIMEDOUT:
    return error_code::timed_out;
  case ECANCELED:
    return error_code::cancelled;
  case ENOSYS:
  case EOPNOTSUPP:
    return error_code::unsupported;
  case ESTALE: // what a name or handle led to is another object now
    return error_code::conflict;
  default:
    return error_code::io;
  }
}

} // namespace paddock::sys
