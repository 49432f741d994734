// SPDX-License-Identifier: MIT
#pragma once

// A program under the supervision of paddock-exec-helper, which confines it and ends its whole
// tree.

#include "exec/confinement_policy.hpp"
#include "exec/own_loopback.hpp"
#include "exec/protection/workspace_watch.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "sys/process.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/confinement.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// The operation of the error of a command that was to reach hosts by name and cannot.
inline constexpr const char* hosts_unreachable = "network";

/// Descriptors are borrowed for the call of `start`; what the program needs is duplicated.
struct supervised_start {
  const std::vector<std::string>& argv;
  const std::vector<std::string>& environment;
  int in = -1; ///< -1: /dev/null
  int out = -1;
  int err = -1;
  int working_directory = -1;
  int workspace = -1;
  const confinement_policy& confinement;
  const entries_to_protect& entries; ///< of the workspace
  std::int64_t kill_grace_ms = 0;
  const std::string& helper; ///< empty: what find_command_helper returns
  int lock = -1;             ///< see command::lock
  confine::run_manner manner{};
};

/// A running helper. Closing the channel makes it kill everything, so no path out of here leaves a
/// program or a zombie behind.
class supervised_program {
public:
  /// Errors: unsupported (no helper), too_many, too_large; what the program itself meets is an
  /// event on the channel.
  static result<supervised_program> start(const supervised_start& asked);
  supervised_program(supervised_program&&) noexcept = default;
  supervised_program& operator=(supervised_program&&) = delete;
  supervised_program(const supervised_program&) = delete;
  supervised_program& operator=(const supervised_program&) = delete;
  ~supervised_program();

  /// SIGTERM for the program now, SIGKILL after the grace.
  void terminate() const;
  /// The same after another grace, which is not negative. May be repeated, to wait less.
  void terminate(std::int64_t grace_ms) const;
  void signal(int number) const;
  /// Why the program could not be started, of a `failed` event.
  [[nodiscard]] static error start_error(const sys::exec_message& failed);

  /// Null: nobody is reached by name.
  [[nodiscard]] held_egress* egress() const {
    return loopback_ ? loopback_->egress.get() : nullptr;
  }

  sys::child_process helper;
  file_descriptor channel;
  std::uint64_t network_mark = 0; ///< of egress(), before the program began

private:
  supervised_program() = default;

  std::shared_ptr<const own_loopback> loopback_; ///< stays as long as the program may use it
  std::shared_ptr<const held_scratch> scratch_;  ///< the same
};

/// Where the helper of a program at that absolute path is looked for, in order: absolute paths
/// only.
[[nodiscard]] std::vector<std::string> helper_directories_of(std::string_view program);

/// Whether execve would see less of the text than there is.
[[nodiscard]] bool has_nul(const std::string& text);

} // namespace paddock
