// SPDX-License-Identifier: MIT

// The tools for programs that run for long.

#include "mcp/protocol/iso_time.hpp"
#include "mcp/tools/command_request.hpp"
#include "mcp/tools/exec_report.hpp"
#include "mcp/tools/plain_output.hpp"
#include "mcp/tools/process_rows.hpp"
#include "mcp/tools/recorded_call.hpp"
#include "mcp/tools/tools.hpp"
#include "search/line_matcher.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/exec/process.hpp>

#include <gsl/util>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::uint64_t page_bytes_max = 30'000;

/// How many bytes at the beginning belong to a character that begins before it.
std::size_t rest_of_character(std::string_view text) {
  constexpr std::size_t rest_bytes_max = 3;
  std::size_t size = 0;
  while (size < std::min(text.size(), rest_bytes_max) &&
         (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
    ++size;
  return size;
}

/// What ends a wait, from the argument `until`.
class awaited_line {
public:
  /// Errors: those of the pattern, whose operation says what is wrong.
  static result<std::optional<awaited_line>> of(const call& c) {
    const std::string_view text = text_argument(c, "until");
    if (text.empty()) return std::optional<awaited_line>();
    PADDOCK_TRY(auto pattern, text_pattern::compile(text));
    return std::optional<awaited_line>(awaited_line(std::move(pattern)));
  }
  bool operator()(std::string_view output) {
    const auto found = matcher_->next(output, 0, {});
    if (!found || !*found) return false;
    const matched_line& at = **found;
    // The beginning of the line, or where in a long one it matches.
    const std::size_t from = at.match - at.begin < shown_characters_max / 2
                                 ? at.begin
                                 : at.match - shown_characters_max / 4;
    const std::string_view shown = output.substr(from, at.end - from);
    const std::string plain = plain_output(shown.substr(rest_of_character(shown)));
    line_ = detail::excerpt(plain, shown_characters_max);
    return true;
  }
  /// The one that ended the wait.
  [[nodiscard]] const std::string& line() const { return line_; }

private:
  static constexpr std::size_t shown_characters_max = 200;
  explicit awaited_line(text_pattern pattern)
      : pattern_(std::move(pattern)), matcher_(std::make_unique<line_matcher>(pattern_.get())) {}
  text_pattern pattern_;
  std::unique_ptr<line_matcher> matcher_;
  std::string line_;
};

/// What a call says beside the page.
struct beside_page {
  const std::optional<awaited_line>& until;
  std::string hint = {}; ///< what can be done about a program that failed
};

tool_result no_such_pattern(const error& e) {
  return tool_result::failure(e.code, std::string("until: ") + e.operation);
}

tool_result no_such_process(std::string_view id) {
  return tool_result::failure(error_code::not_found,
                              "there is no process " + shown(id) +
                                  ", or it ended long ago; listProcesses names those there are");
}

void write_ending(json_writer& out, const process_status& status, std::string notice = {}) {
  if (status.running()) return;
  const command_outcome& outcome = *status.outcome;
  if (outcome.exit_code) out.key("exitCode").integer(*outcome.exit_code);
  if (outcome.signal) out.key("signal").integer(*outcome.signal);
  const auto add = [&](std::string_view text) {
    notice.append(notice.empty() ? "" : "; ").append(text);
  };
  if (outcome.ended == ending::timed_out)
    add("it ran for as long as the server allows, and was ended");
  if (outcome.ended == ending::exited && outcome.leftovers_killed)
    add("what it left running was ended with it; to keep something running, start it with another "
        "startProcess");
  for (const std::string& each : notices_of(outcome))
    add(each);
  if (!notice.empty()) out.member("notice", notice);
}

/// Then nobody has to be told which line it was.
bool ends_with_line(std::string_view output, std::string_view line) {
  output = output.substr(0, output.find_last_not_of("\r\n") + 1);
  return output.ends_with(line);
}

std::string_view state_of(const process_status& status) {
  return status.running() ? "running" : "exited";
}

enum class page_kind : std::uint8_t { start, read };

tool_result page_result(const process& of, const process_page& page, page_kind what,
                        const beside_page& beside) {
  object_result result;
  json_writer& out = result.writer();
  out.member("process", of.id()).member("state", state_of(page.status));
  const std::string output = of.in_terminal() ? page.bytes : plain_output(page.bytes);
  out.member("output", output);
  if (what == page_kind::read) result.number("from", static_cast<std::int64_t>(page.from));
  result.number("next", static_cast<std::int64_t>(page.next));
  if (what == page_kind::read || page.dropped != 0)
    result.number("dropped", static_cast<std::int64_t>(page.dropped));
  if (beside.until) out.key("matched").boolean(page.matched);
  if (beside.until && page.matched && !ends_with_line(output, beside.until->line()))
    out.member("matchedLine", beside.until->line());
  write_ending(out, page.status, beside.hint);
  return result.take();
}

/// A page that was read, or as much of it as a line to the client can hold: what was escaped in it
/// is longer.
template <class MakeResult>
tool_result fitting(const process& of, process_page page, const call& c, MakeResult make) {
  for (;;) {
    tool_result made = make(page);
    if (made.json.size() <= result_bytes_max(c) || page.bytes.size() < 8) return made;
    const bool matched = page.matched;
    const auto dropped = page.dropped;
    auto shorter = of.read({.from = page.from, .bytes_max = page.bytes.size() / 2});
    if (!shorter) return made;
    page = *std::move(shorter);
    page.matched = matched;
    page.dropped += dropped;
  }
}

/// Of a program that has failed at once, what a model can do about it.
std::string hint_of(const root& root, const command& run, const process_page& page) {
  if (page.status.running() || page.status.outcome->exit_code == 0) return {};
  command_outcome seen = *page.status.outcome;
  seen.err = {.head = page.bytes, .tail = {}, .total = page.bytes.size(), .truncated = false};
  std::string hint = command_hint(root, run, seen, hint_reader::model);
  return hint.starts_with("; ") ? hint.substr(2) : hint;
}

tool_result not_started(const workspace_state& state, const call& c, const command_error& e,
                        const command& run) {
  const std::string_view at = e.operation;
  if (at == "processes")
    return tool_result::failure(e.code,
                                std::to_string(state.limits.processes_max) +
                                    " processes are running already; stop one with stopProcess "
                                    "(listProcesses names them)");
  if (at == "terminal")
    return tool_result::failure(e.code, "this system gives commands no terminal; start it without "
                                        "tty");
  return command_not_started(*state.root, e, run, path_argument(c, "cwd"), state.options.tools);
}

bool has_variable(const command& run, std::string_view name) {
  return std::ranges::any_of(run.environment, [&](const std::string& variable) {
    return variable.size() > name.size() && variable.starts_with(name) &&
           variable[name.size()] == '=';
  });
}

/// In a terminal, colours and moves of the cursor are nothing to read.
void use_plain_terminal(const call& c, command& run) {
  if (c.arguments()["env"]["TERM"].string()) return;
  std::erase_if(run.environment,
                [](const std::string& variable) { return variable.starts_with("TERM="); });
  run.environment.emplace_back("TERM=dumb");
}

/// Python keeps what it prints until 8 KiB are full when nobody watches; others flush lines.
void flush_python(command& run) {
  constexpr const char* name = "PYTHONUNBUFFERED";
  if (!has_variable(run, name)) run.environment.push_back(std::string(name) + "=1");
}

std::int64_t wait_of(const call& c, std::uint64_t otherwise) {
  if (c.arguments()["until"].exists()) otherwise = 10'000;
  return static_cast<std::int64_t>(count_argument(c, "waitMs", otherwise));
}

/// From the first process on, people can see them. Where no socket can be had they cannot, and
/// nothing else is missing.
void open_desk(workspace_state& state) {
  if (state.options.process_sockets.empty()) return;
  std::call_once(state.socket_opened, [&] {
    auto opened = process_socket::open(state.options.process_sockets,
                                       std::string(state.root->path()), state.processes);
    if (opened) state.socket = *std::move(opened);
  });
}

/// Counted from the end of what was written so far, if negative.
std::uint64_t offset_of(const process& of, std::int64_t from) {
  if (from >= 0) return static_cast<std::uint64_t>(from);
  const std::uint64_t total = of.status().output_bytes;
  const std::uint64_t back = static_cast<std::uint64_t>(-(from + 1)) + 1;
  return total - std::min(total, back);
}

/// Nobody who counts from the end knows where one begins.
void begin_with_character(process_page& page) {
  const std::size_t within = rest_of_character(page.bytes);
  page.bytes.erase(0, within);
  page.from += within;
}

/// Reads as long as the client wants the call: the process is another matter.
result<process_page> read_for(call& c, const process& of, const process_read& asked) {
  if (asked.wait_ms > 0) c.only_waits();
  const cancellation cancel;
  c.on_cancel([cancel] { cancel.request(); });
  const auto forget = gsl::finally([&] { c.on_cancel({}); });
  return of.read(asked, &cancel);
}

} // namespace

tool_result start_process(workspace_state& state, call& c) {
  command_request r;
  if (auto refused = prepare_command(state, c, r)) return *std::move(refused);
  if (auto refused = refuse_unconfined(state, c)) return *std::move(refused);
  auto until = awaited_line::of(c);
  if (!until) return no_such_pattern(until.error());
  const bool in_terminal = c.arguments()["tty"].boolean().value_or(false);
  if (in_terminal) use_plain_terminal(c, r.run);
  flush_python(r.run);
  const std::uint64_t ms_max = state.limits.process_ms_max;
  r.run.timeout_ms = ms_max == 0 ? no_deadline_ms : static_cast<std::int64_t>(ms_max);
  c.may_block();
  auto changes = record_command(state, c, "startProcess", bounds_of(state, c), r.run);
  if (const auto wanted = bounds_of(state, c).check(); !wanted)
    return failure(wanted.error(), r.run.argv.front());
  const std::string lost = changes.lost();
  const auto started = state.processes.start(r.run, in_terminal ? process_streams::terminal
                                                                : process_streams::pipes);
  if (!started) {
    if (started.error().code == error_code::confinement_unavailable)
      note_confinement(state, started.error().confinement);
    return not_started(state, c, started.error(), r.run);
  }
  state.changes_of_processes.add(*started, std::move(changes));
  state.changes_of_processes.settle(); // it may have ended before
  open_desk(state);
  process_read asked{.from = 0,
                     .bytes_max = page_bytes_max,
                     .wait_ms = wait_of(c, 1000),
                     .wait = process_wait::end};
  if (*until) asked.until = **until;
  auto page = read_for(c, *started, asked);
  if (!page) return failure(page.error(), r.run.argv.front());
  const std::string hint = hint_of(*state.root, r.run, *page);
  tool_result made = fitting(*started, *std::move(page), c, [&](const process_page& shown) {
    return page_result(*started, shown, page_kind::start, {*until, hint});
  });
  say_lost(made, lost);
  return made;
}

tool_result read_process(workspace_state& state, call& c) {
  const std::string_view id = text_argument(c, "process");
  const auto found = state.processes.find(id);
  if (!found) return no_such_process(id);
  auto until = awaited_line::of(c);
  if (!until) return no_such_pattern(until.error());
  process_read asked{.bytes_max = count_argument(c, "bytesMax", page_bytes_max),
                     .wait_ms = wait_of(c, 0)};
  const auto from = c.arguments()["from"].integer();
  if (from) asked.from = offset_of(*found, *from);
  if (*until) asked.until = **until;
  auto page = read_for(c, *found, asked);
  if (page && from && *from < 0) begin_with_character(*page);
  if (!page && std::string_view(page.error().operation) == "from")
    return tool_result::failure(page.error().code,
                                "from: the process has written only " +
                                    std::to_string(found->status().output_bytes) +
                                    " bytes; leave it out to go on where the last answer ended");
  if (!page) return failure(page.error(), "process " + shown(id));
  return fitting(*found, *std::move(page), c, [&](const process_page& shown) {
    return page_result(*found, shown, page_kind::read, {*until});
  });
}

tool_result write_process(workspace_state& state, call& c) {
  const std::string_view id = text_argument(c, "process");
  const auto found = state.processes.find(id);
  if (!found) return no_such_process(id);
  const std::string_view text = text_argument(c, "text");
  const bool eof = c.arguments()["eof"].boolean().value_or(false);
  if (text.empty() && !eof)
    return tool_result::failure(error_code::invalid_argument,
                                "nothing is to be written; give text, or eof true to close the "
                                "input");
  auto done = text.empty() ? result<void>() : found->write(text);
  if (done && eof) done = found->close_input();
  if (!done && done.error().code == error_code::conflict)
    return tool_result::failure(done.error().code,
                                found->status().running()
                                    ? "the process has closed its input, or it was closed with eof"
                                    : "the process has ended; readProcess tells how");
  if (!done && done.error().code == error_code::too_many)
    return tool_result::failure(done.error().code,
                                "the process has not read what was written before; see with "
                                "readProcess what it does, and write again when it goes on");
  if (!done) return failure(done.error(), "process " + shown(id), "write it in parts");
  object_result result;
  result.text("process", id).number("written", static_cast<std::int64_t>(text.size()));
  return result.take();
}

tool_result stop_process(workspace_state& state, call& c) {
  const std::string_view id = text_argument(c, "process");
  const auto found = state.processes.find(id);
  if (!found) return no_such_process(id);
  c.only_waits();
  const cancellation cancel;
  c.on_cancel([cancel] { cancel.request(); });
  const auto forget = gsl::finally([&] { c.on_cancel({}); });
  const auto grace_ms = static_cast<std::int64_t>(count_argument(c, "graceMs", 2000));
  const process_status status = found->stop(grace_ms, &cancel);
  state.changes_of_processes.settle();
  object_result result;
  result.text("process", id).text("state", state_of(status));
  write_ending(result.writer(), status);
  return result.take();
}

tool_result list_processes(workspace_state& state, call&) {
  object_result result;
  json_writer& out = result.writer();
  out.key("processes").begin_array();
  for (const process& each : state.processes.list()) {
    const std::string line = command_text(each);
    const process_status status = each.status();
    out.begin_object().member("process", each.id()).member("command", shown(line));
    out.member("state", state_of(status));
    out.member("startedAt", iso8601_ms(each.started_unix_ms() * 1'000'000));
    out.key("next").integer(static_cast<std::int64_t>(status.output_bytes));
    write_ending(out, status);
    out.end_object();
  }
  out.end_array();
  return result.take();
}

} // namespace paddock::mcp
