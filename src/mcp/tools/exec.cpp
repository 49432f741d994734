// SPDX-License-Identifier: MIT
#include "mcp/tools/command_request.hpp"
#include "mcp/tools/exec_report.hpp"
#include "mcp/tools/recorded_call.hpp"
#include "mcp/tools/tools.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/command.hpp>

#include <gsl/util>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace paddock::mcp {
namespace {

struct request : command_request {
  shown_streams shown;
  history::command_reach reach = history::command_reach::anywhere;
  std::vector<std::string> read_only{}; ///< command_outcome::read_only
  std::vector<network_event> network{}; ///< and its network
};

std::optional<tool_result> set_timeout(const limits& bounds, const call& c, request& r) {
  const auto asked = c.arguments()["timeout"].integer();
  const auto timeout_ms = asked.value_or(
      static_cast<std::int64_t>(std::min(bounds.exec_timeout_ms, bounds.exec_timeout_ms_max)));
  if (timeout_ms <= 0 || static_cast<std::uint64_t>(timeout_ms) > bounds.exec_timeout_ms_max)
    return tool_result::failure(error_code::invalid_argument,
                                "timeout: " + std::to_string(timeout_ms) +
                                    " is out of range; give 1 to " +
                                    std::to_string(bounds.exec_timeout_ms_max) + " milliseconds");
  r.run.timeout_ms = timeout_ms;
  return std::nullopt;
}

std::optional<tool_result> prepare(const workspace_state& state, const call& c, request& r) {
  const auto wanted = [&](std::string_view name) {
    return c.arguments()[name].boolean().value_or(true);
  };
  r.shown = {.out = wanted("stdout"), .err = wanted("stderr")};
  // Both streams are kept, whatever is shown, because hints follow from them.
  if (auto refused = set_timeout(state.limits, c, r)) return refused;
  return prepare_command(state, c, r);
}

/// Seconds since the start, whenever there is something to tell.
class progress_report {
public:
  progress_report(call& c, std::string shown) : call_(c), shown_(std::move(shown)) {}
  /// The last line that is not empty says how far it is.
  void output(std::string_view bytes) {
    for (const char c : bytes.substr(bytes.size() - std::min(bytes.size(), line_bytes_max))) {
      if (c == '\n' || c == '\r') {
        if (!line_.empty()) last_ = std::exchange(line_, {});
      } else if (line_.size() < line_bytes_max) {
        line_ += c;
      }
    }
  }
  void tick() {
    const auto now = sys::monotonic_ms();
    if (now < next_ms_) return;
    next_ms_ = now + interval_ms;
    call_.progress(static_cast<double>(now - started_ms_ + 1) / 1000,
                   last_.empty() ? shown_ + " is running" : shown(last_));
  }

private:
  static constexpr std::int64_t interval_ms = 250;
  static constexpr std::size_t line_bytes_max = 400;
  call& call_;
  std::string shown_;
  std::string line_;
  std::string last_;
  std::int64_t started_ms_ = sys::monotonic_ms();
  std::int64_t next_ms_ = started_ms_;
};

/// Runs it, in the coding set with both streams together where both are shown: what is cut off is
/// kept for readProcess.
result<command_outcome, command_error> run_and_keep(workspace_state& state, request& r,
                                                    const cancellation& cancel, kept_output& kept) {
  kept.starts_processes = state.starts_processes;
  kept.plain = state.options.tools != toolset::base;
  kept.together = kept.plain && r.shown.out && r.shown.err;
  if (!kept.together) return run(r.run, &cancel);
  r.run.streams = output_streams::together;
  if (!state.reads_processes) return run(r.run, &cancel);
  const std::size_t room = state.limits.exec_output_bytes_max;
  auto ran = state.processes.run(r.run, &cancel,
                                 [&](const captured_output& o) { return exceeds(o, room); });
  if (!ran) return std::move(ran).error();
  kept.all = std::move(ran->all);
  return std::move(ran->outcome);
}

constexpr std::uint64_t overwritten_times = 8;

constexpr const char* output_does_not_fit =
    "the memory of the server is too small for the output of one command; ask the user to start it "
    "with a larger --limit memory-bytes or a smaller --limit exec-output-bytes";

/// Whether a command could reach the workspace's files by no other way than the workspace. Only
/// with mounts of its own is anything protected: they are what no link leads across.
bool keeps_to_workspace(const confinement_policy& policy, const confinement_report& met) {
  using enum confinement_layer;
  return policy.write_paths.empty() && met.of(file_system).applied && met.of(kill).applied &&
         met.of(protected_entries).applied;
}

/// Of the history's looks: a call that nobody waits for any more looks at nothing, nor does a
/// command after its deadline.
work_bounds bounds_of_looks(workspace_state& state, const call& c, const request& r) {
  work_bounds bounds = bounds_of(state, c);
  if (c.arguments()["timeout"].exists())
    bounds.deadline_ms =
        std::min(bounds.deadline_ms, deadline_in(static_cast<std::uint64_t>(r.run.timeout_ms)));
  return bounds;
}

tool_result run_prepared(workspace_state& state, call& c, request& r) {
  const auto commands_max = state.limits.exec_concurrent_max;
  const auto ended = gsl::finally([&] { --state.commands_running; });
  if (++state.commands_running > commands_max)
    return tool_result::failure(error_code::too_many,
                                std::to_string(commands_max) +
                                    " commands are running already; wait until one has ended");
  // What a progress bar overwrites is not shown, so that there is room for more.
  if (state.options.tools != toolset::base)
    r.run.output_bytes_max =
        std::min(r.run.output_bytes_max, UINT64_MAX / overwritten_times) * overwritten_times;
  memory_share output; // both streams, and the text that is made of them
  if (const auto got =
          output.grow(4 * std::min(r.run.output_bytes_max, SIZE_MAX / 4), bounds_of(state, c));
      !got)
    return got.error().code == error_code::too_large
               ? tool_result::failure(got.error().code, output_does_not_fit)
               : failure(got.error(), r.run.argv.front());
  c.may_block();
  progress_report progress(c, shown(r.run.argv.front()));
  if (c.wants_progress()) r.run.on_tick = [&] { progress.tick(); };
  if (c.wants_progress() && state.options.tools != toolset::base)
    r.run.on_output = [&](output_stream, std::string_view bytes) { progress.output(bytes); };
  const cancellation cancel;
  c.on_cancel([cancel] { cancel.request(); });
  const auto forget = gsl::finally([&] { c.on_cancel({}); });
  kept_output kept;
  const auto outcome = run_and_keep(state, r, cancel, kept);
  if (outcome && keeps_to_workspace(r.run.confinement, outcome->confinement))
    r.reach = outcome->made_no_links ? history::command_reach::workspace_without_links
                                     : history::command_reach::workspace;
  if (outcome) {
    r.read_only = outcome->read_only;
    r.network = outcome->network;
    note_confinement(state, outcome->confinement);
  } else if (outcome.error().code == error_code::confinement_unavailable) {
    note_confinement(state, outcome.error().confinement);
  }
  if (!outcome)
    return command_not_started(*state.root, outcome.error(), r.run, path_argument(c, "cwd"),
                               state.options.tools);
  // The result travels twice and escaped, so what fits depends on the bytes: halve until it does.
  std::size_t bytes_max = state.limits.exec_output_bytes_max;
  for (;;) {
    tool_result done =
        command_result(*state.root, r.run, *outcome, r.shown, {bytes_max, bytes_max}, kept);
    if (done.json.size() <= result_bytes_max(c) || bytes_max < 1024) return done;
    bytes_max /= 2;
  }
}

} // namespace

tool_result exec(workspace_state& state, call& c) {
  request r;
  if (auto refused = prepare(state, c, r)) return *std::move(refused);
  if (auto refused = refuse_unconfined(state, c)) return *std::move(refused);
  auto recording = record_command(state, c, "exec", bounds_of_looks(state, c, r), r.run);
  if (c.cancelled()) // while it waited for the history, so it is not in it
    return failure({error_code::cancelled, 0, "call"}, "exec");
  r.run.watches_links = state.options.history != nullptr;
  tool_result result = run_prepared(state, c, r);
  note_network(recording, r.network);
  say_lost(result, recording.finish(r.reach, r.read_only));
  return result;
}

} // namespace paddock::mcp
