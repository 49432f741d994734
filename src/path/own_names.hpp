// SPDX-License-Identifier: MIT
#pragma once

// Names in a workspace that belong to this library, whatever the list of protected names says.

namespace paddock {

/// Hidden at any depth: where earlier versions kept what was under way of a change of several files.
inline constexpr const char* change_record_name = ".paddock-changes";

} // namespace paddock
