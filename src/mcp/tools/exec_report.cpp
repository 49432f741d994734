// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_report.hpp"

#include "exec/command_output.hpp"
#include "exec/confinement_policy.hpp"
#include "exec/held_scratch.hpp"
#include "mcp/tools/exec_denials.hpp"
#include "mcp/tools/exec_hints.hpp"
#include "mcp/tools/plain_output.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace paddock::mcp {
namespace {

constexpr std::string_view no_output = "Command executed successfully, but produced no output.";

/// What a client can do about a command that could not be started, by the stage that failed; empty
/// for the advice of the code.
std::string_view remedy(const error& e) {
  const std::string_view stage = e.operation;
  if (stage == "argv") return "give a program and arguments without NUL bytes";
  if (stage == "working_directory") return "name another directory as cwd";
  if (stage == "workspace" && e.code == error_code::permission_denied)
    return "the workspace directory cannot be listed, so nothing in it could be protected; a "
           "person can run chmod u+rwx on it";
  if (stage == "workspace" && e.code == error_code::conflict)
    return "protected entries kept changing their places; call it again";
  return {};
}

/// Where it was looked for; only a person can put it there.
tool_result helper_does_not_run(const error& e, const command& run) {
  const std::string message = run.helper.empty() && !find_command_helper()
                                  ? missing_helper_text()
                                  : "the helper program paddock-exec-helper does not run (" +
                                        std::generic_category().message(e.os_errno) + ")";
  return tool_result::failure(e.code,
                              shown(run.argv.front()) + ": " + message +
                                  "; only the operator can fix this; continue without commands");
}

} // namespace

tool_result not_confined(const confinement_report& enforced) {
  std::string message = "this system cannot confine commands as the server requires:";
  message += enforced.unmet();
  message += "; continue without commands, or ask the user to " + remedy_of(enforced);
  return tool_result::failure(error_code::confinement_unavailable, message);
}

tool_result command_not_started(const root& root, const command_error& e, const command& run,
                                std::string_view directory, toolset offered) {
  if (e.code == error_code::confinement_unavailable) return not_confined(e.confinement);
  const std::string& program = run.argv.front();
  if (std::string_view(e.operation) == "helper" && e.code == error_code::unsupported)
    return helper_does_not_run(e, run);
  auto [told, is_no_program] = start_hint_of(root, e, run, directory, hint_reader::model);
  const bool is_name = program.find('/') == std::string::npos || program.front() == '~';
  if (is_no_program && (is_name || program.find(' ') != std::string::npos))
    told.append("; if a shell is to run it, call again with ")
        .append(offered == toolset::base ? R"(command "sh" and args ["-c", "…"])" : "it as script");
  if (!told.empty()) return tool_result::failure(e.code, shown(program) + ": " + told);
  return failure(e, program, remedy(e));
}

namespace {

/// Where what was left out behind `from` can be read.
std::string where_it_is(const process& all, std::uint64_t from) {
  const auto kept = all.read({.from = from, .bytes_max = 4, .cursor = process_cursor::stays});
  if (kept && kept->dropped > 0)
    return "; readProcess has those from " + std::to_string(kept->from) +
           " on, those before are gone";
  // Then it goes on from there without being told.
  (void)all.read({.from = 0, .bytes_max = std::max<std::uint64_t>(from, 4)}).has_value();
  return "; readProcess has them, from " + std::to_string(from) + " on";
}

/// How many bytes of the beginning are whole lines that fit, as they are shown.
std::size_t first_lines(std::string_view bytes, std::size_t room) {
  std::size_t taken = 0;
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n', taken)) {
    const std::size_t size = json_size(plain_output(bytes.substr(taken, end + 1 - taken)));
    if (size > room) break;
    room -= size;
    taken = end + 1;
  }
  return taken;
}

/// The same of the end, whose last line needs no newline.
std::size_t last_lines(std::string_view bytes, std::size_t room) {
  std::string_view rest = bytes;
  for (;;) {
    const auto newline =
        rest.size() < 2 ? std::string_view::npos : rest.rfind('\n', rest.size() - 2);
    if (newline == std::string_view::npos) break; // that line may begin before what is kept
    const std::size_t size = json_size(plain_output(rest.substr(newline + 1)));
    if (size > room) break;
    room -= size;
    rest = rest.substr(0, newline + 1);
  }
  return bytes.size() - rest.size();
}

/// As many bytes of one end as there is room for, where there are no lines to cut at; `part_of`
/// gives at most so many of them, in whole characters.
template <class F> std::size_t fitting(std::size_t room, F&& part_of) {
  for (std::size_t bytes = room;; bytes -= bytes / 16 + 1) {
    const std::string_view part = part_of(bytes);
    if (json_size(plain_output(part)) <= room || bytes == 0) return part.size();
  }
}

std::size_t first_bytes(std::string_view all, std::size_t room) {
  return fitting(room, [all](std::size_t size) { return without_cut_end(all.substr(0, size)); });
}

std::size_t last_bytes(std::string_view all, std::size_t room) {
  return fitting(room, [all](std::size_t size) {
    return without_cut_begin(all.substr(all.size() - std::min(size, all.size())));
  });
}

/// The beginning and the end, each of whole lines where there are any, and what is left out
/// between.
std::string cut_at_lines(const captured_output& o, std::size_t bytes_max,
                         const std::optional<process>& all) {
  if (!exceeds(o, bytes_max)) return plain_output(o.head);
  const std::string_view last = o.truncated ? o.tail : o.head;
  std::size_t begin = first_lines(o.head, bytes_max / 2);
  std::size_t end = last_lines(last, bytes_max / 2);
  if (begin == 0) begin = first_bytes(o.head, bytes_max / 2);
  if (end == 0) end = last_bytes(last, bytes_max / 2);
  std::string text = plain_output(std::string_view(o.head).substr(0, begin));
  if (!text.ends_with('\n')) text += '\n';
  text += "[... " + std::to_string(o.total - begin - end) + " bytes left out";
  if (all) text += where_it_is(*all, begin);
  return text.append(" ...]\n").append(plain_output(last.substr(last.size() - end)));
}

/// One stream, or both that are one.
std::string shown_stream(const captured_output& o, std::size_t room, const kept_output& kept) {
  return kept.plain ? cut_at_lines(o, room, kept.all) : o.text(room);
}

/// The streams, as far as they are wanted and there is room.
void write_streams(json_writer& out, const command_outcome& o, shown_streams shown,
                   stream_rooms rooms, const kept_output& kept) {
  if (kept.together) {
    out.member("output", shown_stream(o.out, rooms.out, kept));
    return;
  }
  if (shown.out) out.member("stdout", shown_stream(o.out, rooms.out, kept));
  if (shown.err) out.member("stderr", shown_stream(o.err, rooms.err, kept));
}

std::string describe(const root& root, const command& run, const command_outcome& o,
                     const kept_output& kept) {
  std::string message = "the command ";
  if (o.ended == ending::timed_out)
    message +=
        "did not end within " + std::to_string(run.timeout_ms) +
        " ms and was killed with everything it had started; give a longer timeout or do less" +
        (kept.starts_processes ? ", or use startProcess if it should keep running" : "") +
        command_hint(root, run, o, hint_reader::model);
  else if (o.ended == ending::cancelled)
    message += "was cancelled";
  else if (o.ended == ending::signalled)
    message += "was killed by signal " + std::to_string(o.signal.value_or(0)) +
               command_hint(root, run, o, hint_reader::model);
  else
    message += "ended with exit code " + std::to_string(o.exit_code.value_or(0)) +
               command_hint(root, run, o, hint_reader::model);
  return message;
}

error_code code_of(const command_outcome& o) {
  if (o.ended == ending::timed_out) return error_code::timed_out;
  if (o.ended == ending::cancelled) return error_code::cancelled;
  return error_code::command_failed;
}

constexpr const char* left_running =
    "what it left running was ended with it; to keep something running, use startProcess";

/// What the fence had to do about protected names, and what was ended with the command, for a model
/// to understand; empty: nothing.
std::string notice_of(const root& root, const command& run, const command_outcome& o,
                      const kept_output& kept) {
  std::string notice;
  if (o.ended == ending::exited && o.exit_code == 0)
    notice = command_hint(root, run, o, hint_reader::model);
  if (!notice.empty()) notice.erase(0, 2); // "; "
  const auto add = [&](std::string_view text) {
    notice.append(notice.empty() ? "" : "; ").append(text);
  };
  for (const std::string& each : notices_of(o))
    add(each);
  const bool is_held =
      confine::shares_scratch(run.confinement) && run.confinement.scratch->os_errno == 0;
  if (is_held && !o.confinement.no_session.empty())
    add("it had a /tmp and HOME of its own: " + o.confinement.no_session);
  if (kept.starts_processes && o.ended == ending::exited && o.leftovers_killed) add(left_running);
  return notice;
}

} // namespace

bool exceeds(const captured_output& output, std::size_t bytes_max) {
  return output.truncated || (output.head.size() > bytes_max / 6 && // one byte is six at most
                              json_size(plain_output(output.head)) > bytes_max);
}

tool_result command_result(const root& root, const command& run, const command_outcome& o,
                           shown_streams shown, stream_rooms rooms, const kept_output& kept) {
  object_result result;
  json_writer& out = result.writer();
  // What a program complains of may be in its one text.
  std::optional<command_outcome> joined;
  if (kept.together) joined.emplace(o).err = o.out;
  const command_outcome& complaints = joined ? *joined : o;
  const std::string notice = notice_of(root, run, complaints, kept);
  const auto answer = answer_of(run, o);
  if (answer || (o.ended == ending::exited && o.exit_code == 0)) {
    std::string text;
    if (shown.out) text += shown_stream(o.out, rooms.out, kept);
    if (shown.err && !kept.together) text += shown_stream(o.err, rooms.err, kept);
    if (text.empty() && answer) text.append("Exit code 1: ").append(*answer).append(".");
    out.member("output", text.empty() ? no_output : std::string_view(text));
    if (answer) out.key("exitCode").integer(1);
    if (kept.all) out.member("process", kept.all->id());
    if (!notice.empty()) out.member("notice", notice);
    return result.take();
  }
  out.member("error", wire_name(code_of(o)));
  out.member("message", describe(root, run, complaints, kept));
  if (!notice.empty()) out.member("notice", notice);
  if (o.ended == ending::exited)
    out.key("exitCode").integer(o.exit_code.value_or(0));
  else if (o.signal)
    out.key("signal").integer(*o.signal);
  write_streams(out, o, shown, rooms, kept);
  if (kept.all) out.member("process", kept.all->id());
  tool_result done = result.take();
  done.error = wire_name(code_of(o));
  return done;
}

void write_confinement(json_writer& out, const confinement_report& report) {
  out.begin_array();
  for (const auto& layer : report.layers) {
    constexpr std::string_view wanted[] = {"off", "best_effort", "required"};
    out.begin_object().member("layer", wire_name(layer.layer));
    out.member("wanted", wanted[static_cast<std::size_t>(layer.wanted)]);
    out.key("applied").boolean(layer.applied);
    const bool lacks_loopback =
        layer.layer == confinement_layer::network && !report.no_loopback.empty();
    if (!layer.mechanism.empty())
      out.member("mechanism", lacks_loopback
                                  ? layer.mechanism + "; no loopback: " + report.no_loopback
                                  : layer.mechanism);
    if (!layer.missing.empty()) out.member("missing", layer.missing);
    if (!layer.remedy.empty()) out.member("remedy", layer.remedy);
    out.end_object();
  }
  out.end_array();
}

} // namespace paddock::mcp
