// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_hints.hpp"

#include "mcp/tools/exec_denials.hpp"
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

/// git refuses to guess an author, and its own advice changes a file that is protected.
std::string author_hint(hint_reader reader) {
  std::string hint = "; git wants an author: write -c user.name=NAME -c user.email=ADDRESS before "
                     "its subcommand";
  if (reader == hint_reader::model)
    hint += ", or give GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME and "
            "GIT_COMMITTER_EMAIL in env";
  return hint;
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

/// Nothing is known of what a program waits for, but what it is for.
std::string hint_at_deadline(const command& run, const command_outcome& o, hint_reader reader) {
  if (!o.confinement.of(confinement_layer::network).applied) return {};
  if (complains_of_network(o))
    return "; network is denied by policy: " + allowing(reader, "--allow-network");
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

std::string command_hint(const root& root, const command& run, const command_outcome& o,
                         hint_reader reader) {
  const auto applied = [&](confinement_layer layer) { return o.confinement.of(layer).applied; };
  if (o.ended == ending::timed_out) return hint_at_deadline(run, o, reader);
  if (o.ended != ending::exited || o.exit_code == 0 || answer_of(run, o)) return {};
  if (applied(confinement_layer::privileges) && complains(o, {"LeakSanitizer does not work"}))
    return "; its leak check traces the process, which a confined command may not do: run it with "
           "ASAN_OPTIONS=detect_leaks=0";
  if (applied(confinement_layer::network) &&
      (complains_of_network(o) || is_exit_code_for_network(run, o.exit_code.value_or(0))))
    return "; network is denied by policy: " + allowing(reader, "--allow-network");
  if (complains_of_author(o)) return author_hint(reader);
  if (applied(confinement_layer::file_system))
    if (auto unseen = unseen_program_hint(run, not_found_by(o), reader); !unseen.empty())
      return unseen;
  return denial_hint(root, run, o, reader);
}

} // namespace paddock::mcp
