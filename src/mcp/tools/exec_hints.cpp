// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_hints.hpp"

#include "mcp/tools/exec_programs.hpp"

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

/// Both ends of what was kept of standard error.
bool complains(const command_outcome& o, std::initializer_list<std::string_view> phrases) {
  return std::ranges::any_of(phrases, [&](std::string_view phrase) {
    return o.err.head.find(phrase) != std::string::npos ||
           o.err.tail.find(phrase) != std::string::npos;
  });
}

/// The words of the C library, of Node, Go and Python for a socket or an address that could not be
/// had. A seccomp filter refuses the socket itself, so that even `listen` fails with EACCES.
bool complains_of_network(const command_outcome& o) {
  return complains(o, {"Network is unreachable",
                       "network is unreachable",
                       "ENETUNREACH",
                       "name resolution",
                       "esolve host",
                       "EAI_AGAIN",
                       "ENOTFOUND",
                       "getaddrinfo",
                       "gaierror",
                       "listen EACCES",
                       "bind EACCES",
                       "connect EACCES",
                       "listen EPERM",
                       "bind EPERM",
                       "connect EPERM",
                       "socket: permission denied",
                       "socket: Permission denied",
                       "ocket: Permission denied",
                       "ocket: Operation not permitted",
                       "socket: operation not permitted",
                       "_socket.socket.__init__",
                       "attempting to bind on address",
                       "Unable to connect",
                       "create socket"});
}

bool is_outside(const root& root, std::string_view path) {
  return path.starts_with("../") ||
         (path.starts_with('/') && path.size() > 1 && !strip_root_prefix(path, root.path()));
}

/// Whether a line names a path outside of the workspace.
bool names_outside(const root& root, std::string_view line) {
  constexpr std::string_view around = " \t'\"`()[]<>,;:=\r";
  for (std::size_t at = 0; at < line.size();) {
    at = std::min(line.find_first_not_of(around, at), line.size());
    const std::size_t end = std::min(line.find_first_of(around, at), line.size());
    if (is_outside(root, line.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

bool complains_of_outside(const root& root, std::string_view text) {
  constexpr std::string_view denials[] = {"Read-only file system",
                                          "read-only file system",
                                          "Permission denied",
                                          "permission denied",
                                          "EROFS",
                                          "EACCES"};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool denied = std::ranges::any_of(denials, [&](std::string_view phrase) {
      return line.find(phrase) != std::string_view::npos;
    });
    if (denied && names_outside(root, line)) return true;
    at = end + 1;
  }
  return false;
}

bool is_asked_for_outside(const root& root, const command& run) {
  return std::any_of(run.argv.begin() + 1, run.argv.end(),
                     [&](const std::string& argument) { return is_outside(root, argument); });
}

/// Which protected name a failed command may have met, and the option that allows it.
std::string protected_hint(const command& run, const command_outcome& o) {
  if (!o.confinement.of(confinement_layer::protected_entries).applied ||
      !complains(o, {"Read-only file system", "EROFS", "resource busy", "EBUSY"}))
    return {};
  for (const auto& [name, mode] : run.confinement.protected_names)
    if (mode == protection::read_only && complains(o, {name}))
      return "; " + name + " is protected, because programs outside the workspace obey it: a " +
             "person can start the server with --unprotect " + name;
  return {};
}

/// What a command says may leave open which of two it has met.
std::string outside_hint(const command_outcome& o) {
  std::string hint = "; files outside the workspace are denied by policy: a person can start the "
                     "server with --exec-read PATH or --exec-write PATH";
  if (o.confinement.of(confinement_layer::protected_entries).applied &&
      complains(o, {"Read-only file system", "read-only file system", "EROFS"}))
    hint += "; in the workspace it may be a protected name, such as .git/config or .vscode, that "
            "cannot be changed: a person can allow that with --unprotect NAME";
  return hint;
}

/// git refuses to guess an author, and its own advice changes a file that is protected.
constexpr std::string_view author_hint =
    "; git wants an author: write -c user.name=NAME -c user.email=ADDRESS before its subcommand, "
    "or give "
    "GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME and GIT_COMMITTER_EMAIL in env";

bool complains_of_author(const command_outcome& o) {
  return complains(o, {"Please tell me who you are", "empty ident name",
                       "unable to auto-detect email address", "no email was given"});
}

/// The program that a shell or `env` did not find: "sh: 1: make: not found", "bash: line 1: make:
/// command not found", "env: 'make': No such file or directory".
std::string_view not_found_by(const command_outcome& o) {
  constexpr int exit_not_found = 127;
  if (o.exit_code != exit_not_found) return {};
  const std::string_view text = o.err.head;
  for (const std::string_view phrase :
       {": command not found", ": not found", ": No such file or directory"}) {
    const auto end = text.find(phrase);
    if (end == std::string_view::npos) continue;
    std::string_view name = text.substr(0, end);
    name.remove_prefix(name.find_last_of(" \n") + 1); // npos + 1 is 0
    for (const std::string_view quote : {"'", "\xE2\x80\x98", "\xE2\x80\x99"}) {
      if (name.starts_with(quote)) name.remove_prefix(quote.size());
      if (name.ends_with(quote)) name.remove_suffix(quote.size());
    }
    return name;
  }
  return {};
}

constexpr std::string_view network_option = "a person can start the server with --allow-network";

/// Nothing is known of what a program waits for, but what it is for.
std::string hint_at_deadline(const command& run, const command_outcome& o) {
  if (!o.confinement.of(confinement_layer::network).applied) return {};
  if (complains_of_network(o))
    return std::string("; network is denied by policy: ").append(network_option);
  if (!is_known_to_need_network(run)) return {};
  return std::string("; commands reach no network here, which this one may have waited for: ")
      .append(network_option);
}

std::string unseen_program_hint(const command& run, std::string_view name) {
  const auto path = out_of_sight(run, name);
  if (!path) return {};
  return "; " + *path + " is in PATH, but commands do not see it: a person can start the server " +
         "with --exec-read " + *path + ", or with the directory of its installation";
}

} // namespace

std::optional<std::string_view> answer_of(const command& run, const command_outcome& o) {
  if (o.ended != ending::exited || o.exit_code != 1) return std::nullopt;
  const std::string_view program = file_name(run.argv.front());
  const std::string_view first = run.argv.size() > 1 ? run.argv[1] : std::string_view();
  for (const auto& row : answering_programs)
    if (row.name == program && (row.subcommand.empty() || row.subcommand == first))
      return row.meaning;
  return std::nullopt;
}

std::string hint_of(const root& root, const command& run, const command_outcome& o) {
  const auto applied = [&](confinement_layer layer) { return o.confinement.of(layer).applied; };
  if (applied(confinement_layer::privileges) && complains(o, {"LeakSanitizer does not work"}))
    return "; its leak check traces the process, which a confined command may not do: run it with "
           "ASAN_OPTIONS=detect_leaks=0";
  if (o.ended == ending::timed_out) return hint_at_deadline(run, o);
  if (applied(confinement_layer::network) &&
      (complains_of_network(o) || is_exit_code_for_network(run, o.exit_code.value_or(0))))
    return std::string("; network is denied by policy: ").append(network_option);
  if (complains_of_author(o)) return std::string(author_hint);
  if (applied(confinement_layer::file_system))
    if (auto unseen = unseen_program_hint(run, not_found_by(o)); !unseen.empty()) return unseen;
  const bool outside =
      complains_of_outside(root, o.err.head) || complains_of_outside(root, o.err.tail);
  if (auto met = protected_hint(run, o); !met.empty())
    return !outside ? met
                    : met + "; where it lies outside the workspace, with --exec-write PATH instead";
  if (applied(confinement_layer::file_system) &&
      (outside || (is_asked_for_outside(root, run) && complains(o, {"No such file", "ENOENT"}))))
    return outside_hint(o);
  return {};
}

} // namespace paddock::mcp
