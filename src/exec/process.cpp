// SPDX-License-Identifier: MIT
#include "exec/process_record.hpp"
#include "exec/protocol/exec_protocol.hpp"

#include <paddock/exec/process.hpp>

namespace paddock {

const std::string& process::id() const noexcept {
  return record_->known().id;
}

const std::vector<std::string>& process::argv() const noexcept {
  return record_->known().argv;
}

bool process::in_terminal() const noexcept {
  return record_->in_terminal();
}

std::int64_t process::started_unix_ms() const noexcept {
  return record_->known().started_unix_ms;
}

process_status process::status() const {
  return record_->status();
}

result<process_page> process::read(const process_read& asked, const cancellation* cancel) const {
  return record_->read(asked, cancel);
}

result<void> process::write(std::string_view bytes) const {
  return record_->write(bytes);
}

result<void> process::close_input() const {
  return record_->close_input();
}

process_status process::stop(std::int64_t grace_ms, const cancellation* cancel) const {
  record_->ask_to_stop(grace_ms);
  record_->wait_for_end(no_deadline_ms, cancel); // the thread that runs it has a bound of its own
  return record_->status();
}

} // namespace paddock
