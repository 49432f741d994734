// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_hints.hpp"

#include "mcp/tools/exec_denials.hpp"
#include "mcp/tools/exec_programs.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace paddock::mcp {
namespace {

struct answering_program {
  std::string_view name;
  std::string_view subcommand; ///< its first argument, when only that answers
  std::string_view meaning;    ///< of exit code 1; larger ones are errors
};

constexpr std::string_view nothing_matched = "nothing matched";
constexpr std::string_view inputs_differ = "the inputs differ";
constexpr std::string_view is_false = "the expression is false";
constexpr answering_program answering_programs[] = {
    {"grep", {}, nothing_matched},
    {"egrep", {}, nothing_matched},
    {"fgrep", {}, nothing_matched},
    {"zgrep", {}, nothing_matched},
    {"rg", {}, nothing_matched},
    {"ag", {}, nothing_matched},
    {"git", "grep", nothing_matched},
    {"git", "check-ignore", nothing_matched},
    {"pgrep", {}, nothing_matched},
    {"which", {}, "no such program"},
    {"diff", {}, inputs_differ},
    {"cmp", {}, inputs_differ},
    {"zdiff", {}, inputs_differ},
    {"zcmp", {}, inputs_differ},
    {"git", "diff", inputs_differ},
    {"test", {}, is_false},
    {"[", {}, is_false},
    {"expr", {}, "the result is empty or 0"},
};

/// Nothing is known of what a program waits for. A person has seen it wait.
std::string hint_at_deadline(const command_outcome& o, hint_reader reader) {
  if (reader == hint_reader::person) return {};
  std::string hint = "; if it waits for keys or an answer, nobody types here: give it by an option";
  if (!o.confinement.of(confinement_layer::network).applied) return hint;
  return hint + "; if it waits for a network, " + network_words(o, reader);
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
    const bool was_killed = ended_by(kill_signal) &&
                            ((each.bound == &resource_limits::memory_bytes &&
                              limits.mechanism.find("control group") != std::string::npos) ||
                             (each.bound == &resource_limits::cpu_seconds && seconds >= bound));
    const bool is_sure = ended_by(each.signal) || was_killed;
    const auto is_told = [&](std::string_view error) { return complains(o, error); };
    if (!is_sure && std::ranges::none_of(each.errors, is_told)) continue;
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

/// What only a shell would have replaced or obeyed; an argument like any other for the program.
bool is_of_shell(std::string_view word) {
  constexpr std::string_view operators[] = {"&&", "||", "|", "&", ">", ">>", "<", "2>&1"};
  return word == "~" || word.starts_with("~/") || word.starts_with('$') ||
         word.find('*') != std::string_view::npos ||
         std::ranges::find(operators, word) != std::end(operators);
}

std::string runs_no_shell(const std::string& word, hint_reader reader) {
  return shown(word) + " means something to a shell only, and none runs: " +
         (reader == hint_reader::model
              ? R"(call again with command "sh" and args ["-c", "…"], or write out what is meant)"
              : "write sh -c '…' after --, or write out what is meant");
}

/// That a command took literally what was meant for a shell, and says that it is of no use.
std::string shell_word_hint(const command& run, const command_outcome& o, hint_reader reader) {
  for (auto word = run.argv.begin() + 1; word < run.argv.end(); ++word)
    if (is_of_shell(*word) && complains(o, *word)) return "; " + runs_no_shell(*word, reader);
  return {};
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

std::string start_hint(const root& root, const command_error& e, const command& run,
                       std::string_view directory, hint_reader reader) {
  const std::string_view stage = e.operation;
  const std::string& program = run.argv.front();
  if (stage == "interpreter")
    return "its interpreter (the #! line) does not exist here; run the interpreter that is "
           "installed with the script as argument";
  if (stage != "execve") return {};
  if (e.code == error_code::not_found) {
    if (program.starts_with("~/")) return "no such program; " + runs_no_shell(program, reader);
    if (program.find('/') != std::string::npos) return absent_program_hint(root, run, reader);
    if (const auto path = installed_at(run, program)) return unseen_program_words(*path, reader);
    if (reader == hint_reader::person) return {};
    return "no such program; check the spelling, or give a path with a slash, relative to cwd; a "
           "person can install it, or start the server with its directory in PATH";
  }
  if (e.code == error_code::permission_denied)
    return is_directory(root, directory, program)
               ? "is a directory; name the program in it"
               : "not an executable file; run it through its interpreter, or make it executable" +
                     attributes_hint(e.confinement, reader);
  if (e.code == error_code::unsupported_type)
    return "neither a program for this machine nor a script with a #! line; run it through its "
           "interpreter (for example sh)";
  if (e.code == error_code::too_large) return "give fewer or shorter arguments and variables";
  return {};
}

std::optional<std::string_view> answer_of(const command& run, const command_outcome& o) {
  if (o.ended != ending::exited || o.exit_code != 1) return std::nullopt;
  const std::string_view program = file_name(run.argv.front());
  const std::string_view first = run.argv.size() > 1 ? run.argv[1] : std::string_view();
  for (const auto& row : answering_programs)
    if (row.name == program && (row.subcommand.empty() || row.subcommand == first))
      return row.meaning;
  return std::nullopt;
}

std::string command_hint(const root& root, const command& run, const command_outcome& o,
                         hint_reader reader) {
  if (o.ended == ending::timed_out) return hint_at_deadline(o, reader);
  if (o.ended == ending::exited && (o.exit_code == 0 || answer_of(run, o))) return {};
  if (auto bound = bound_hint(run, o, reader); !bound.empty() || o.ended != ending::exited)
    return bound;
  if (auto meant = shell_word_hint(run, o, reader); !meant.empty()) return meant;
  // What the watch has found says it all.
  return o.emptied.empty() ? denial_hint(root, run, o, reader) : std::string();
}

} // namespace paddock::mcp
