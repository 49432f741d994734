// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_report.hpp"
#include "mcp/tools/tools.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/environment.hpp>

#include <gsl/util>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace paddock::mcp {
namespace {

/// What the call asks for, checked as far as the table of parameters cannot.
struct request {
  command run;
  opened directory;
  shown_streams shown;
};

tool_result too_much(std::string_view what, std::uint64_t given, std::uint64_t most,
                     std::string_view remedy) {
  return tool_result::failure(error_code::too_large,
                              std::string(what) + " " + std::to_string(given) + ", at most " +
                                  std::to_string(most) + " are accepted; " + std::string(remedy));
}

/// What the call gives is counted before any of it is copied: the kernel takes less than a line can
/// hold, and does not say which part was too much.
std::optional<tool_result> refuse_too_much(const limits& bounds, const call& c) {
  constexpr std::string_view shorter = "write it to a file and name that instead";
  const json_view arguments = c.arguments()["args"];
  const json_view variables = c.arguments()["env"];
  if (arguments.size() > bounds.exec_arguments_max)
    return too_much("args: the number of arguments is", arguments.size(), bounds.exec_arguments_max,
                    "call several times with a part each");
  if (variables.size() > bounds.exec_variables_max)
    return too_much("env: the number of variables is", variables.size(), bounds.exec_variables_max,
                    "give only those that the command needs");
  std::uint64_t total = 0;
  std::optional<tool_result> refused;
  const auto add = [&](auto name, std::uint64_t bytes) {
    total += bytes + 1; // the NUL that ends it
    if (bytes > argument_bytes_max && !refused)
      refused = too_much(name() + ": the number of bytes is", bytes, argument_bytes_max, shorter);
  };
  std::size_t index = 0;
  add([] { return std::string("command"); }, text_argument(c, "command").size());
  arguments.for_each_element([&](json_view v) {
    add([&] { return "args[" + std::to_string(index) + "]"; }, v.string().value_or("").size());
    ++index;
  });
  variables.for_each_member([&](std::string_view name, json_view v) {
    add([&] { return "env: " + shown(name); }, name.size() + 1 + v.string().value_or("").size());
  });
  if (!refused && total > bounds.exec_argument_bytes_max)
    refused = too_much("the bytes of all arguments and variables together are", total,
                       bounds.exec_argument_bytes_max, shorter);
  return refused;
}

std::vector<std::string> strings_of(json_view array) {
  std::vector<std::string> out;
  array.for_each_element(
      [&](json_view v) { out.emplace_back(v.string().value_or(std::string_view())); });
  return out;
}

std::optional<tool_result> set_environment(const workspace_state& state, const call& c,
                                           command& run) {
  std::vector<environment_variable> extra;
  c.arguments()["env"].for_each_member([&](std::string_view name, json_view value) {
    extra.push_back({std::string(name), std::string(value.string().value_or(std::string_view()))});
  });
  std::vector<std::string_view> inherited;
  for (const char* const* entry = sys::environment(); entry != nullptr && *entry != nullptr;
       ++entry)
    inherited.emplace_back(*entry);
  environment_refusal refusal;
  auto built = build_environment(
      {.inherited = inherited, .pass = state.options.pass_environment, .extra = extra}, &refusal);
  if (!built)
    return tool_result::failure(built.error().code, "env: the variable " + shown(refusal.name) +
                                                        " " + std::string(refusal.reason) +
                                                        "; call again without it");
  run.environment = *std::move(built);
  return std::nullopt;
}

std::optional<tool_result> set_directory(const workspace_state& state, const call& c, request& r) {
  const std::string path = path_argument(c, "cwd");
  auto found = state.root->open_beneath(path, access::inspect);
  if (!found) return failure(found.error(), "cwd " + path);
  if (found->status.kind != entry_kind::directory)
    return failure({error_code::not_a_directory, 0, "exec"}, "cwd " + path,
                   "name a directory inside the workspace");
  r.directory = *std::move(found);
  r.run.working_directory = r.directory.fd.get();
  r.run.workspace = state.root->descriptor();
  return std::nullopt;
}

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
  const limits& bounds = state.options.limits;
  if (auto refused = refuse_too_much(bounds, c)) return refused;
  r.run.argv = strings_of(c.arguments()["args"]);
  r.run.argv.insert(r.run.argv.begin(), std::string(text_argument(c, "command")));
  r.run.confinement = state.options.confinement;
  r.run.workspace = state.root->descriptor();
  r.run.kill_grace_ms = static_cast<std::int64_t>(bounds.exec_kill_grace_ms);
  r.run.output_bytes_max = bounds.exec_output_bytes_max;
  r.run.helper = state.options.exec_helper;
  const auto wanted = [&](std::string_view name) {
    return c.arguments()[name].boolean().value_or(true);
  };
  r.shown = {.out = wanted("stdout"), .err = wanted("stderr")};
  // Both streams are kept, whatever is shown, because hints follow from them.
  if (auto refused = set_timeout(bounds, c, r)) return refused;
  if (auto refused = set_environment(state, c, r.run)) return refused;
  return set_directory(state, c, r);
}

/// What a command meets is the latest there is to know.
void note_confinement(workspace_state& state, const confinement_report& met) {
  const std::lock_guard guard(state.confinement_mutex);
  if (!state.confinement) return;
  for (const layer_report& layer : met.layers)
    if (layer.applied != state.confinement->of(layer.layer).applied) {
      state.confinement.reset();
      return;
    }
}

/// Seconds since the start, whenever there is something to tell.
class progress_report {
public:
  progress_report(call& c, std::string shown) : call_(c), shown_(std::move(shown)) {}
  void tick() {
    const auto now = sys::monotonic_ms();
    if (now < next_ms_) return;
    next_ms_ = now + interval_ms;
    call_.progress(static_cast<double>(now - started_ms_ + 1) / 1000, shown_ + " is running");
  }

private:
  static constexpr std::int64_t interval_ms = 250;
  call& call_;
  std::string shown_;
  std::int64_t started_ms_ = sys::monotonic_ms();
  std::int64_t next_ms_ = started_ms_;
};

/// In the coding set the bound is one for both streams: each has half, and what the other leaves.
stream_rooms rooms_of(toolset tools, const command_outcome& o, shown_streams shown,
                      std::size_t bytes_max) {
  if (tools == toolset::base || !shown.out || !shown.err) return {bytes_max, bytes_max};
  const auto asked = [&](const captured_output& stream) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(stream.total, bytes_max));
  };
  const std::size_t left = bytes_max - std::min(asked(o.out), bytes_max / 2);
  const std::size_t err = std::min(asked(o.err), left);
  return {bytes_max - err, err};
}

constexpr const char* output_does_not_fit =
    "the output of one command may need more memory than the server allows all calls together; a "
    "person can start it with a larger --max-memory-bytes or a smaller --max-exec-output-bytes";

} // namespace

tool_result exec(workspace_state& state, call& c) {
  request r;
  if (auto refused = prepare(state, c, r)) return *std::move(refused);
  const auto commands_max = state.options.limits.exec_concurrent_max;
  const auto ended = gsl::finally([&] { --state.commands_running; });
  if (++state.commands_running > commands_max)
    return tool_result::failure(error_code::too_many,
                                std::to_string(commands_max) +
                                    " commands are running already; wait until one has ended");
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
  const cancellation cancel;
  c.on_cancel([cancel] { cancel.request(); });
  const auto forget = gsl::finally([&] { c.on_cancel({}); });
  const auto outcome = run(r.run, &cancel);
  if (outcome)
    note_confinement(state, outcome->confinement);
  else if (outcome.error().code == error_code::confinement_unavailable)
    note_confinement(state, outcome.error().confinement);
  if (!outcome)
    return command_not_started(*state.root, outcome.error(), r.run, path_argument(c, "cwd"));
  // The result travels twice and escaped, so what fits depends on the bytes: halve until it does.
  std::size_t bytes_max = state.options.limits.exec_output_bytes_max;
  for (;;) {
    tool_result done = command_result(*state.root, r.run, *outcome, r.shown,
                                      rooms_of(state.options.tools, *outcome, r.shown, bytes_max));
    if (done.json.size() <= result_bytes_max(c) || bytes_max < 1024) return done;
    bytes_max /= 2;
  }
}

} // namespace paddock::mcp
