// SPDX-License-Identifier: MIT
#pragma once

// A program that runs for long, with its three streams in our hands, and that ends for certain:
// supervised by the helper, which also ends it when this process was killed, or, where there is no
// helper and no confinement is wanted, in a session of its own.

#include "exec/protection/workspace_watch.hpp"
#include "exec/supervised_program.hpp"
#include "sys/process.hpp"

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/confinement.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddock {

struct piped_start {
  const std::vector<std::string>& argv;
  const std::vector<std::string>& environment; ///< complete
  const std::string& working_directory;        ///< empty: this process's
  const std::optional<confinement_policy>& confinement;
  std::int64_t kill_grace_ms = 0;
  const std::string& helper; ///< as in command::helper
};

class piped_program {
public:
  /// Errors: invalid_argument, those of finding and running the program, and of making pipes. Of a
  /// confined program some are known only when it has ended: start_failure().
  static result<piped_program, detailed_error> start(const piped_start& asked);
  piped_program(piped_program&& other) noexcept = default;
  piped_program& operator=(piped_program&&) = delete;
  piped_program(const piped_program&) = delete;
  piped_program& operator=(const piped_program&) = delete;
  ~piped_program(); ///< kills and reaps

  file_descriptor input;  ///< a socket, so that writing never raises SIGPIPE
  file_descriptor output; ///< does not block, like `errors`
  file_descriptor errors;

  /// Readable when the program has ended.
  [[nodiscard]] int end_event() const noexcept { return process().handle.get(); }
  /// How the program ended, as the end of a sentence about it; empty when nobody knows.
  [[nodiscard]] std::string describe_end();
  /// Why a confined program that has ended was never run.
  [[nodiscard]] std::optional<error> start_failure();

  /// Asks it to end: SIGTERM for its whole process group, or what its supervisor makes of it.
  void terminate();
  /// How long after `terminate` the end may take before `kill` is due.
  [[nodiscard]] std::int64_t terminate_ms_max() const noexcept;
  /// Ends its process group, or its whole tree when it is supervised; waits until that is done.
  void kill() noexcept;

private:
  piped_program() = default;
  [[nodiscard]] const sys::child_process& process() const noexcept {
    return supervised_ ? supervised_->helper : alone_;
  }
  [[nodiscard]] result<void, detailed_error> start_alone(const piped_start& asked, int in, int out,
                                                         int err);
  [[nodiscard]] result<void, detailed_error> start_supervised(const piped_start& asked,
                                                              const confinement_policy& confinement,
                                                              const std::string& helper, int in,
                                                              int out, int err);
  void take_events();
  void signal_group(int number) const noexcept;

  sys::child_process alone_;
  std::optional<workspace_watch> watch_;
  std::optional<supervised_program> supervised_;
  std::string name_; ///< of the program
  std::optional<error> start_failure_;
  std::optional<int> wait_status_;
  std::int64_t grace_ms_ = 0;
};

} // namespace paddock
