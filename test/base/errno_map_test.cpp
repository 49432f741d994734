// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"
#include "sys/syscall.hpp"

namespace paddock {
namespace {

constexpr std::pair<int, error_code> table[] = {
    {ENOENT, error_code::not_found},
    {EEXIST, error_code::already_exists},
    {ENOTDIR, error_code::not_a_directory},
    {EISDIR, error_code::is_a_directory},
    {ENOTEMPTY, error_code::not_empty},
    {ENXIO, error_code::not_regular},
    {ENODEV, error_code::not_regular},
    {EACCES, error_code::permission_denied},
    {EPERM, error_code::permission_denied},
    {EROFS, error_code::read_only},
    {ETXTBSY, error_code::read_only},
    {ENOSPC, error_code::no_space},
    {EDQUOT, error_code::no_space},
    {EFBIG, error_code::too_large},
    {EOVERFLOW, error_code::too_large},
    {E2BIG, error_code::too_large},
    {EMFILE, error_code::too_many},
    {ENFILE, error_code::too_many},
    {ENOMEM, error_code::too_many},
    {EAGAIN, error_code::too_many},
    {EMLINK, error_code::too_many},
    {ENOBUFS, error_code::too_many},
    {ENAMETOOLONG, error_code::name_too_long},
    {ELOOP, error_code::symlink_loop},
    {EXDEV, error_code::crosses_mount},
    {EBUSY, error_code::crosses_mount},
    {EINVAL, error_code::invalid_argument},
    {ETIMEDOUT, error_code::timed_out},
    {ECANCELED, error_code::cancelled},
    {ENOSYS, error_code::unsupported},
    {EOPNOTSUPP, error_code::unsupported},
    {ESTALE, error_code::conflict},
};

TEST(ErrnoMap, SaysWhatAPersonCanActOn) {
  for (const auto& [os_errno, code] : table)
    EXPECT_EQ(wire_name(code), wire_name(sys::code_of(os_errno))) << "errno " << os_errno;
}

TEST(ErrnoMap, EverythingElseIsAnErrorOfTheDevice) {
  for (int os_errno = 1; os_errno < 256; ++os_errno) {
    bool known = false;
    for (const auto& row : table)
      known = known || row.first == os_errno;
    if (!known) {
      EXPECT_EQ(error_code::io, sys::code_of(os_errno)) << "errno " << os_errno;
    }
  }
}

} // namespace
} // namespace paddock
