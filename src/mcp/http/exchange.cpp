// SPDX-License-Identifier: MIT
#include "mcp/http/exchange.hpp"

#include "sys/stream.hpp"

#include <utility>

namespace paddock::mcp {
namespace {

/// Of one call; more progress than that is not kept for the thread that writes.
constexpr std::size_t events_bytes_max = std::size_t{64} * 1024;

} // namespace

void mailbox::post(letter l) {
  bool first = false;
  {
    const std::lock_guard lock(guard_);
    if (closed_) return;
    first = letters_.empty();
    letters_.push_back(std::move(l));
  }
  if (first) sys::raise_event(wake_.get());
}

std::vector<letter> mailbox::take() {
  sys::clear_event(wake_.get());
  const std::lock_guard lock(guard_);
  return std::exchange(letters_, {});
}

void mailbox::close() {
  std::vector<letter> dropped; // let go without the lock, as that may run destructors of anything
  const std::lock_guard lock(guard_);
  closed_ = true;
  dropped.swap(letters_);
}

void exchange::post(letter::kind what, std::string_view line, rpc_error code) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  to_->post({shared_from_this(), what, code, std::string(line)});
}

void exchange::send(std::string_view line) {
  replied = true;
  post(letter::kind::answer, line);
}

void exchange::offer(std::string_view line) {
  if (!accepts_events) return;
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (events_waiting_.fetch_add(line.size()) > events_bytes_max) return event_taken(line.size());
  post(letter::kind::event, line);
}

void exchange::refuse(std::string_view line, rpc_error code) {
  replied = true;
  post(letter::kind::refusal, line, code);
}

void exchange::done() {
  post(letter::kind::done, {});
}

} // namespace paddock::mcp
