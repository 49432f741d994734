// SPDX-License-Identifier: MIT
#include "mcp/tools/exec_denials.hpp"

#include "exec/search_path.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

constexpr error_words no_entry{"ENOENT", "o such file"};
constexpr error_words no_right{"EACCES", "ermission denied"};
constexpr error_words not_permitted{"EPERM", "peration not permitted"};
constexpr error_words read_only_place{"EROFS", "ead-only file system"};
constexpr error_words busy_place{"EBUSY", "esource busy"};
constexpr error_words no_network{"ENETUNREACH", "etwork is unreachable"};
constexpr error_words nobody_answers{"ECONNREFUSED", "onnection refused"};
constexpr error_words no_resolver{"EAI_AGAIN", "emporary failure"};
constexpr error_words kept_offline{"ENOTCACHED", "offline mode"}; ///< of npm and cargo

bool tells(std::string_view text, const error_words& of) {
  return text.find(of.said) != std::string_view::npos ||
         text.find(of.name) != std::string_view::npos;
}

/// Whether `matches` says so of a word of the text that may be a path.
template <class F> bool any_word_of(std::string_view text, F&& matches) {
  constexpr std::string_view around = " \t'\"`()[]<>,;:=\r";
  for (std::size_t at = 0; at < text.size();) {
    at = std::min(text.find_first_not_of(around, at), text.size());
    constexpr std::string_view open = "\xE2\x80\x98", close = "\xE2\x80\x99"; // as GNU has them
    if (text.substr(at).starts_with(open)) at += open.size();
    std::size_t end = std::min(text.find_first_of(around, at), text.size());
    if (const std::string_view before = text.substr(0, at); text.substr(at).starts_with('/')) {
      // In quotes a path goes on behind a blank.
      const std::size_t closed = before.ends_with(open)   ? text.find(close, at)
                                 : before.ends_with('"')  ? text.find('"', at)
                                 : before.ends_with('\'') ? text.find('\'', at)
                                                          : text.npos;
      if (closed != text.npos) end = closed;
    }
    std::string_view word = text.substr(at, end - at);
    if (word.ends_with(close)) word.remove_suffix(close.size());
    if (!word.empty() && matches(word)) return true;
    at = end;
  }
  return false;
}

/// Whether `matches` says so of a word of a line of standard error, at either end, that tells one
/// of the errors; of none: of any line.
template <class F>
bool any_word(const command_outcome& o, std::initializer_list<error_words> errors, F&& matches) {
  const auto is_told = [&](std::string_view line) {
    return errors.size() == 0 ||
           std::ranges::any_of(errors, [&](const error_words& each) { return tells(line, each); });
  };
  for (const std::string_view text : {std::string_view(o.err.head), std::string_view(o.err.tail)})
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      if (is_told(line) && any_word_of(line, matches)) return true;
      at = end + 1;
    }
  return false;
}

bool is_outside(const root& root, std::string_view path) {
  return path.starts_with("../") ||
         (path.starts_with('/') && path.size() > 1 && !strip_root_prefix(path, root.path()));
}

/// A protected entry in a path, as the command wrote it: "sub/.git/hooks/a".
struct protected_place {
  std::string path;
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
    if (rule.mode == protection::read_only &&
        whole.find("/" + rule.name + "/") != std::string::npos)
      return protected_place{std::string(word), rule};
  }
  return std::nullopt;
}

/// The protected entries that could not be written, at most a few.
std::vector<protected_place> refused_entries(const root& root, const command& run,
                                             const command_outcome& o) {
  constexpr std::size_t places_max = 5;
  std::vector<protected_place> met;
  (void)any_word(o, {read_only_place, busy_place}, [&](std::string_view word) {
    auto place = place_in(root, run, word);
    if (place && std::ranges::find(met, place->path, &protected_place::path) == met.end())
      met.push_back(*std::move(place));
    return met.size() == places_max;
  });
  return met;
}

/// What they are, and what lets a command write them.
std::string protected_words(const std::vector<protected_place>& met, hint_reader reader) {
  std::string paths, names, own;
  std::vector<std::string_view> seen;
  for (const auto& each : met) {
    paths += (paths.empty() ? "" : ", ") + encode_name(each.path);
    if (std::ranges::find(seen, each.rule.name) != seen.end()) continue;
    seen.emplace_back(each.rule.name);
    if (is_usual(each.rule))
      names += (names.empty() ? "" : " --unprotect ") + each.rule.name;
    else
      own += "; " + how_to_allow(each.rule);
  }
  std::string text = "; if it was to change " + paths + ", that is protected";
  if (names.empty()) return text + own.replace(0, 1, ":");
  return text + ", because programs outside the workspace obey it: " +
         allowing(reader, "--unprotect", names) + own;
}

/// That a directory cannot be moved, because entries in it are held. Each is a mount for commands.
std::string held_directory_hint(const root& root, const command_outcome& o, hint_reader reader) {
  std::string held;
  (void)any_word(o, {busy_place}, [&](std::string_view word) {
    const auto found =
        root.open_beneath(strip_root_prefix(word, root.path()).value_or(word), access::inspect);
    if (found && found->status.kind == entry_kind::directory) held = word;
    return !held.empty();
  });
  if (held.empty()) return {};
  return "; if " + shown(held) + " holds protected entries, no command can move or remove it: " +
         (reader == hint_reader::model ? "call moveFile or deleteDirectory"
                                       : "use a program that is not confined");
}

/// Which protected entries a command has met, and what does it instead.
std::string protected_hint(const root& root, const command& run, const command_outcome& o,
                           hint_reader reader) {
  const auto met = refused_entries(root, run, o);
  if (met.empty()) return {};
  const bool is_repository = met.front().rule.name.starts_with(".git/");
  return protected_words(met, reader) +
         (reader == hint_reader::model && is_repository && complains(o, busy_place)
              ? "; to delete a whole repository, call deleteDirectory"
              : "");
}

bool is_in_one_of(std::string_view path, std::span<const std::string_view> places) {
  return std::ranges::any_of(
      places, [&](std::string_view place) { return strip_root_prefix(path, place).has_value(); });
}

/// What commands see of this machine.
bool is_visible(const command& run, std::string_view path) {
  constexpr std::string_view places[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"};
  const auto holds_it = [&](const std::string& place) {
    return strip_root_prefix(path, place).has_value();
  };
  return is_in_one_of(path, places) || std::ranges::any_of(run.confinement.read_paths, holds_it) ||
         std::ranges::any_of(run.confinement.write_paths, holds_it) ||
         std::ranges::any_of(run.confinement.cache_paths, holds_it);
}

/// What programs share, and commands have of their own.
bool is_temporary(std::string_view path) {
  constexpr std::string_view places[] = {"/tmp", "/var/tmp", "/dev/shm"};
  return is_in_one_of(path, places);
}

/// A path outside the workspace in a line of standard error, beside an error that the fence gives.
std::string outside_hint(const root& root, const command& run, const command_outcome& o,
                         hint_reader reader) {
  std::string path;
  const auto take = [&](std::string_view word, bool is_hidden) {
    constexpr std::string_view of_kernel[] = {"/proc", "/dev", "/sys"}; // no option gives it
    if (!is_outside(root, word) || word.find("://") != std::string_view::npos ||
        is_in_one_of(word, of_kernel) ||
        (is_hidden && (is_visible(run, word) || is_temporary(word))))
      return false;
    path = word;
    return true;
  };
  (void)any_word(o, {read_only_place}, [&](auto word) { // the last: the first is often the program
    (void)take(word, false);
    return false;
  });
  (void)(!path.empty() || any_word(o, {no_right}, [&](auto word) { return take(word, true); }) ||
         any_word(o, {no_entry}, [&](auto word) { // a relative one is often a header's
           return word.starts_with('/') && take(word, true);
         }));
  if (path.empty()) return {};
  return "; if it needs " + shown(path) + ", that lies outside the workspace, where commands " +
         "change nothing and see only the system: " + allowing(reader, "--exec-read", "PATH") +
         (reader == hint_reader::model ? " or --exec-write PATH" : " or --write PATH");
}

/// In the imperative: an option, as the reader's program has it.
std::string giving(hint_reader reader, std::string_view option) {
  if (reader == hint_reader::model) return "start the server with " + std::string(option);
  constexpr std::string_view of_server = "--exec"; // --exec-read is --read, --exec host is --host
  if (!option.starts_with(of_server)) return "run it with " + std::string(option);
  return "run it with --" + std::string(option.substr(of_server.size() + 1));
}

/// Then files outside still have names, and directories of all are those of all.
bool is_by_landlock_alone(const layer_report& file_system) {
  return file_system.applied &&
         file_system.mechanism.find("filter of attribute calls") != std::string::npos;
}

/// What a program or a worktree names that is there, but not for commands: the name of a program
/// that a shell did not find, or a repository.
std::string unseen_hint(const root& root, const command& run, const command_outcome& o,
                        hint_reader reader) {
  constexpr int exit_not_found = 127;
  std::string hint;
  (void)any_word(o, {}, [&](std::string_view word) {
    const auto path = o.exit_code == exit_not_found ? installed_at(run, word) : std::nullopt;
    if (path && !is_visible(run, *path)) hint = "; " + unseen_program_words(*path, reader);
    if (word.find("/.git/worktrees/") != std::string_view::npos && is_outside(root, word) &&
        !is_visible(run, word))
      hint = "; if this is a worktree, commands do not see its repository: " +
             allowing(reader, "--git-worktree");
    return !hint.empty();
  });
  return hint;
}

/// Which networks commands have, and who can give them more.
std::string network_words(const command_outcome& o, hint_reader reader) {
  const confinement_report& met = o.confinement;
  std::string hint = "commands have none";
  if (met.reach == network_reach::loopback) hint += " but a loopback of their own";
  if (!met.no_loopback.empty()) hint += ", and loopback cannot be had (" + met.no_loopback + ")";
  // The Internet without this machine needs the same namespaces.
  return hint + ": " +
         allowing(reader, met.no_loopback.empty() ? "--network all" : "--network host");
}

} // namespace

bool complains(const command_outcome& o, std::string_view phrase) {
  return o.err.head.find(phrase) != std::string::npos ||
         o.err.tail.find(phrase) != std::string::npos;
}

bool complains(const command_outcome& o, const error_words& of) {
  return complains(o, of.name) || complains(o, of.said);
}

std::string allowing(hint_reader reader, std::string_view option, std::string_view value) {
  std::string text = reader == hint_reader::model ? "a person can " : "";
  text += giving(reader, option);
  if (!value.empty()) text.append(" ").append(value);
  return text;
}

std::string attributes_hint(const confinement_report& enforced, hint_reader reader) {
  const layer_report& layer = enforced.of(confinement_layer::file_system);
  const bool is_brokered = layer.mechanism.find("broker of attributes") != std::string::npos;
  if (!is_by_landlock_alone(layer) || is_brokered) return {};
  return "; if it changes the mode, the times or the owner of a file, this system cannot confine "
         "that, so commands may not: a person can allow user namespaces (paddock doctor says how), "
         "or " +
         giving(reader, "--exec host");
}

std::string network_hint(const command_outcome& o, hint_reader reader) {
  if (!o.confinement.of(confinement_layer::network).applied) return {};
  if (o.confinement.reach == network_reach::hosts) return {}; // what was refused is known
  const bool has_loopback = o.confinement.reach == network_reach::loopback;
  const bool is_refused = complains(o, no_network) || complains(o, no_resolver) ||
                          complains(o, "resolve host") ||
                          complains(o, kept_offline) || // as adapt_to_network() told it
                          (has_loopback ? complains(o, nobody_answers)
                                        : complains(o, no_right) && complains(o, "ocket"));
  return is_refused ? "; if it needs a network, " + network_words(o, reader) : std::string();
}

std::optional<std::string> installed_at(const command& run, std::string_view name,
                                        path_entries in) {
  constexpr std::string_view variable = "PATH=";
  const auto set = std::ranges::find_if(
      run.environment, [&](const std::string& each) { return each.starts_with(variable); });
  if (name.empty() || name.find('/') != std::string_view::npos || set == run.environment.end())
    return std::nullopt;
  const auto of_command = absolute_entries(std::string_view(*set).substr(variable.size()));
  for (const std::string_view directory : absolute_entries(run.confinement.search_path)) {
    const bool is_left_out = std::ranges::find(of_command, directory) == of_command.end();
    if (is_left_out != (in == path_entries::left_out)) continue;
    std::string path = std::string(directory) + "/" + std::string(name);
    if (is_runnable(path) && (!is_left_out || is_visible(run, path))) return path;
  }
  return std::nullopt;
}

std::string unseen_program_words(const std::string& path, hint_reader reader) {
  return path +
         " is in PATH, but commands do not see it: " + allowing(reader, "--exec-read", path) +
         ", or with the directory of its installation";
}

std::string denial_hint(const root& root, const command& run, const command_outcome& o,
                        hint_reader reader) {
  constexpr int exit_not_executable = 126;
  if (o.confinement.of(confinement_layer::protected_entries).applied) {
    if (auto met = protected_hint(root, run, o, reader); !met.empty() || o.exit_code == 0)
      return met;
    if (auto held = held_directory_hint(root, o, reader); !held.empty()) return held;
  }
  if (o.exit_code == 0) return {};
  const layer_report& file_system = o.confinement.of(confinement_layer::file_system);
  if (is_by_landlock_alone(file_system)) {
    if (any_word(o, {no_right}, is_temporary))
      return "; if it is to write there, commands share /tmp with other programs and cannot use "
             "it: write to $TMPDIR, which is theirs alone";
    if (complains(o, not_permitted) || o.exit_code == exit_not_executable)
      return attributes_hint(o.confinement, reader);
  }
  if (file_system.applied) {
    if (auto unseen = unseen_hint(root, run, o, reader); !unseen.empty()) return unseen;
    if (auto outside = outside_hint(root, run, o, reader); !outside.empty()) return outside;
  }
  return network_hint(o, reader);
}

} // namespace paddock::mcp
