// SPDX-License-Identifier: MIT
#pragma once

// Feeds input to a running command and asks it to stop.

#include "exec/confinement_policy.hpp"

#include <cstdint>
#include <optional>

namespace paddock {

/// What becomes of a command's input after some of it was written.
enum class input_state : std::uint8_t {
  idle,   ///< there is no more at the moment
  more,   ///< there is, and no room for it
  closed, ///< there will be no more, or nobody reads it
};

/// All of it is called on the thread that runs the command.
class command_driver {
public:
  command_driver() = default;
  command_driver(const command_driver&) = delete;
  command_driver& operator=(const command_driver&) = delete;
  virtual ~command_driver() = default;

  [[nodiscard]] virtual confine::run_manner::streams streams() const noexcept = 0;
  /// Readable when there is something to take or to write; borrowed.
  [[nodiscard]] virtual int news() const noexcept = 0;
  /// The program runs.
  virtual void runs() = 0;
  /// How long from SIGTERM to SIGKILL, if the command is to end; it stays so once it was told.
  [[nodiscard]] virtual std::optional<std::int64_t> take_stop() = 0;
  /// Writes what there is for the command into `fd`, which does not block.
  [[nodiscard]] virtual input_state write_input(int fd) = 0;
};

} // namespace paddock
