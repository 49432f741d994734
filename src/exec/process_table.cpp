// SPDX-License-Identifier: MIT
#include "base/start_thread.hpp"
#include "exec/process_record.hpp"
#include "sys/random_hex.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/process.hpp>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

namespace paddock {
namespace {

struct entry {
  std::shared_ptr<process_record> record;
  std::thread thread; ///< of one that was started
};

/// Joined without the lock, because the end of a process may wait for other servers.
struct forgotten_entries {
  std::vector<entry> all;

  forgotten_entries() = default;
  forgotten_entries(const forgotten_entries&) = delete;
  forgotten_entries& operator=(const forgotten_entries&) = delete;
  ~forgotten_entries() {
    for (entry& each : all)
      if (each.thread.joinable()) each.thread.join();
  }
};

/// Short, because models and people repeat it: it names, and opens nothing.
result<process_record::names> names_of(const command& asked, const process_table& all) {
  constexpr std::size_t id_bytes = 4;
  std::string id;
  do {
    PADDOCK_TRY(id, sys::random_hex(id_bytes));
  } while (all.find(id));
  return process_record::names{
      .id = std::move(id), .argv = asked.argv, .started_unix_ms = sys::file_clock_ns() / 1'000'000};
}

} // namespace

struct process_table::state {
  process_limits limits;
  std::function<void()> on_end;
  mutable std::mutex lock; ///< of all below
  std::vector<entry> all;  ///< in the order of their start

  [[nodiscard]] std::size_t running() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [](const entry& each) { return each.record->ended_as() == 0; }));
  }
  void forget_oldest(forgotten_entries& out);
};

/// Those that ended first go first, until the rest is within its bounds.
void process_table::state::forget_oldest(forgotten_entries& out) {
  std::vector<std::pair<std::uint64_t, std::size_t>> ended;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const std::uint64_t as = all[i].record->ended_as(); as != 0) ended.emplace_back(as, i);
  std::ranges::sort(ended, std::greater<>());
  std::vector<std::size_t> forgotten;
  std::uint64_t bytes = 0;
  for (std::size_t rank = 0; rank < ended.size(); ++rank) {
    bytes += all[ended[rank].second].record->held_bytes();
    if (rank >= limits.ended_max || (bytes > limits.ended_bytes_max && rank > 0))
      forgotten.push_back(ended[rank].second);
  }
  std::ranges::sort(forgotten, std::greater<>());
  for (const std::size_t index : forgotten) {
    out.all.push_back(std::move(all[index]));
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

process_table::process_table(const process_limits& limits, std::function<void()> on_end)
    : state_(new state{.limits = limits, .on_end = std::move(on_end), .lock = {}, .all = {}}) {}

process_table::~process_table() {
  for (const entry& each : state_->all)
    each.record->ask_to_stop(0);
  for (entry& each : state_->all)
    if (each.thread.joinable()) each.thread.join();
}

result<process, command_error> process_table::start(const command& command,
                                                    process_streams streams) {
  auto known = names_of(command, *this);
  if (!known) return command_error(known.error());
  auto made = process_record::make(*std::move(known), command, streams, state_->limits);
  if (!made) return command_error(made.error());
  const std::shared_ptr<process_record> record = *std::move(made);
  forgotten_entries forgotten; // before each guard
  {
    const std::lock_guard guard(state_->lock);
    state_->forget_oldest(forgotten);
    if (state_->running() >= state_->limits.running_max)
      return command_error({error_code::too_many, 0, "processes"});
    state_->all.push_back({.record = record, .thread = {}});
    const auto work = [record = record.get(), told = &state_->on_end] {
      record->run();
      if (*told) (*told)();
    };
    if (!start_thread(state_->all.back().thread, work)) {
      state_->all.pop_back();
      return command_error({error_code::too_many, 0, "thread"});
    }
  }
  if (auto started = record->wait_for_start(); !started) {
    const std::lock_guard guard(state_->lock);
    const auto at = std::ranges::find(state_->all, record, &entry::record);
    if (at != state_->all.end()) {
      forgotten.all.push_back(std::move(*at));
      state_->all.erase(at);
    }
    return std::move(started).error();
  }
  return process(record);
}

result<kept_outcome, command_error>
process_table::run(const command& command, const cancellation* cancel, const output_judge& keeps) {
  paddock::command asked = command;
  output_ring output(state_->limits.output_bytes_max);
  asked.streams = output_streams::together;
  asked.on_output = [&](output_stream stream, std::string_view bytes) {
    if (command.on_output) command.on_output(stream, bytes);
    output.append(bytes);
  };
  auto outcome = paddock::run(asked, cancel);
  if (!outcome) return std::move(outcome).error();
  kept_outcome kept{.outcome = *std::move(outcome), .all = {}};
  const captured_output& seen = kept.outcome.out;
  if (!seen.truncated && !(keeps && keeps(seen))) return kept;
  auto known = names_of(command, *this);
  if (!known) return kept; // the part is better than nothing
  command_outcome without = kept.outcome;
  without.out = without.err = {};
  auto record =
      std::make_shared<process_record>(*std::move(known), std::move(output), std::move(without));
  kept.all = process(record);
  forgotten_entries forgotten;
  const std::lock_guard guard(state_->lock);
  state_->all.push_back({.record = std::move(record), .thread = {}});
  state_->forget_oldest(forgotten);
  return kept;
}

std::optional<process> process_table::find(std::string_view id) const {
  const std::lock_guard guard(state_->lock);
  for (const entry& each : state_->all)
    if (each.record->known().id == id) return process(each.record);
  return std::nullopt;
}

std::vector<process> process_table::list() const {
  const std::lock_guard guard(state_->lock);
  std::vector<process> all;
  for (const entry& each : state_->all)
    all.push_back(process(each.record));
  return all;
}

} // namespace paddock
