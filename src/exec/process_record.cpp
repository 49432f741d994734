// SPDX-License-Identifier: MIT
#include "exec/process_record.hpp"

#include "exec/command_run.hpp"
#include "exec/process_waiter.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

namespace paddock {

void output_ring::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto used = static_cast<std::size_t>((end_ - begin_) % block_bytes);
    if (used == 0 && block_of(end_) == blocks_.size()) {
      std::unique_ptr<char[]> block;
      if (blocks_.size() > 1 && end_ - begin_ >= bytes_max_ + block_bytes) {
        block = std::move(blocks_.front());
        blocks_.pop_front();
        begin_ += block_bytes;
      } else {
        block = std::make_unique_for_overwrite<char[]>(block_bytes);
      }
      blocks_.push_back(std::move(block));
    }
    const std::size_t size = std::min(bytes.size(), block_bytes - used);
    std::copy_n(bytes.data(), size, blocks_.back().get() + used);
    end_ += size;
    bytes.remove_prefix(size);
  }
}

std::string output_ring::bytes(std::uint64_t from, std::uint64_t bytes_max) const {
  from = std::clamp(from, begin_, end_);
  const std::uint64_t until = from + std::min(bytes_max, end_ - from);
  std::string out;
  out.reserve(static_cast<std::size_t>(until - from));
  while (from < until) {
    const auto within = static_cast<std::size_t>((from - begin_) % block_bytes);
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(until - from, block_bytes - within));
    out.append(blocks_[block_of(from)].get() + within, size);
    from += size;
  }
  return out;
}

namespace {

constexpr std::string_view end_of_input = "\x04";

std::atomic<std::uint64_t> ends{0};

} // namespace

// --- its beginning and end -----------------------------------------------------------------------

result<std::shared_ptr<process_record>> process_record::make(names known, const command& asked,
                                                             process_streams streams,
                                                             const process_limits& limits) {
  PADDOCK_TRY(auto news, sys::eventfd());
  std::shared_ptr<process_record> made(
      new process_record(std::move(known), asked, streams, limits, std::move(news)));
  if (asked.working_directory >= 0) {
    PADDOCK_TRY(made->directory_, sys::duplicate(asked.working_directory));
    made->asked_.working_directory = made->directory_.get();
  }
  if (asked.workspace >= 0) {
    PADDOCK_TRY(made->workspace_, sys::duplicate(asked.workspace));
    made->asked_.workspace = made->workspace_.get();
  }
  return made;
}

process_record::process_record(names known, const command& asked, process_streams streams,
                               const process_limits& limits, file_descriptor news)
    : known_(std::move(known)), streams_(streams), input_bytes_max_(limits.input_bytes_max),
      asked_(asked), news_(std::move(news)), output_(limits.output_bytes_max) {
  asked_.streams = output_streams::together;
  asked_.input = -1;
  asked_.out = asked_.err = capture::discard;
  asked_.on_output = [this, told = asked.on_output](output_stream stream, std::string_view bytes) {
    if (told) told(stream, bytes);
    take_output(bytes);
  };
}

process_record::process_record(names known, output_ring output, command_outcome outcome)
    : known_(std::move(known)), output_(std::move(output)), runs_(true),
      outcome_(std::make_shared<command_outcome>(std::move(outcome))), ended_as_(++ends) {}

void process_record::run() noexcept {
  sys::block_signals();
  end(run_attended(asked_, nullptr, this));
}

void process_record::end(result<command_outcome, command_error> how) {
  const std::lock_guard guard(lock_);
  if (!how && !runs_) failed_ = how.error();
  command_outcome outcome; // of one that could not be followed to its end: it was killed
  outcome.ended = ending::signalled;
  outcome.signal = SIGKILL;
  if (how) outcome = *std::move(how);
  outcome_ = std::make_shared<command_outcome>(std::move(outcome));
  input_end_ = input_end::gone;
  input_ = {};
  ended_as_ = ++ends;
  wake_all();
}

void process_record::wake_all() const {
  for (const int event : waiting_)
    sys::raise_event(event);
}

confine::run_manner::streams process_record::streams() const noexcept {
  return in_terminal() ? confine::run_manner::streams::terminal
                       : confine::run_manner::streams::given;
}

void process_record::runs() {
  const std::lock_guard guard(lock_);
  runs_ = true;
  wake_all();
}

result<void, command_error> process_record::wait_for_start() {
  auto waiting = process_waiter::begin(lock_, waiting_, no_deadline_ms, nullptr);
  if (!waiting) {
    ask_to_stop(0);
    return command_error(waiting.error());
  }
  std::unique_lock lock(lock_);
  while (!runs_ && outcome_ == nullptr)
    (void)(*waiting)->wait(lock);
  if (failed_) return *failed_;
  return {};
}

void process_record::take_output(std::string_view bytes) {
  const std::lock_guard guard(lock_);
  output_.append(bytes);
  wake_all();
}

process_status process_record::status_now() const {
  return {.output_bytes = output_.end(), .outcome = outcome_};
}

process_status process_record::status() const {
  const std::lock_guard guard(lock_);
  return status_now();
}

std::uint64_t process_record::ended_as() const {
  const std::lock_guard guard(lock_);
  return ended_as_;
}

std::uint64_t process_record::held_bytes() const {
  const std::lock_guard guard(lock_);
  return output_.held_bytes();
}

// --- what it reads -------------------------------------------------------------------------------

result<void> process_record::write(std::string_view bytes) {
  const std::lock_guard guard(lock_);
  if (outcome_ != nullptr || input_end_ != input_end::open)
    return error{error_code::conflict, EPIPE, "input"};
  if (bytes.size() > input_bytes_max_) return error{error_code::too_large, 0, "input"};
  if (bytes.size() > input_bytes_max_ - (input_.size() - input_sent_))
    return error{error_code::too_many, 0, "input"};
  if (bytes.empty()) return {};
  input_.erase(0, std::exchange(input_sent_, 0));
  input_ += bytes;
  last_input_ = bytes.back();
  sys::raise_event(news_.get());
  return {};
}

result<void> process_record::close_input() {
  const std::lock_guard guard(lock_);
  if (outcome_ != nullptr || input_end_ != input_end::open)
    return error{error_code::conflict, EPIPE, "input"};
  if (in_terminal()) {
    if (last_input_ != '\n') input_ += end_of_input; // the first one only ends the line
    input_ += end_of_input;
    last_input_ = '\n';
  } else {
    input_end_ = input_end::asked;
  }
  sys::raise_event(news_.get());
  return {};
}

input_state process_record::write_input(int fd) {
  const std::lock_guard guard(lock_);
  while (input_sent_ < input_.size()) {
    const auto written = sys::write(fd, std::string_view(input_).substr(input_sent_));
    if (!written && written.error().os_errno == EAGAIN) return input_state::more;
    if (!written) {
      input_end_ = input_end::gone;
      input_ = {};
      input_sent_ = 0;
      return input_state::closed;
    }
    input_sent_ += *written;
  }
  input_.clear();
  input_sent_ = 0;
  return input_end_ == input_end::open ? input_state::idle : input_state::closed;
}

// --- its end, asked for --------------------------------------------------------------------------

void process_record::ask_to_stop(std::int64_t grace_ms) {
  const std::lock_guard guard(lock_);
  if (outcome_ != nullptr) return;
  stop_grace_ms_ = std::min(std::max<std::int64_t>(grace_ms, 0), stop_grace_ms_.value_or(grace_ms));
  sys::raise_event(news_.get());
}

std::optional<std::int64_t> process_record::take_stop() {
  const std::lock_guard guard(lock_);
  sys::clear_event(news_.get());
  return stop_grace_ms_;
}

void process_record::wait_for_end(std::int64_t wait_ms, const cancellation* cancel) {
  const auto waiting = process_waiter::begin(lock_, waiting_, wait_ms, cancel);
  std::unique_lock lock(lock_);
  while (waiting && outcome_ == nullptr && (*waiting)->wait(lock)) {
  }
}

} // namespace paddock
