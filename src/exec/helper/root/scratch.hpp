// SPDX-License-Identifier: MIT
#pragma once

namespace paddock::exec {

/// Removes a directory with everything in it, however deep it is and whatever its modes allow, as
/// far as this user can. Follows no link and crosses no mount. Whoever works in it meanwhile can
/// make that entries stay, but not that it removes what was not in there.
void remove_tree(const char* path);

} // namespace paddock::exec
