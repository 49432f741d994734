// SPDX-License-Identifier: MIT
#pragma once

// A policy on its way to the helper, and what comes back.

#include "exec/protected_entries.hpp"
#include "exec/protocol/enforcement.hpp"

#include <paddock/exec/confinement.hpp>

#include <string>

namespace paddock::confine {

/// The policy as src/exec/protocol/exec_protocol.hpp describes it, with what is to be protected in
/// this workspace. Errors: invalid_argument, with the operation "policy".
[[nodiscard]] result<std::string> encode(const confinement_policy& policy,
                                         const entries_to_protect& entries);

/// What the steps that were taken amount to.
[[nodiscard]] confinement_report describe(const confinement_policy& policy,
                                          const enforcement& taken);

/// The same when nobody could tell.
[[nodiscard]] confinement_report describe_unknown(const confinement_policy& policy,
                                                  std::string_view reason);

} // namespace paddock::confine
