// SPDX-License-Identifier: MIT
#pragma once

// What the exec tool tells: the result of a command that ran, and why one did not.

#include "mcp/tools/tools.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/process.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace paddock::mcp {

/// `directory` is where the command was to run, relative to the root; `offered` knows scripts or
/// not.
[[nodiscard]] tool_result command_not_started(const root& root, const command_error& e,
                                              const command& run, std::string_view directory,
                                              toolset offered);

/// Which required layers are missing, and which options a person has.
[[nodiscard]] tool_result not_confined(const confinement_report& enforced);

/// The streams that the caller wants. Hints follow from what is kept of standard error, shown or
/// not.
struct shown_streams {
  bool out = true;
  bool err = true;
};

/// How many bytes of each stream are shown.
struct stream_rooms {
  std::size_t out = 0;
  std::size_t err = 0;
};

/// Where the output of a command is that ran with both streams together, and where the client may
/// do what exec does not.
struct kept_output {
  bool plain = false;            ///< shown as plain_output(), and counted as it is sent
  bool together = false;         ///< it is all in `out`
  std::optional<process> all;    ///< what was left out, too
  bool starts_processes = false; ///< startProcess is offered
};

/// {"output"} of a command that ended with 0, and {"output", "exitCode"} of one that has answered
/// "no" with 1 (exec_hints.hpp); otherwise a failure with its exit code or signal and
/// its streams, as far as they are wanted and there is room: one text where they were together,
/// cut at lines; then "process" names where all of it is.
[[nodiscard]] tool_result command_result(const root& root, const command& run,
                                         const command_outcome& outcome, shown_streams shown,
                                         stream_rooms rooms, const kept_output& kept = {});

/// Whether that much of plain output is too little room.
[[nodiscard]] bool exceeds(const captured_output& output, std::size_t bytes_max);

} // namespace paddock::mcp
