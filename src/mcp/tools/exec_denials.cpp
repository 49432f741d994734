// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_denials.hpp"

#include "mcp/tools/exec_programs.hpp"
#include "mcp/tools/tools.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

using phrases = std::initializer_list<std::string_view>;

bool holds(std::string_view text, phrases wanted) {
  return std::ranges::any_of(
      wanted, [&](std::string_view phrase) { return text.find(phrase) != std::string_view::npos; });
}

/// Whether `matches` says so of a line of either end of a stream.
template <class F> bool any_line(const captured_output& stream, F&& matches) {
  for (const std::string_view text : {std::string_view(stream.head), std::string_view(stream.tail)})
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (matches(text.substr(at, end - at))) return true;
      at = end + 1;
    }
  return false;
}

/// The same of standard error.
template <class F> bool any_line(const command_outcome& o, F&& matches) {
  return any_line(o.err, std::forward<F>(matches));
}

/// Whether `matches` says so of a word of the line that may be a path.
template <class F> bool any_word(std::string_view line, F&& matches) {
  constexpr std::string_view around = " \t'\"`()[]<>,;:=\r";
  for (std::size_t at = 0; at < line.size();) {
    at = std::min(line.find_first_not_of(around, at), line.size());
    std::size_t end = std::min(line.find_first_of(around, at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (!word.empty() && matches(word)) return true;
    at = end;
  }
  return false;
}

bool is_outside(const root& root, std::string_view path) {
  return path.starts_with("../") ||
         (path.starts_with('/') && path.size() > 1 && !strip_root_prefix(path, root.path()));
}

/// A socket has no place in the workspace and is no file: what would let a command reach it is
/// nothing to be recommended.
bool tells_of_socket(std::string_view line) {
  return holds(line, {"dial unix", "unix://", "docker.sock", "ocker daemon"});
}

bool tells_of_mount(std::string_view line) {
  return holds(line, {"ead-only file system", "EROFS", "esource busy", "EBUSY"});
}

/// A protected entry in a path, and what lies before it: "sub/" and ".git/hooks" in
/// "sub/.git/hooks/a".
struct protected_place {
  std::string path; ///< as the command wrote it
  std::string before;
  protected_name rule;
};

std::optional<protected_place> place_in(const root& root, const command& run,
                                        std::string_view word) {
  if (const auto inside = strip_root_prefix(word, root.path()); inside && word.starts_with('/'))
    word = *inside;
  while (word.starts_with("./"))
    word.remove_prefix(2);
  const std::string whole = "/" + std::string(word) + "/";
  for (const protected_name& rule : run.confinement.protected_names) {
    const auto at = whole.find("/" + rule.name + "/");
    if (rule.mode == protection::read_only && at != std::string::npos)
      return protected_place{std::string(word), whole.substr(1, at), rule};
  }
  return std::nullopt;
}

struct refusals {
  std::vector<protected_place> places; ///< that could not be written, at most a few
  bool removing = false;               ///< one that a removal met
  bool moving = false;
  std::string directory; ///< above what was to be removed; empty: not known
};

/// "a/b" of "a/b/.git" and of what git has in there.
std::string above_repository(std::string_view word) {
  const auto at = ("/" + std::string(word) + "/").find("/.git/");
  return at == std::string::npos || at == 0 ? std::string() : std::string(word.substr(0, at - 1));
}

refusals refused_by_mounts(const root& root, const command& run, const command_outcome& o) {
  constexpr std::size_t places_max = 5;
  refusals met;
  (void)any_line(o, [&](std::string_view line) {
    if (!tells_of_mount(line)) return false;
    const bool removes = holds(
        line, {"cannot remove", "can't remove", "failed to remove", ", rmdir '", ", unlink '"});
    met.removing |= removes;
    met.moving |= holds(line, {"cannot move", "can't rename", ", rename '", "' -> '", "renaming "});
    (void)any_word(line, [&](std::string_view word) {
      auto place = place_in(root, run, word);
      if (removes && met.directory.empty())
        met.directory =
            place ? place->before.substr(0, place->before.rfind('/')) : above_repository(word);
      const bool is_new = place && std::ranges::find(met.places, place->path,
                                                     &protected_place::path) == met.places.end();
      if (is_new && met.places.size() < places_max) met.places.push_back(*std::move(place));
      return false;
    });
    return false;
  });
  return met;
}

/// What would let a command write protected entries.
struct remedies {
  std::string names; ///< behind the first --unprotect; empty: none is taken off so
  std::string own;   ///< of those that no --unprotect takes off
};

remedies remedies_for(const std::vector<protected_place>& places) {
  std::vector<std::string_view> seen;
  remedies found;
  for (const auto& each : places) {
    if (std::ranges::find(seen, each.rule.name) != seen.end()) continue;
    seen.emplace_back(each.rule.name);
    if (is_usual(each.rule))
      found.names += (found.names.empty() ? "" : " --unprotect ") + each.rule.name;
    else
      found.own += (found.own.empty() ? "" : "; ") + how_to_allow(each.rule);
  }
  return found;
}

std::string unprotecting(hint_reader reader, const std::vector<protected_place>& places) {
  const auto [names, own] = remedies_for(places);
  if (names.empty()) return own;
  return allowing(reader, "--unprotect", names) + (own.empty() ? "" : "; " + own);
}

/// What is there may also be just what git wanted, as after going back to the branch it is of.
constexpr const char* left_by_git = "; where git status names it, do not commit it as it is now";

/// Git goes on where it could not write a file, and the next commit would undo what was there.
bool left_old(const command_outcome& o) {
  return complains(o, {"unable to unlink old", "unable to create file", "would be overwritten by"});
}

std::string removing_whole(hint_reader reader, const std::string& what) {
  return reader == hint_reader::model ? "call deleteDirectory with recursive true on " + what
                                      : "remove " + what + " with a program that is not confined";
}

std::string whole_directory_hint(const refusals& met, hint_reader reader) {
  const std::string what = met.directory.empty() ? std::string("it") : shown(met.directory);
  if (met.removing)
    return "; a command cannot remove what is protected in " + what +
           ", but perhaps the rest: " + removing_whole(reader, what);
  return "; a command cannot move a directory with protected entries: " +
         std::string(reader == hint_reader::model ? "call moveFile"
                                                  : "move it with a program that is not confined");
}

/// Which protected entries a failed command has met, and what does it instead.
std::string protected_hint(const root& root, const command& run, const command_outcome& o,
                           hint_reader reader) {
  if (!o.confinement.of(confinement_layer::protected_entries).applied) return {};
  const refusals met = refused_by_mounts(root, run, o);
  const bool at_top = std::ranges::any_of(
      met.places, [](const protected_place& each) { return each.before.empty(); });
  if ((met.removing && !met.directory.empty()) || (met.moving && !at_top))
    return whole_directory_hint(met, reader);
  std::string hint;
  if (!met.places.empty()) {
    const std::string& name = met.places.front().rule.name;
    hint = "; " + name + " is protected" +
           (is_usual({name}) ? ", because programs outside the workspace obey it: " : ": ") +
           unprotecting(reader, met.places);
    if (left_old(o)) hint += left_by_git;
    return hint;
  }
  if (complains(o, {"would be overwritten by", "You have unstaged changes",
                    "contains unstaged changes", "commit or stash them"}))
    return "; a protected entry (such as .vscode) that git status names is one that an earlier "
           "command could not write: do not commit it; git switch -f BRANCH goes to another branch "
           "all the same, and where a person runs it writes the entry too (it discards other "
           "changes that are not committed)";
  return {};
}

bool tells_of_outside(const root& root, std::string_view line) {
  return holds(line, {"ead-only file system", "ermission denied", "EROFS", "EACCES"}) &&
         !tells_of_socket(line) &&
         any_word(line, [&](std::string_view word) { return is_outside(root, word); });
}

bool is_asked_for_outside(const root& root, const command& run) {
  return std::any_of(run.argv.begin() + 1, run.argv.end(),
                     [&](const std::string& argument) { return is_outside(root, argument); });
}

std::string_view writing_option(hint_reader reader) {
  return reader == hint_reader::model ? "--exec-write PATH" : "--write PATH";
}

/// What a command says may leave open which of two it has met.
std::string outside_hint(const command_outcome& o, hint_reader reader) {
  const bool may_be_protected =
      o.confinement.of(confinement_layer::protected_entries).applied &&
      complains(o, {"Read-only file system", "read-only file system", "EROFS"});
  if (may_be_protected)
    return "; files outside the workspace, and protected names in it, cannot be changed: " +
           allowing(reader, "--exec-write", "PATH") + " or --unprotect NAME";
  return "; files outside the workspace are denied by policy: " +
         allowing(reader, "--exec-read", "PATH") + " or " + std::string(writing_option(reader));
}

/// What commands see of the system, or have of their own: what is not there is nowhere.
bool is_visible(const command& run, std::string_view path) {
  constexpr std::string_view places[] = {"/usr",  "/bin", "/sbin", "/lib", "/lib64",
                                         "/proc", "/dev", "/sys",  "/tmp", "/var/tmp"};
  const auto holds_it = [&](std::string_view place) {
    return strip_root_prefix(path, place).has_value();
  };
  return std::ranges::any_of(places, holds_it) ||
         std::ranges::any_of(run.confinement.read_paths, holds_it) ||
         std::ranges::any_of(run.confinement.write_paths, holds_it) ||
         std::ranges::any_of(run.confinement.cache_paths, holds_it);
}

/// That something is not there which may be, out of sight.
bool tells_of_unseen(const root& root, const command& run, std::string_view line) {
  return holds(line, {"No such file", "no such file", "ENOENT", "does not exist",
                      "does not appear to be a git repository"}) &&
         any_word(line, [&](std::string_view word) {
           return word.starts_with('/') && is_outside(root, word) && !is_visible(run, word);
         });
}

/// Root without its privileges is like any other user.
std::string owner_hint(const root& root, const command_outcome& o, hint_reader reader) {
  if (!complains(o, {"ermission denied", "EACCES", "dubious ownership", "unsafe repository"}))
    return {};
  const auto found = root.open_beneath(".", access::inspect);
  if (!found || found->status.uid == sys::effective_uid()) return {};
  const std::string owner = "user " + std::to_string(found->status.uid);
  return "; the workspace belongs to " + owner + ", but commands run as user " +
         std::to_string(sys::effective_uid()) +
         " without the rights of an administrator: a person can run " +
         (reader == hint_reader::model ? "the server" : "this") + " as " + owner;
}

/// In the imperative: an option, as the reader's program has it.
std::string giving(hint_reader reader, std::string_view option) {
  struct same_option {
    std::string_view of_server;
    std::string_view of_command;
  };
  constexpr same_option same[] = {
      {"--exec-read", "--read"}, {"--exec-write", "--write"}, {"--exec host", "--host"}};
  if (reader == hint_reader::person)
    for (const auto& each : same)
      if (each.of_server == option) option = each.of_command;
  return (reader == hint_reader::model ? "start the server with " : "run it with ") +
         std::string(option);
}

/// Then files outside still have names, and directories of all are those of all.
bool is_by_landlock_alone(const layer_report& file_system) {
  return file_system.applied &&
         file_system.mechanism.find("filter of attribute calls") != std::string::npos;
}

bool tells_of_permission(std::string_view line) {
  return holds(line, {"ermission denied", "EACCES"});
}

/// A temporary directory of all, which commands have of their own elsewhere.
bool tells_of_shared_scratch(std::string_view line) {
  return tells_of_permission(line) && any_word(line, [](std::string_view word) {
           return std::ranges::any_of(
               std::initializer_list<std::string_view>{"/tmp", "/var/tmp", "/dev/shm"},
               [&](std::string_view place) { return strip_root_prefix(word, place).has_value(); });
         });
}

/// What commands have of their own denies only what one of them has denied. In a home directory
/// that begins empty there was nobody before to do that.
bool tells_of_own_scratch(const root& root, const command& run, const command_outcome& o,
                          std::string_view line) {
  const bool is_shared = o.confinement.scratch == scratch_life::session;
  const std::string_view home = is_shared ? std::string_view(run.confinement.home) : "";
  const auto holds_it = [](std::string_view word) {
    return [word](std::string_view place) { return strip_root_prefix(word, place).has_value(); };
  };
  return tells_of_permission(line) && any_word(line, [&](std::string_view word) {
           const std::string_view own[] = {"/tmp", "/var/tmp", "/dev/shm", home};
           return is_outside(root, word) && std::ranges::any_of(own, holds_it(word)) &&
                  std::ranges::none_of(run.confinement.read_paths, holds_it(word)) &&
                  std::ranges::none_of(run.confinement.write_paths, holds_it(word));
         });
}

/// A program of the workspace that was made but could not be made executable.
bool tells_of_made_program(std::string_view line) {
  return tells_of_permission(line) &&
         any_word(line, [](std::string_view word) { return word.starts_with("./"); });
}

} // namespace

bool complains(const command_outcome& o, phrases wanted) {
  return holds(o.err.head, wanted) || holds(o.err.tail, wanted);
}

/// The words of the C library, of Node, Go and Python for a socket or an address that could not be
/// had. A seccomp filter refuses the socket itself, so that even `listen` fails with EACCES.
bool complains_of_network(const command_outcome& o) {
  return any_line(o, [](std::string_view line) {
    return !tells_of_socket(line) && holds(line, {"Network is unreachable",
                                                  "network is unreachable",
                                                  "ENETUNREACH",
                                                  "name resolution",
                                                  "Name or service not known",
                                                  "no such host",
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
                                                  "ocket: permission denied",
                                                  "ocket: Permission denied",
                                                  "ocket: Operation not permitted",
                                                  "ocket: operation not permitted",
                                                  "_socket.socket.__init__",
                                                  "attempting to bind on address",
                                                  "Unable to connect",
                                                  "create socket"});
  });
}

std::string allowing(hint_reader reader, std::string_view option, std::string_view value) {
  std::string text = reader == hint_reader::model ? "a person can " : "";
  text += giving(reader, option);
  if (!value.empty()) text.append(" ").append(value);
  return text;
}

std::string attributes_hint(const confinement_report& enforced, hint_reader reader) {
  const layer_report& layer = enforced.of(confinement_layer::file_system);
  if (!is_by_landlock_alone(layer)) return {};
  return "; this system cannot confine changes of modes, times and owners of files, so commands "
         "cannot make them: a person can allow user namespaces (paddock doctor says how), or " +
         giving(reader, "--exec host");
}

std::string denial_hint(const root& root, const command& run, const command_outcome& o,
                        hint_reader reader) {
  constexpr int exit_not_executable = 126;
  const bool is_confined = o.confinement.of(confinement_layer::file_system).applied;
  const bool outside =
      any_line(o, [&](std::string_view line) { return tells_of_outside(root, line); });
  if (auto met = protected_hint(root, run, o, reader); !met.empty())
    return !outside ? met
                    : met + "; where it lies outside the workspace, with " +
                          std::string(writing_option(reader)) + " instead";
  const bool by_landlock_alone =
      is_by_landlock_alone(o.confinement.of(confinement_layer::file_system));
  if (by_landlock_alone && any_line(o, tells_of_shared_scratch))
    return "; here commands share /tmp with other programs and cannot use it: write to $TMPDIR, "
           "which is theirs alone";
  if (o.confinement.scratch != scratch_life::none && !by_landlock_alone &&
      any_line(o, [&](std::string_view line) { return tells_of_own_scratch(root, run, o, line); }))
    return "; that is in a directory of the commands' own, where only a mode that one of them has "
           "set denies anything: chmod u+rwx gives it back";
  if (complains(o, {"peration not permitted", "EPERM"}) || o.exit_code == exit_not_executable ||
      (by_landlock_alone && any_line(o, tells_of_made_program)))
    if (auto attributes = attributes_hint(o.confinement, reader); !attributes.empty())
      return attributes;
  const bool unseen =
      (is_asked_for_outside(root, run) &&
       complains(o, {"No such file", "ENOENT", "does not exist"})) ||
      any_line(o, [&](std::string_view line) { return tells_of_unseen(root, run, line); }) ||
      (!prints_content(run) &&
       any_line(o.out, [&](std::string_view line) { return tells_of_unseen(root, run, line); }));
  if (is_confined && (outside || unseen)) return outside_hint(o, reader);
  return owner_hint(root, o, reader);
}

std::string command_notice(const root& root, const command& run, const command_outcome& o) {
  if (!o.confinement.of(confinement_layer::protected_entries).applied) return {};
  const refusals met = refused_by_mounts(root, run, o);
  if (met.places.empty()) return {};
  std::string text = met.removing ? "not removed: " : "not written: ";
  bool may_be_committed = false;
  for (const auto& each : met.places) {
    if (&each != &met.places.front()) text += ", ";
    text += encode_name(each.path);
    may_be_committed |= !each.rule.name.starts_with(".git/");
  }
  text += " (protected)";
  if (met.removing && !met.directory.empty())
    return text + ", so " + encode_name(met.directory) + " is still there; " +
           removing_whole(hint_reader::model, encode_name(met.directory)) +
           ", or remove it with a program that is not confined";
  if (may_be_committed) text += left_by_git;
  text += "; a person can ";
  text += may_be_committed ? "write it with git switch -f BRANCH" : "do it";
  const auto [names, own] = remedies_for(met.places);
  if (!names.empty()) text += ", or allow it with --unprotect " + names;
  return own.empty() ? text : text + "; " + own;
}

} // namespace paddock::mcp
