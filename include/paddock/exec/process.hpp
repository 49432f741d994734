// SPDX-License-Identifier: MIT
#pragma once

/// Programs that run for long: started, watched, written to and stopped, from any number of
/// threads.
///
/// Each is a command (command.hpp) under the same helper and the same confinement, and ends for
/// certain: by itself, when it is stopped, at its deadline, with its table, and also when this
/// process is killed with SIGKILL; with it ends everything that it started.
///
/// What it writes to both of its streams is one text, in the order written. Its bytes have offsets
/// from the start, which never change their meaning; the newest are kept, so that memory stays flat
/// whatever it writes. They can be read again, also after the end, for as long as the table
/// remembers the process.
///
/// Thread-safety: everything here may be called from any thread. A table has to outlive the calls
/// on it, but not the handles that it gave.

#include <paddock/base/cancellation.hpp>
#include <paddock/base/detail/function_view.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/command.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// For command::timeout_ms: it may run as long as its table.
inline constexpr std::int64_t no_deadline_ms = std::numeric_limits<std::int64_t>::max();

struct process_limits {
  std::size_t running_max = 16;                        ///< at the same time
  std::uint64_t output_bytes_max = 8ull * 1024 * 1024; ///< kept of each: the newest
  std::size_t ended_max = 32;                          ///< remembered: the latest to end
  std::uint64_t ended_bytes_max = 32ull * 1024 * 1024; ///< of their output together
  std::uint64_t input_bytes_max = 1024ull * 1024;      ///< waiting to be read by one
};

enum class process_streams : std::uint8_t {
  pipes,
  /// The three are one terminal of 120 columns and 40 rows, which echoes what is written to it. It
  /// belongs to an instance of devpts that only this process sees, where a private root can be had.
  terminal,
};

struct process_status {
  std::uint64_t output_bytes = 0; ///< written since the start, kept or not
  /// How it ended, without its output; null: it runs. `cancelled`: it was stopped.
  std::shared_ptr<const command_outcome> outcome;

  /// Whether it has not ended.
  [[nodiscard]] bool running() const noexcept { return outcome == nullptr; }
};

/// What a read waits for when there is nothing yet.
enum class process_wait : std::uint8_t {
  output, ///< something new, and then until nothing more has come for a moment
  end,    ///< the end of the process, or a full page
};

/// Whether a later read without an offset goes on behind this one.
enum class process_cursor : std::uint8_t { moves, stays };

struct process_read {
  std::optional<std::uint64_t> from{}; ///< an offset; empty: where the last read has ended
  std::uint64_t bytes_max = 30'000;    ///< at least 4
  std::int64_t wait_ms = 0;            ///< at most; what is awaited ends it earlier
  process_wait wait = process_wait::output;
  process_cursor cursor = process_cursor::moves;
  /// Ends the wait, and then nothing but the end does: called with what was written from `from` on,
  /// in pieces that begin with a line (or in the middle of one longer than 32 KiB) and may end
  /// anywhere; the last line is seen again when there is more of it. On the thread that reads.
  detail::function_view<bool(std::string_view)> until{};
};

/// A part of the output. It ends with a whole UTF-8 character unless the process has ended.
struct process_page {
  std::string bytes;
  std::uint64_t from = 0;    ///< the offset of the first byte
  std::uint64_t next = 0;    ///< that of the first one after them
  std::uint64_t dropped = 0; ///< bytes between the offset that was asked for and `from`
  bool matched = false;      ///< `until` has said so
  process_status status;     ///< when the page was made
};

class process_record;

/// A handle; copies mean the same process.
class process {
public:
  /// 32 random bits in hexadecimal.
  [[nodiscard]] const std::string& id() const noexcept;
  /// As it was started.
  [[nodiscard]] const std::vector<std::string>& argv() const noexcept;
  /// Whether it was started in a terminal of its own.
  [[nodiscard]] bool in_terminal() const noexcept;
  /// Milliseconds since 1970-01-01 UTC.
  [[nodiscard]] std::int64_t started_unix_ms() const noexcept;
  /// How it is now.
  [[nodiscard]] process_status status() const;

  /// Cancellation ends the wait with what there is, and leaves the process alone. Errors:
  /// invalid_argument (`from` is beyond the output; bytes_max), too_many (descriptors).
  [[nodiscard]] result<process_page> read(const process_read& asked,
                                          const cancellation* cancel = nullptr) const;

  /// For its standard input, all or nothing; written as it reads. Errors: too_large (more than
  /// the limit at once), too_many (it has not read what was written before), conflict (its input
  /// is closed, or it has ended).
  result<void> write(std::string_view bytes) const;
  /// The end of its input, behind what was written; a terminal gets Ctrl-D, and stays open. Errors:
  /// conflict (it was closed before, or has ended).
  result<void> close_input() const;

  /// SIGTERM now, SIGKILL for all of it after the grace; waits for the end. Cancellation ends the
  /// wait. Repeating it can only shorten the grace.
  process_status stop(std::int64_t grace_ms, const cancellation* cancel = nullptr) const;

private:
  friend class process_table;
  explicit process(std::shared_ptr<process_record> of) noexcept : record_(std::move(of)) {}
  std::shared_ptr<process_record> record_;
};

/// A command that was run to its end.
struct kept_outcome {
  command_outcome outcome;
  /// All that was kept of its output, when `outcome` has only a part, or the caller wants it.
  std::optional<process> all;
};

/// Owns processes, and ends them with itself.
class process_table {
public:
  /// `on_end` is called when a process has ended, on its thread; it must not throw.
  explicit process_table(const process_limits& limits = {}, std::function<void()> on_end = {});
  process_table(const process_table&) = delete;
  process_table& operator=(const process_table&) = delete;
  ~process_table();

  /// Returns when the program runs. Of the command, `streams`, `out`, `err` and `output_bytes_max`
  /// mean nothing; `on_output` and `on_tick` are called on a thread of the process. Errors: those
  /// of `run`; "processes": too_many (running already); "terminal": unsupported (none to be had).
  [[nodiscard]] result<process, command_error>
  start(const command& command, process_streams streams = process_streams::pipes);

  using output_judge = std::function<bool(const captured_output&)>;
  /// `run`, with both streams together; what its outcome leaves out is remembered as that of a
  /// process that has ended, and so is output for which `keeps` returns true. Errors: those of
  /// `run`.
  [[nodiscard]] result<kept_outcome, command_error>
  run(const command& command, const cancellation* cancel = nullptr, const output_judge& keeps = {});

  /// Nothing: there is none, or it was forgotten.
  [[nodiscard]] std::optional<process> find(std::string_view id) const;
  /// In the order of their start.
  [[nodiscard]] std::vector<process> list() const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace paddock
