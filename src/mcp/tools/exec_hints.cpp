// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_hints.hpp"

#include "mcp/tools/exec_denials.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace paddock::mcp {
namespace {

/// What exit code 1 of programs means; larger ones are errors.
struct answer_row {
  std::string_view meaning;
  std::initializer_list<std::string_view> programs; ///< "git grep": with that first argument
};

const answer_row answers[] = {
    {"nothing matched",
     {"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "pgrep", "git grep", "git check-ignore"}},
    {"no such program", {"which"}},
    {"the inputs differ", {"diff", "cmp", "zdiff", "zcmp", "git diff"}},
    {"the expression is false", {"test", "["}},
    {"the result is empty or 0", {"expr"}},
};

/// Nothing is known of what a program waits for. A person has seen it wait.
std::string hint_at_deadline(const command_outcome& o, hint_reader reader) {
  if (reader == hint_reader::person) return {};
  return "; if it waits for keys or an answer, nobody types here: give it by an option" +
         network_hint(o, reader);
}

struct bound_row {
  std::uint64_t resource_limits::*bound;
  std::string_view what, option;
  std::initializer_list<std::string_view> errors; ///< of the kernel and the languages' own
  int signal;                                     ///< that ends a program which met it; 0: none
};

/// Which bound of the operator's the command has met: its signal tells, or else this is a guess.
std::string bound_hint(const command& run, const command_outcome& o, hint_reader reader) {
  constexpr int file_size_signal = 25, time_signal = 24, kill_signal = 9; // SIGXFSZ, SIGXCPU
  const bound_row table[] = {
      {&resource_limits::memory_bytes,
       "bytes of memory",
       "a larger --max-memory",
       {"Cannot allocate memory", "ENOMEM", "MemoryError", "bad_alloc", "memory allocation of"},
       0},
      {&resource_limits::processes,
       "processes",
       "a larger --max-pids",
       {"Resource temporarily unavailable", "EAGAIN", "can't start new thread"},
       0},
      {&resource_limits::file_size_bytes,
       "bytes of each file",
       "a larger --max-file-size",
       {"File too large", "EFBIG"},
       file_size_signal},
      {&resource_limits::cpu_seconds, "seconds of processor time", {}, {}, time_signal},
  };
  const layer_report& limits = o.confinement.of(confinement_layer::limits);
  if (!limits.applied) return {};
  const auto ended_by = [&](int signal) {
    return signal != 0 && (o.signal == signal || o.exit_code == 128 + signal);
  };
  const std::uint64_t seconds = static_cast<std::uint64_t>(o.duration_ms) / 1000;
  for (const bound_row& each : table) {
    const std::uint64_t bound = run.confinement.bounds.*each.bound;
    if (bound == 0) continue;
    // The kernel kills what has met a bound of its control group, or all of its time.
    const bool was_killed = ended_by(kill_signal);
    const bool is_sure =
        ended_by(each.signal) ||
        (was_killed && each.bound == &resource_limits::cpu_seconds && seconds >= bound);
    const bool is_likely = was_killed && each.bound == &resource_limits::memory_bytes &&
                           limits.mechanism.find("control group") != std::string::npos;
    const auto is_told = [&](std::string_view error) { return complains(o, error); };
    if (!is_sure && !is_likely && std::ranges::none_of(each.errors, is_told)) continue;
    return std::string(is_sure ? "; " : "; if it met a bound, ") + "commands may have " +
           std::to_string(bound) + " " + std::string(each.what) +
           (each.option.empty() ? "" : ": " + allowing(reader, each.option));
  }
  return {};
}

/// Why a path leads to no program.
std::string absent_program_hint(const root& root, const command& run, hint_reader reader) {
  const std::string& program = run.argv.front();
  if (program.front() != '/' || strip_root_prefix(program, root.path()))
    return "no such program; nothing is at that path, which is relative to the directory that the "
           "command runs in";
  return "no such program; nothing that commands see is at that path: " +
         allowing(reader, "--exec-read", "PATH") + " where it is installed";
}

bool is_directory(const root& root, std::string_view directory, const std::string& program) {
  if (program.find('/') == std::string::npos) return false;
  const auto inside = strip_root_prefix(program, root.path());
  if (program.front() == '/' && !inside) return false;
  const auto found = root.open_beneath(
      inside ? std::string(*inside) : std::string(directory) + "/" + program, access::inspect);
  return found && found->status.kind == entry_kind::directory;
}

} // namespace

start_hint start_hint_of(const root& root, const command_error& e, const command& run,
                         std::string_view directory, hint_reader reader) {
  const std::string_view stage = e.operation;
  const std::string& program = run.argv.front();
  if (stage == "interpreter")
    return {"its interpreter (the #! line) does not exist here; run the interpreter that is "
            "installed with the script as argument"};
  if (stage != "execve") return {};
  if (e.code == error_code::not_found || e.code == error_code::name_too_long) {
    if (program.find('/') != std::string::npos)
      return {absent_program_hint(root, run, reader), true};
    if (const auto path = installed_at(run, program)) return {unseen_program_words(*path, reader)};
    if (const auto path = installed_at(run, program, path_entries::left_out))
      return {"no such program: the PATH of the command leaves out " + std::string(parent(*path)) +
              ", which has it"};
    if (reader == hint_reader::person) return {.is_no_program = true};
    return {"no such program; check the spelling, or give a path with a slash, relative to cwd; a "
            "person can install it, or start the server with its directory in PATH",
            true};
  }
  if (e.code == error_code::permission_denied)
    return {is_directory(root, directory, program)
                ? "is a directory; name the program in it"
                : "not an executable file; run it through its interpreter, or make it executable" +
                      attributes_hint(e.confinement, reader)};
  if (e.code == error_code::unsupported_type)
    return {"neither a program for this machine nor a script with a #! line; run it through its "
            "interpreter (for example sh)"};
  if (e.code == error_code::too_large) return {"give fewer or shorter arguments and variables"};
  return {};
}

std::optional<std::string_view> answer_of(const command& run, const command_outcome& o) {
  if (o.ended != ending::exited || o.exit_code != 1) return std::nullopt;
  const std::string program(file_name(run.argv.front()));
  const std::string with_first = run.argv.size() > 1 ? program + " " + run.argv[1] : program;
  for (const answer_row& row : answers)
    for (const std::string_view each : row.programs)
      if (each == program || each == with_first) return row.meaning;
  return std::nullopt;
}

std::string command_hint(const root& root, const command& run, const command_outcome& o,
                         hint_reader reader) {
  if (o.ended == ending::timed_out) return hint_at_deadline(o, reader);
  if (o.ended == ending::exited && answer_of(run, o)) return {};
  if (o.ended != ending::exited || o.exit_code != 0)
    if (auto bound = bound_hint(run, o, reader); !bound.empty() || o.ended != ending::exited)
      return bound;
  // What the watch has found says it all.
  return o.emptied.empty() ? denial_hint(root, run, o, reader) : std::string();
}

} // namespace paddock::mcp
