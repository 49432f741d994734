// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_hints.hpp"

#include "mcp/tools/exec_denials.hpp"
#include "mcp/tools/exec_programs.hpp"
#include "mcp/tools/exec_symptoms.hpp"
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

/// git refuses to guess an author, and its own advice changes a file that is protected.
std::string author_hint(hint_reader reader) {
  return std::string("; git wants an author: write -c user.name=NAME -c user.email=ADDRESS before "
                     "its subcommand") +
         (reader == hint_reader::model ? ", or give GIT_AUTHOR_NAME and the like in env" : "");
}

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

std::string network_hint(const command_outcome& o, hint_reader reader) {
  const confinement_report& met = o.confinement;
  std::string hint = "; network is denied by policy";
  if (met.reach == network_reach::loopback) hint += ", but for a loopback of the commands' own";
  if (!met.no_loopback.empty()) hint += ", and loopback cannot be had (" + met.no_loopback + ")";
  return hint + ": " + allowing(reader, "--allow-network");
}

/// Most likely what listens outside of the loopback that commands have.
std::string refused_connection_hint(const command_outcome& o, hint_reader reader) {
  if (o.confinement.reach != network_reach::loopback ||
      !complains(o, {"onnection refused", "ECONNREFUSED"}))
    return {};
  return "; commands have a loopback of their own, where services of this machine do not listen: "
         "start the service by a command, or " +
         allowing(reader, "--allow-network");
}

/// By what it says when it misses a terminal, also where another program started it.
bool is_editor(const command& run, const command_outcome& o) {
  constexpr std::string_view editors[] = {"vi",   "vim",   "nvim", "view",   "vimdiff", "nano",
                                          "pico", "emacs", "joe",  "mcedit", "ed"};
  return std::ranges::find(editors, file_name(run.argv.front())) != std::end(editors) ||
         complains(o, {"Input is not from a terminal", "Output is not to a terminal",
                       "Standard input is not a terminal"});
}

/// Nothing is known of what a program waits for, but what it is for.
std::string hint_at_deadline(const command& run, const command_outcome& o, hint_reader reader) {
  if (is_editor(run, o))
    return "; an editor waits for keys, and nobody types here: change files with a tool or a "
           "command, and give messages by an option (git commit -m)";
  if (!o.confinement.of(confinement_layer::network).applied) return {};
  if (complains_of_network(o) || reports_network(run, o)) return network_hint(o, reader);
  if (!is_known_to_need_network(run)) return {};
  return "; commands reach no network here, which this one may have waited for: " +
         allowing(reader, "--allow-network");
}

std::string unseen_program_hint(const command& run, std::string_view name, hint_reader reader) {
  const auto path = out_of_sight(run, name);
  if (!path) return {};
  return "; " + *path +
         " is in PATH, but commands do not see it: " + allowing(reader, "--exec-read", *path) +
         ", or with the directory of its installation";
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
  constexpr std::string_view operators[] = {"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"};
  return word == "~" || word.starts_with("~/") || word.starts_with('$') ||
         word.find('*') != std::string_view::npos ||
         std::ranges::find(operators, word) != std::end(operators);
}

/// Whether the program names the word: in quotes, or before a colon.
bool complains_about(const command_outcome& o, const std::string& word) {
  const std::string spellings[] = {"'" + word + "'", "\"" + word + "\"", "`" + word + "'",
                                   "\xE2\x80\x98" + word + "\xE2\x80\x99", " " + word + ":"};
  return std::ranges::any_of(spellings, [&](const std::string& spelled) {
    return complains(o, {std::string_view(spelled)});
  });
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
    if (is_of_shell(*word) && complains_about(o, *word)) return "; " + runs_no_shell(*word, reader);
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
    if (auto unseen = unseen_program_hint(run, program, reader); !unseen.empty())
      return unseen.substr(2);
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
  const auto applied = [&](confinement_layer layer) { return o.confinement.of(layer).applied; };
  if (o.ended == ending::timed_out) return hint_at_deadline(run, o, reader);
  if (o.ended != ending::exited) return bound_hint(run, o, reader);
  if (o.exit_code == 0 || answer_of(run, o)) return {};
  if (auto symptom = symptom_hint(run, o, reader); !symptom.empty()) return symptom;
  if (applied(confinement_layer::network) &&
      (complains_of_network(o) || reports_network(run, o) ||
       is_exit_code_for_network(run, o.exit_code.value_or(0))))
    return network_hint(o, reader);
  if (auto refused = refused_connection_hint(o, reader); !refused.empty()) return refused;
  if (complains_of_author(o)) return author_hint(reader);
  if (auto meant = shell_word_hint(run, o, reader); !meant.empty()) return meant;
  if (applied(confinement_layer::file_system))
    if (auto unseen = unseen_program_hint(run, not_found_by(o), reader); !unseen.empty())
      return unseen;
  return denial_hint(root, run, o, reader);
}

} // namespace paddock::mcp
