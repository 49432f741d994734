// SPDX-License-Identifier: MIT
#pragma once

// One process: what is known of it, between the thread that runs it and those that ask.

#include "exec/command_driver.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/exec/process.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// The newest bytes of a stream of any length, each known by its offset from the stream's
/// beginning.
class output_ring {
public:
  /// Keeps at least the last `bytes_max`, and at most a block more.
  explicit output_ring(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  void append(std::string_view bytes);
  /// The offset of the oldest byte that is kept.
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
  /// How many bytes there were.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// The bytes at [from, from + bytes_max) that are kept; `from` is not beyond the end.
  [[nodiscard]] std::string bytes(std::uint64_t from, std::uint64_t bytes_max) const;
  /// Memory that it takes.
  [[nodiscard]] std::uint64_t held_bytes() const noexcept { return blocks_.size() * block_bytes; }

private:
  static constexpr std::size_t block_bytes = 32UL * 1024;
  [[nodiscard]] std::size_t block_of(std::uint64_t offset) const noexcept {
    return static_cast<std::size_t>((offset - begin_) / block_bytes);
  }

  std::uint64_t bytes_max_;
  std::uint64_t begin_ = 0; ///< where the first block begins: blocks go as a whole
  std::uint64_t end_ = 0;
  std::deque<std::unique_ptr<char[]>> blocks_;
};

class process_waiter;

class process_record final : public command_driver {
public:
  struct names {
    std::string id;
    std::vector<std::string> argv;
    std::int64_t started_unix_ms = 0;
  };

  /// Of a process to be run. Errors: too_many.
  static result<std::shared_ptr<process_record>>
  make(names known, const command& asked, process_streams streams, const process_limits& limits);
  /// Of a command that has ended.
  process_record(names known, output_ring output, command_outcome outcome);

  // --- on the thread of the process
  /// From start to end.
  void run() noexcept;

  // --- on any other
  [[nodiscard]] bool in_terminal() const noexcept { return streams_ == process_streams::terminal; }
  [[nodiscard]] const names& known() const noexcept { return known_; }
  [[nodiscard]] process_status status() const;
  /// Waits until the program runs; an error is why it does not.
  result<void, command_error> wait_for_start();
  result<process_page> read(const process_read& asked, const cancellation* cancel);
  result<void> write(std::string_view bytes);
  result<void> close_input();
  void ask_to_stop(std::int64_t grace_ms);
  void wait_for_end(std::int64_t wait_ms, const cancellation* cancel);
  /// When it ended, in the order of all ends; 0: it runs.
  [[nodiscard]] std::uint64_t ended_as() const;
  [[nodiscard]] std::uint64_t held_bytes() const;

private:
  process_record(names known, const command& asked, process_streams streams,
                 const process_limits& limits, file_descriptor news);

  [[nodiscard]] confine::run_manner::streams streams() const noexcept override;
  [[nodiscard]] int news() const noexcept override { return news_.get(); }
  void runs() override;
  [[nodiscard]] std::optional<std::int64_t> take_stop() override;
  [[nodiscard]] input_state write_input(int fd) override;
  void take_output(std::string_view bytes);
  void end(result<command_outcome, command_error> how);
  void wake_all() const;
  // With the lock held, which waiting gives up meanwhile.
  [[nodiscard]] process_status status_now() const;
  [[nodiscard]] bool wait_until(detail::function_view<bool(std::string_view)> met,
                                std::uint64_t from, process_waiter* waiting,
                                std::unique_lock<std::mutex>& lock);
  void wait_for_output(const process_read& asked, std::uint64_t from, process_waiter& waiting,
                       std::unique_lock<std::mutex>& lock);
  [[nodiscard]] process_page page_at(std::uint64_t from, std::uint64_t bytes_max) const;

  const names known_;
  const process_streams streams_ = process_streams::pipes;
  const std::uint64_t input_bytes_max_ = 0;
  file_descriptor directory_;
  file_descriptor workspace_;
  command asked_;
  file_descriptor news_;

  mutable std::mutex lock_; ///< of all below
  output_ring output_;
  std::uint64_t cursor_ = 0;
  std::string input_;
  std::size_t input_sent_ = 0;
  enum class input_end : std::uint8_t { open, asked, gone } input_end_ = input_end::open;
  char last_input_ = '\n';
  std::optional<std::int64_t> stop_grace_ms_;
  bool runs_ = false;
  std::optional<command_error> failed_;
  std::shared_ptr<const command_outcome> outcome_;
  std::uint64_t ended_as_ = 0;
  std::vector<int> waiting_; ///< events to raise
};

} // namespace paddock
