// SPDX-License-Identifier: MIT
#pragma once

// A policy on its way to the helper, and what comes back.

#include "exec/protection/workspace_watch.hpp"
#include "exec/protocol/enforcement.hpp"

#include <paddock/exec/confinement.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::confine {

/// How a command is run, beside what it may do.
struct run_manner {
  enum class told : std::uint8_t { of_failure, of_start_too };
  enum class streams : std::uint8_t { given, terminal };
  told starts = told::of_failure;
  streams its = streams::given;
  bool answers_calls = false; ///< that the filter hands over
  bool watches_links = false;
};

/// What a command is given of what is made for all commands of a workspace, and why it does without
/// the rest; 0: it has it, or is not to have it.
struct shared_parts {
  int loopback_errno = 0;
  int scratch_errno = 0;
  std::string_view scratch_directory{};
};

/// Whether commands are to have a loopback of their own.
[[nodiscard]] bool wants_loopback(const confinement_policy& policy);

/// Whether commands are to share their scratch directories.
[[nodiscard]] bool shares_scratch(const confinement_policy& policy);

/// The policy as src/exec/protocol/exec_protocol.hpp describes it, with what is to be protected in
/// this workspace, and what is shared. Errors: invalid_argument, with the operation
/// "policy".
[[nodiscard]] result<std::string> encode(const confinement_policy& policy,
                                         const entries_to_protect& entries,
                                         const run_manner& manner = {},
                                         const shared_parts& shared = {});

/// Looks at what the policy protects in the workspace, if it protects anything.
[[nodiscard]] result<workspace_watch> watch(int workspace, const confinement_policy& policy,
                                            const watch_options& options = {});

/// Whether a layer that is required would not hold for everything in the workspace.
[[nodiscard]] bool is_refused_for(const entries_to_protect& entries,
                                  const confinement_policy& policy);

/// What the steps that were taken amount to.
[[nodiscard]] confinement_report describe(const confinement_policy& policy,
                                          const enforcement& taken);

/// What is missing of every layer of a command that another reason has kept from starting.
inline constexpr std::string_view not_started = "not started";

/// The same when nobody could tell.
[[nodiscard]] confinement_report describe_unknown(const confinement_policy& policy,
                                                  std::string_view reason);

/// Why commands that are to reach hosts by name cannot start.
void tell_of_no_hosts(confinement_report& report, const host_list& hosts, int os_errno);
/// That the layer file_system cannot be had in this workspace (is_of_system).
void tell_of_system_directory(confinement_report& report, const std::string& workspace);

} // namespace paddock::confine
