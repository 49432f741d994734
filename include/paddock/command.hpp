// SPDX-License-Identifier: MIT
#pragma once

/// Run a program: argument vector (never a shell), working directory by descriptor, environment given whole,
/// both output streams captured with head and tail, a deadline on the monotonic clock, and the whole process
/// tree ended when the call ends.
///
/// A small helper program supervises each command: it adopts daemons that leave the process group and ends
/// them too, also when this process is killed. The command's standard input is /dev/null. It never sees
/// descriptors of this process. What the command itself may touch is the business of confinement.hpp.
///
/// Thread-safety: `run` may be called from any number of threads; the calling process is never forked, so its size
/// does not matter.

#include <paddock/limits.hpp>
#include <paddock/result.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

enum class output_stream : std::uint8_t { out, err };

/// Ends a running command from another thread. Copies refer to the same request.
class cancellation;

struct command {
  std::vector<std::string> argv;        ///< argv[0] is looked up in the PATH of `environment` unless it has a slash
  std::vector<std::string> environment; ///< "NAME=value", complete: nothing is inherited
  int working_directory = -1;           ///< a directory descriptor (O_PATH will do), borrowed for the call
};
// (the owner of this component completes this header)
} // namespace paddock
