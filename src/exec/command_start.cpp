// SPDX-License-Identifier: MIT
#include "exec/command_run.hpp"
#include "sys/stream.hpp"

#include <utility>

namespace paddock {

result<started_command> start(const command& asked, const entries_to_protect& entries,
                              const command_driver* by) {
  sys::descriptor_pair in, err;
  PADDOCK_TRY(auto out, sys::pipe2(0));
  PADDOCK_CHECK(sys::set_nonblocking(out.first.get()));
  if (asked.streams == output_streams::apart) {
    PADDOCK_TRY(err, sys::pipe2(0));
    PADDOCK_CHECK(sys::set_nonblocking(err.first.get()));
  }
  confine::run_manner manner{.answers_calls = true, .watches_links = asked.watches_links};
  if (by != nullptr) {
    manner.starts = confine::run_manner::told::of_start_too;
    manner.its = by->streams();
    PADDOCK_TRY(in, sys::pipe2(0));
    PADDOCK_CHECK(sys::set_nonblocking(in.second.get()));
  }
  PADDOCK_TRY(auto program,
              supervised_program::start(
                  {.argv = asked.argv,
                   .environment = asked.environment,
                   .in = in.first.get(),
                   .out = out.second.get(),
                   .err = err.second ? err.second.get() : out.second.get(),
                   .working_directory = asked.working_directory,
                   .workspace = asked.workspace < 0 ? asked.working_directory : asked.workspace,
                   .confinement = asked.confinement,
                   .entries = entries,
                   .kill_grace_ms = asked.kill_grace_ms,
                   .helper = asked.helper,
                   .lock = asked.lock,
                   .manner = manner}));
  return started_command{std::move(program), std::move(in.second), std::move(out.first),
                         std::move(err.first)};
}

} // namespace paddock
