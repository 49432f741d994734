// SPDX-License-Identifier: MIT
#pragma once

// What in the end of a command comes from its confinement: evidence in its standard error, together
// with the layers that were applied, and what a model or a person can do about it.

#include <paddock/exec/command.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/root.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// Whether one of the phrases stands in what was kept of standard error, at either end.
[[nodiscard]] bool complains(const command_outcome& o,
                             std::initializer_list<std::string_view> phrases);
/// How the reader gets what an option of paddock-mcp allows: "a person can start the server with
/// --network all", "run it with --network all".
[[nodiscard]] std::string allowing(hint_reader reader, std::string_view option,
                                   std::string_view value = {});

/// What the fence refused: a protected entry, attributes of files, files of another owner, files
/// outside the workspace. Empty: nothing speaks for any of them.
[[nodiscard]] std::string denial_hint(const root& root, const command& run,
                                      const command_outcome& o, hint_reader reader);

/// That modes and times cannot be changed here; empty where they can.
[[nodiscard]] std::string attributes_hint(const confinement_report& enforced, hint_reader reader);

} // namespace paddock::mcp
