// SPDX-License-Identifier: MIT
#pragma once

// What the file that takes another's place takes over from it, so that nobody gains access and no
// note of a user is lost.

#include <paddock/base/result.hpp>
#include <paddock/path/root.hpp>

namespace paddock {

/// Of a mode: set-user-ID and set-group-ID, which no file that is written keeps.
inline constexpr unsigned set_id_bits = 06000;

/// Gives the new file behind `fd`, which nobody else may open yet, what the file at the place has:
/// - the owner and the group, as far as this process may give files away; without the group, the
///   group's permissions shrink to everybody's;
/// - the POSIX access control list, or none: what a new file inherits from its directory goes;
/// - extended attributes of the `user.` namespace, where the file system has room for them and this
///   user may read them. Those of `trusted.`, `security.` (capabilities) and `system.` belong to
///   the old content or to the system;
/// - the mode, but for set-user-ID and set-group-ID.
/// Errors: permission_denied when the list cannot be read or kept, no_space.
/// Precondition: the place has an existing file.
[[nodiscard]] result<void> take_over_attributes(int fd, const place& where);

} // namespace paddock
