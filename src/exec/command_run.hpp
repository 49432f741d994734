// SPDX-License-Identifier: MIT
#pragma once

#include "exec/broker/call_broker.hpp"
#include "exec/command_driver.hpp"
#include "exec/command_output.hpp"
#include "exec/protection/changed_settings.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "exec/supervised_program.hpp"

#include <paddock/exec/command.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

namespace paddock {

struct started_command {
  supervised_program program;
  file_descriptor in; ///< of an attended command
  file_descriptor out;
  file_descriptor err;
};

/// Starts the helper, and with it the command.
result<started_command> start(const command& asked, const entries_to_protect& entries,
                              const command_driver* by = nullptr);

/// `run` for somebody who looks after the command meanwhile; null: nobody.
result<command_outcome, command_error> run_attended(const command& command,
                                                    const cancellation* cancel, command_driver* by);

/// One call of `run`, from the start of the helper to the end of the tree.
class command_run {
public:
  /// `cancel_fd` is readable when the call is cancelled; -1: it cannot be. `starting` is kept until
  /// the helper tells that what it mounts is in place. `asked`, `entries`, `settings` and `by`,
  /// which may be null, outlive this.
  command_run(const command& asked, const entries_to_protect& entries, changed_settings& settings,
              started_command running, int cancel_fd, std::int64_t began,
              std::shared_lock<std::shared_timed_mutex> starting, command_driver* by);

  result<command_outcome, command_error> finish() &&;

private:
  enum class phase : std::uint8_t { running, ending, draining };

  bool step();
  void time_passed();
  void stop(ending why);
  void take_news();
  void give_input();
  void take_event();
  void take_passed(const sys::exec_message& message, file_descriptor passed);
  void take_terminal(file_descriptor library_side);
  void apply(const sys::exec_message& message);
  void apply(const sys::exec_appeared& told);
  void apply(const sys::exec_appeared_elsewhere& told);
  void note_appeared(const std::string& path, const sys::exec_appeared& told);
  void note_confinement(const sys::exec_confined& told);
  void supervisor_lost();
  void give_up(const error& reason);
  void start_draining();
  void take_network_events(held_egress& egress);
  void take_output(output_stream stream, file_descriptor& from, output_collector& into);

  const command& asked_;
  const entries_to_protect& entries_;
  const int workspace_;
  std::vector<std::string> repositories_; ///< that were whole when it started
  started_command running_;
  command_driver* by_;
  input_state input_ = input_state::idle;
  std::optional<std::int64_t> grace_ms_; ///< that the driver wants, when it wants the end
  int cancel_fd_;
  std::int64_t began_;
  std::shared_lock<std::shared_timed_mutex> starting_;
  std::int64_t wake_at_;
  std::unique_ptr<char[]> buffer_;
  output_collector out_;
  output_collector err_;
  phase phase_ = phase::running;
  bool started_ = false;
  int process_group_ = 0; ///< 0 until the helper has told, and in a PID namespace
  bool ended_ = false;    ///< the command's wait status is known
  std::optional<ending> stopped_;
  std::optional<error> failed_;
  changed_settings& settings_;
  call_broker calls_;
  bool watches_links_ = false;
  command_outcome outcome_;
};

} // namespace paddock
