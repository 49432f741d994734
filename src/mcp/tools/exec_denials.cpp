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

bool tells_of_mount(std::string_view line) {
  return holds(line, {"ead-only file system", "EROFS", "esource busy", "EBUSY"});
}

bool tells_of_permission(std::string_view line) {
  return holds(line, {"ermission denied", "EACCES"});
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
  if (word.starts_with('/')) {
    const auto inside = strip_root_prefix(word, root.path());
    if (!inside) return std::nullopt;
    word = *inside;
  }
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

std::string removing_whole(hint_reader reader, const std::string& what) {
  return reader == hint_reader::model ? "call deleteDirectory with recursive true on " + what
                                      : "remove " + what + " with a program that is not confined";
}

std::string whole_directory_hint(const refusals& met, hint_reader reader) {
  const std::string what = met.directory.empty() ? std::string("it") : shown(met.directory);
  if (met.removing)
    return "; if it is to remove " + what +
           ", a command cannot remove what is protected in there, but perhaps the rest: " +
           removing_whole(reader, what);
  return "; if it holds protected entries, a command cannot move it: " +
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
  if (met.places.empty()) return {};
  const std::string& name = met.places.front().rule.name;
  return "; if it is to change " + name + ", that is protected" +
         (is_usual({name}) ? ", because programs outside the workspace obey it: " : ": ") +
         unprotecting(reader, met.places);
}

/// What commands see of the system, or have of their own: what is not there is nowhere.
bool is_visible(const command& run, std::string_view path) {
  constexpr std::string_view places[] = {"/usr",  "/bin", "/sbin", "/lib", "/lib64",  "/etc",
                                         "/proc", "/dev", "/sys",  "/tmp", "/var/tmp"};
  const auto holds_it = [&](std::string_view place) {
    return strip_root_prefix(path, place).has_value();
  };
  return std::ranges::any_of(places, holds_it) ||
         std::ranges::any_of(run.confinement.read_paths, holds_it) ||
         std::ranges::any_of(run.confinement.write_paths, holds_it) ||
         std::ranges::any_of(run.confinement.cache_paths, holds_it);
}

/// A path outside the workspace that a line of standard error has, with the words of its errno.
struct outside_path {
  std::string path;
  bool may_be_absent = false; ///< it is not there for commands, and perhaps not at all
};

std::optional<outside_path> refused_outside(const root& root, const command& run,
                                            const command_outcome& o) {
  std::optional<outside_path> found;
  (void)any_line(o, [&](std::string_view line) {
    const bool is_read_only = holds(line, {"ead-only file system", "EROFS"});
    const bool is_denied = tells_of_permission(line);
    const bool is_absent = holds(line, {"o such file", "ENOENT"});
    if (!is_read_only && !is_denied && !is_absent) return false;
    return any_word(line, [&](std::string_view word) {
      if (!is_outside(root, word) || word.find("://") != std::string_view::npos) return false;
      const bool is_relative = !word.starts_with('/'); // such a name is often a header's
      if (!is_read_only && (is_visible(run, word) || (is_absent && is_relative))) return false;
      found = {std::string(word), !is_read_only && !is_denied};
      return true;
    });
  });
  return found;
}

std::string outside_hint(const outside_path& met, hint_reader reader) {
  const std::string option =
      reader == hint_reader::model ? " or --exec-write PATH" : " or --write PATH";
  if (met.may_be_absent)
    return "; if " + shown(met.path) + " exists, commands do not see it, for it lies outside the " +
           "workspace: " + allowing(reader, "--exec-read", "PATH") + option;
  return "; if it needs " + shown(met.path) + ", that lies outside the workspace, where commands " +
         "change nothing and see only the system: " + allowing(reader, "--exec-read", "PATH") +
         option;
}

/// Root without its privileges is like any other user.
std::string owner_hint(const root& root, const command_outcome& o, hint_reader reader) {
  if (!any_line(o, tells_of_permission) && !complains(o, {"dubious ownership"})) return {};
  const auto found = root.open_beneath(".", access::inspect);
  if (!found || found->status.uid == sys::effective_uid()) return {};
  const std::string owner = "user " + std::to_string(found->status.uid);
  return "; if it lacks rights in the workspace, that belongs to " + owner +
         ", but commands run as user " + std::to_string(sys::effective_uid()) +
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

/// A temporary directory of all, which commands have of their own elsewhere.
bool tells_of_shared_scratch(std::string_view line) {
  return tells_of_permission(line) && any_word(line, [](std::string_view word) {
           return std::ranges::any_of(
               std::initializer_list<std::string_view>{"/tmp", "/var/tmp", "/dev/shm"},
               [&](std::string_view place) { return strip_root_prefix(word, place).has_value(); });
         });
}

} // namespace

bool complains(const command_outcome& o, phrases wanted) {
  return holds(o.err.head, wanted) || holds(o.err.tail, wanted);
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
  return "; if it changes the mode, the times or the owner of a file, this system cannot confine "
         "that, so commands may not: a person can allow user namespaces (paddock doctor says how), "
         "or " +
         giving(reader, "--exec host");
}

std::string denial_hint(const root& root, const command& run, const command_outcome& o,
                        hint_reader reader) {
  constexpr int exit_not_executable = 126;
  if (auto met = protected_hint(root, run, o, reader); !met.empty()) return met;
  const layer_report& file_system = o.confinement.of(confinement_layer::file_system);
  const bool is_alone = is_by_landlock_alone(file_system);
  if (is_alone && any_line(o, tells_of_shared_scratch))
    return "; if it is to write there, commands share /tmp with other programs and cannot use it: "
           "write to $TMPDIR, which is theirs alone";
  if (complains(o, {"peration not permitted", "EPERM"}) || o.exit_code == exit_not_executable)
    if (auto attributes = attributes_hint(o.confinement, reader); !attributes.empty())
      return attributes;
  if (file_system.applied)
    if (const auto outside = refused_outside(root, run, o)) return outside_hint(*outside, reader);
  return owner_hint(root, o, reader);
}

std::string command_notice(const root& root, const command& run, const command_outcome& o) {
  if (!o.confinement.of(confinement_layer::protected_entries).applied) return {};
  const refusals met = refused_by_mounts(root, run, o);
  if (met.places.empty()) return {};
  std::string text = met.removing ? "if it was to remove " : "if it was to change ";
  for (const auto& each : met.places) {
    if (&each != &met.places.front()) text += ", ";
    text += encode_name(each.path);
  }
  text += ", that is protected";
  if (met.removing && !met.directory.empty())
    return text + ", so " + encode_name(met.directory) + " is still there; " +
           removing_whole(hint_reader::model, encode_name(met.directory)) +
           ", or remove it with a program that is not confined";
  const auto [names, own] = remedies_for(met.places);
  text += "; a person can do it";
  if (!names.empty()) text += ", or allow it with --unprotect " + names;
  return own.empty() ? text : text + "; " + own;
}

} // namespace paddock::mcp
