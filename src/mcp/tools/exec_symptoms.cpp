// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_symptoms.hpp"

#include "mcp/tools/exec_denials.hpp"
#include "mcp/tools/exec_programs.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace paddock::mcp {
namespace {

/// With or without the layer the command has none.
constexpr auto any_layer = std::optional<confinement_layer>();

struct symptom {
  std::optional<confinement_layer> layer; ///< that has to be applied
  std::initializer_list<std::string_view> phrases;
  std::string_view cause;
  std::string_view remedy; ///< empty: the option
  std::string_view option = {};
};

const symptom symptoms[] = {
    {confinement_layer::privileges,
     {"LeakSanitizer does not work"},
     "its leak check traces the process, which a confined command may not do",
     "run it with ASAN_OPTIONS=detect_leaks=0"},
    {confinement_layer::privileges,
     {"PTRACE_TRACEME", "ptrace: Operation not permitted", "ptrace(PTRACE", "trace the inferior",
      "ttach to process"},
     "a confined command may not trace processes",
     {},
     "--exec host"},
    {any_layer,
     {"failed to create pseudo-terminal", "out of pty devices", "openpty", "posix_openpt",
      "forkpty", "/dev/ptmx", "/dev/tty", "/tmp/tmux-", "open terminal failed",
      "must be run from a terminal", "terminal is required", "EOFError: EOF when reading a line"},
     "commands have no terminal, and nobody answers there",
     "run the program in the way that needs none (an option such as --yes or --batch)"},
    {confinement_layer::network,
     {"docker.sock", "ocker daemon", "podman.sock", "dial unix"},
     "commands reach no socket of another program, such as Docker's",
     "do without it, or ask a person to run that outside"},
    {any_layer,
     {"transport 'file' not allowed"},
     "git takes submodules from a folder only when it is told to",
     "write -c protocol.file.allow=always before its subcommand"},
};

struct toolchain {
  std::string_view phrase;
  std::string_view directory; ///< in the home directory
  bool shown = false;         ///< by an option of its own
};

constexpr toolchain toolchains[] = {
    {"rustup could not choose a version", ".rustup", true},
    {"pyenv: version", ".pyenv", true},
    {"rbenv: version", ".rbenv"},
    {"asdf: No ", ".asdf"},
    {"No version is set for command", ".asdf"},
    {"Volta error", ".volta"},
};

std::string toolchain_hint(const command& run, const command_outcome& o, hint_reader reader) {
  if (!o.confinement.of(confinement_layer::file_system).applied || run.confinement.home.empty())
    return {};
  for (const auto& each : toolchains)
    if (complains(o, {each.phrase})) {
      const std::string directory = run.confinement.home + "/" + std::string(each.directory);
      return "; its toolchains lie in the home directory, which commands do not see: " +
             (each.shown ? allowing(reader, "--home-tools") + ", or " : "") +
             allowing(reader, "--exec-read", directory);
    }
  return {};
}

/// A bound that the operator has set, as a program that meets it says it.
struct bound_symptom {
  std::uint64_t resource_limits::* bound;
  std::string_view what;
  std::string_view option; ///< empty: there is none
  std::initializer_list<std::string_view> phrases;
  int signal; ///< that ends a program which met it; 0: none
};

bool was_killed_by(const command_outcome& o, int signal) {
  return signal != 0 && (o.signal == signal || o.exit_code == 128 + signal);
}

/// The kernel ends by SIGKILL what has met a bound of its control group, or all of its time.
bool was_killed_for(const resource_limits& bounds, std::uint64_t resource_limits::* bound,
                    const command_outcome& o) {
  constexpr int kill_signal = 9;
  if (o.wrote_too_much) return bound == &resource_limits::disk_bytes;
  if (!was_killed_by(o, kill_signal)) return false;
  if (bound == &resource_limits::cpu_seconds)
    return static_cast<std::uint64_t>(o.duration_ms) / 1000 >= bounds.cpu_seconds;
  const layer_report& row = o.confinement.of(confinement_layer::limits);
  return bound == &resource_limits::memory_bytes &&
         row.mechanism.find("control group") != std::string::npos;
}

/// What somebody should have answered is the last that was said.
bool ends_with_a_question(const command_outcome& o) {
  constexpr std::string_view questions[] = {
      "(y/n)?",    "(y/N)",  "(Y/n)",  "[y/N]", "[Y/n]",       "[y/n]",
      "(yes/no)?", "[y/N]?", "[Y/n]?", "word:", "passphrase:", "(yes/no/[fingerprint])?"};
  return std::ranges::any_of(std::initializer_list<const captured_output*>{&o.out, &o.err},
                             [&](const captured_output* stream) {
                               std::string_view text =
                                   stream->truncated ? stream->tail : stream->head;
                               text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
                               return std::ranges::any_of(questions, [&](std::string_view end) {
                                 return text.ends_with(end);
                               });
                             });
}

} // namespace

std::string bound_hint(const command& run, const command_outcome& o, hint_reader reader) {
  constexpr int file_size_signal = 25, time_signal = 24; // SIGXFSZ, SIGXCPU
  const bound_symptom table[] = {
      {&resource_limits::memory_bytes,
       "bytes of memory",
       "a larger --max-memory",
       {"Cannot allocate memory", "MemoryError", "bad_alloc", "ut of memory", "ENOMEM",
        "memory allocation of", "memory exhausted", "buffer allocation failed"},
       0},
      {&resource_limits::processes,
       "processes",
       "a larger --max-pids",
       {"Resource temporarily unavailable", "annot fork", "an't fork", "EAGAIN",
        "can't start new thread"},
       0},
      {&resource_limits::file_size_bytes,
       "bytes of each file",
       "a larger --max-file-size",
       {"File too large", "File size limit exceeded", "EFBIG"},
       file_size_signal},
      {&resource_limits::disk_bytes,
       "bytes to write to disks",
       "a larger --max-disk-written",
       {"File too large", "File size limit exceeded", "EFBIG"},
       file_size_signal},
      {&resource_limits::cpu_seconds,
       "seconds of processor time",
       {},
       {"CPU time limit exceeded"},
       time_signal},
  };
  if (!o.confinement.of(confinement_layer::limits).applied) return {};
  for (const bound_symptom& each : table) {
    const std::uint64_t bound = run.confinement.bounds.*each.bound;
    if (bound == 0) continue;
    if (was_killed_by(o, each.signal) || was_killed_for(run.confinement.bounds, each.bound, o) ||
        complains(o, each.phrases))
      return "; commands may have " + std::to_string(bound) + " " + std::string(each.what) +
             (each.option.empty() ? "" : ": " + allowing(reader, each.option));
  }
  return {};
}

std::string symptom_hint(const command& run, const command_outcome& o, hint_reader reader) {
  for (const symptom& each : symptoms) {
    if (each.layer && !o.confinement.of(*each.layer).applied) continue;
    if (!complains(o, each.phrases)) continue;
    return "; " + std::string(each.cause) + ": " +
           (each.remedy.empty() ? allowing(reader, each.option) : std::string(each.remedy));
  }
  if (auto bound = bound_hint(run, o, reader); !bound.empty()) return bound;
  if (ends_with_a_question(o))
    return "; it asks a question, and nobody answers there: give the answer by an option, or by "
           "sh -c \"printf 'y\\n' | …\"";
  return toolchain_hint(run, o, reader);
}

bool reports_network(const command& run, const command_outcome& o) {
  constexpr std::string_view reports[] = {"getaddrinfo EAI_AGAIN ",
                                          "getaddrinfo ENOTFOUND ",
                                          "connect ENETUNREACH ",
                                          "connect EACCES ",
                                          "listen EACCES: ",
                                          "listen EPERM: ",
                                          "socket.gaierror: ",
                                          "_socket.socket.__init__",
                                          "Temporary failure in name resolution",
                                          "Name or service not known",
                                          "Could not resolve host: ",
                                          "Network is unreachable"};
  if (prints_content(run)) return false;
  return std::ranges::any_of(reports, [&](std::string_view phrase) {
    return o.out.head.find(phrase) != std::string::npos ||
           o.out.tail.find(phrase) != std::string::npos;
  });
}

} // namespace paddock::mcp
