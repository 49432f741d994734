// SPDX-License-Identifier: MIT
#pragma once

// What in the end of a command comes from its confinement: what its standard error names, together
// with the layers that were applied, and what a model or a person can do about it.

#include <paddock/exec/command.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// An error of the kernel, a resolver or a program in what is written of it: its name, and how it
/// is said, without the first letter, which some write small.
struct error_words {
  std::string_view name;
  std::string_view said;
};

/// Whether the kept part of standard error has it, at either end.
[[nodiscard]] bool complains(const command_outcome& o, std::string_view phrase);
[[nodiscard]] bool complains(const command_outcome& o, const error_words& of);
/// How the reader gets what an option of paddock-mcp allows: "a person can start the server with
/// --network all", "run it with --network all".
[[nodiscard]] std::string allowing(hint_reader reader, std::string_view option,
                                   std::string_view value = {});

/// What the fence refused: a protected entry, attributes of files, what is outside the workspace, a
/// network; at success, a protected entry alone. Only what is named beside an error of the kernel,
/// and that the policy refuses, counts. Empty: nothing speaks for any of them.
[[nodiscard]] std::string denial_hint(const root& root, const command& run,
                                      const command_outcome& o, hint_reader reader);

/// Says that the policy denies the network, if standard error suggests that the command needed it.
/// Empty otherwise. A guess: programs use words of their own.
[[nodiscard]] std::string network_hint(const command_outcome& o, hint_reader reader);
enum class path_entries : std::uint8_t {
  shared,   ///< those that the command's own PATH has, too
  left_out, ///< those that it has not, where commands see the program
};
/// Where the search path of the policy, which is the server's, leads for a name. Nothing for a
/// path: what lies elsewhere on this machine is not told.
[[nodiscard]] std::optional<std::string> installed_at(const command& run, std::string_view name,
                                                      path_entries in = path_entries::shared);
/// That commands do not see a program of the search path.
[[nodiscard]] std::string unseen_program_words(const std::string& path, hint_reader reader);

/// That modes and times cannot be changed here; empty where they can.
[[nodiscard]] std::string attributes_hint(const confinement_report& enforced, hint_reader reader);

} // namespace paddock::mcp
