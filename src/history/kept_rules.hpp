// SPDX-License-Identifier: MIT
#pragma once

// Which names the servers of a workspace protect, kept in its store: a person's command, which is
// started without their options, has to know them, too.

#include "history/store_directory.hpp"

#include <paddock/history/history.hpp>

#include <memory>

namespace paddock::history {

/// The workspace under its own rules and those that are kept, which a server adds its own to.
/// Errors: root_gone, those of opening; those of reading and writing the rules: without them
/// nothing may be done.
[[nodiscard]] result<std::shared_ptr<const root>, detailed_error>
under_kept_rules(std::shared_ptr<const root> workspace, store_directory& store, session by);

} // namespace paddock::history
