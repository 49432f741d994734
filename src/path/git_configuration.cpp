// SPDX-License-Identifier: MIT
#include "path/git_configuration.hpp"

#include "path/git_names.hpp"

#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <functional>
#include <iterator>

namespace paddock {
namespace {

/// A lone carriage return counts as one, before a line's end it does not count at all.
constexpr std::string_view blanks_of_git = " \t\r";

constexpr bool is_key_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_of_key(char c) {
  return is_key_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// What runs no program and names no file with settings. With a subsection of any name where the
/// section ends in a dot. Everything else counts as harmful: git learns new ones.
constexpr struct {
  std::string_view section;
  std::string_view keys; ///< with a space around each; "*": all
} harmless_settings[] = {
    {"core",
     " repositoryformatversion filemode bare logallrefupdates symlinks ignorecase "
     "precomposeunicode "
     "autocrlf eol safecrlf whitespace worktree quotepath abbrev sharedrepository compression "
     "loosecompression bigfilethreshold preloadindex untrackedcache sparsecheckout "
     "sparsecheckoutcone longpaths protectntfs protecthfs trustctime checkstat splitindex "
     "commitgraph multipackindex hidedotfiles commentchar "},
    {"extensions", " objectformat refstorage worktreeconfig noop preciousobjects relativeworktrees "
                   "compatobjectformat "},
    {"user", " name email useconfigonly "},
    {"author", " name email "},
    {"committer", " name email "},
    {"init", " defaultbranch "},
    {"pull", " rebase ff "},
    {"push", " default autosetupremote followtags "},
    {"fetch", " prune prunetags parallel "},
    {"merge", " ff conflictstyle renames log stat "},
    {"rebase", " autostash autosquash updaterefs "},
    {"rerere", " enabled autoupdate "},
    {"gc", " auto autodetach autopacklimit pruneexpire "},
    {"maintenance", " auto strategy "},
    {"index", " version sparse threads "},
    {"diff", " algorithm renames context mnemonicprefix noprefix colormoved indentheuristic "},
    {"log", " date decorate follow abbrevcommit "},
    {"checkout", " defaultremote "},
    {"receive", " denycurrentbranch denynonfastforwards "},
    {"transfer", " fsckobjects "},
    {"i18n", " commitencoding logoutputencoding "},
    {"advice", "*"},
    {"color", "*"},
    {"color.", "*"},
    {"lfs", " repositoryformatversion "},
    {"branch.", " remote merge rebase description pushremote "},
    {"remote.", " url fetch pushurl push tagopt prune prunetags mirror skipdefaultupdate "
                "skipfetchall followremotehead "},
    {"submodule", " active "},
    {"submodule.", " url active path branch "},
};

/// Whether a setting names a repository by a program: `ext::sh -c …`, or as an option of one.
bool runs_program_by_url(const git_setting& asked) {
  constexpr std::string_view urls = " url pushurl remote pushremote ";
  if ((asked.section != "remote" && asked.section != "branch" && asked.section != "submodule") ||
      urls.find(' ' + asked.key + ' ') == std::string_view::npos || !asked.value)
    return false;
  const std::string_view url = *asked.value;
  const auto colons = url.find("::");
  return url.starts_with('-') || url.find("://-") != std::string_view::npos ||
         (colons != std::string_view::npos && url.find_first_of("/:[") >= colons);
}

/// The remotes with a URL: git takes any other name for a path.
class named_remotes {
public:
  /// In a file, with a URL that stays there.
  named_remotes(std::string_view text, const is_local_remote& is_local) {
    add(text, [&](const git_setting& each) {
      const auto path = path_in(each);
      return !runs_program_by_url(each) && (!path || is_local(*path));
    });
  }
  void add_all(std::string_view text) {
    add(text, [](const git_setting&) { return true; });
  }

  /// What git takes for a path on this machine; nothing where it is none.
  [[nodiscard]] std::optional<std::string_view> path_in(const git_setting& asked) const {
    const bool is_url = asked.section == "remote" && (asked.key == "url" || asked.key == "pushurl");
    const bool is_name =
        asked.section == "branch" && (asked.key == "remote" || asked.key == "pushremote");
    if ((!is_url && !is_name) || !asked.value) return std::nullopt;
    const std::string_view value = *asked.value;
    const bool is_known =
        is_name && (value == "." || std::ranges::find(names_, value) != names_.end());
    const bool is_of_host =
        !value.starts_with("file:") && value.find(':') < value.find('/'); // or a scheme
    return is_known || is_of_host ? std::nullopt : std::optional(value);
  }

private:
  void add(std::string_view text, const std::function<bool(const git_setting&)>& stays) {
    git_settings settings(text);
    while (const auto each = settings.next())
      if (each->section == "remote" && each->key == "url" && each->value.value_or("") != "" &&
          stays(*each))
        names_.push_back(each->subsection);
  }

  std::vector<std::string> names_;
};

bool is_harmless(const git_setting& asked, const is_worktree& is_allowed,
                 const named_remotes& remotes, const is_local_remote& is_local) {
  if (runs_program_by_url(asked)) return false;
  if (const auto path = remotes.path_in(asked); path && !is_local(*path)) return false;
  const bool is_of_storage = asked.section == "extensions" && asked.key == "refstorage";
  if (is_of_storage && asked.value != "files" && asked.value != "reftable") return false; // a path
  const bool is_of_worktree = asked.section == "core" && asked.key == "worktree";
  if (is_of_worktree && (!asked.value || !is_allowed(*asked.value))) return false;
  const std::string section = asked.section + (asked.subsection.empty() ? "" : ".");
  return std::ranges::any_of(harmless_settings, [&](const auto& row) {
    return row.section == section &&
           (row.keys == "*" || row.keys.find(' ' + asked.key + ' ') != std::string_view::npos);
  });
}

void add_quoted(std::string& to, std::string_view value) {
  to += '"';
  for (const char c : value) {
    if (c == '\n' || c == '\t' || c == '\b') {
      to += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\b";
      continue;
    }
    if (c == '"' || c == '\\') to += '\\';
    to += c;
  }
  to += '"';
}

void add_setting(std::string& to, const git_setting& setting) {
  to += '[' + setting.section;
  if (!setting.subsection.empty()) {
    to += " \"";
    for (const char c : setting.subsection) {
      if (c == '"' || c == '\\') to += '\\';
      to += c;
    }
    to += '"';
  }
  to += "]\n\t" + setting.key;
  if (setting.value) {
    to += " = ";
    add_quoted(to, *setting.value);
  }
  to += '\n';
}

} // namespace

git_settings::git_settings(std::string_view text) : rest_(text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

/// The end is one of a line, too.
char git_settings::peek() const {
  if (rest_.empty() || rest_.starts_with("\r\n")) return '\n';
  return rest_.front();
}

char git_settings::take() {
  const char c = peek();
  rest_.remove_prefix(std::min(rest_.size(), rest_.starts_with("\r\n") ? std::size_t{2} : 1));
  return c;
}

void git_settings::skip_line() {
  rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
}

std::optional<git_setting> git_settings::fail() {
  broken_ = true;
  rest_ = {};
  return std::nullopt;
}

bool git_settings::read_subsection() {
  while (blanks_of_git.find(peek()) != std::string_view::npos)
    (void)take();
  if (take() != '"') return false;
  for (;;) {
    char c = take();
    if (c == '"') return take() == ']';
    if (c == '\\') c = take();
    if (c == '\n' || c == '\0') return false;
    subsection_ += c;
  }
}

/// `[a.b]` is the old way to write `[a "b"]`.
bool git_settings::read_section() {
  section_.clear();
  subsection_.clear();
  for (;;) {
    const char c = take();
    if (c == ']') break;
    if (c == ' ' || c == '\t') return !section_.empty() && read_subsection();
    if (!is_of_key(c) && c != '.') return false;
    section_ += small(c);
  }
  if (const auto dot = section_.find('.'); dot != std::string::npos) {
    subsection_ = section_.substr(dot + 1);
    section_.resize(dot);
  }
  return !section_.empty();
}

bool git_settings::read_value(std::string& into) {
  std::size_t kept = 0; // without blanks at the end that no quotes hold
  bool quoted = false;
  for (;;) {
    const bool at_end = rest_.empty();
    const char c = take();
    if (c == '\n') {
      into.resize(kept);
      return !quoted;
    }
    const bool is_blank = blanks_of_git.find(c) != std::string_view::npos;
    if (at_end || c == '\0') return false;
    if (!quoted && is_blank && into.empty()) continue;
    if (!quoted && (c == '#' || c == ';')) {
      skip_line();
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == '\\') {
      const char escaped = take();
      constexpr std::string_view known = "tbn\\\"", meant = "\t\b\n\\\"";
      if (escaped == '\n') continue;
      const auto which = known.find(escaped);
      if (which == std::string_view::npos) return false;
      into += meant[which];
      kept = into.size();
    } else {
      into += c;
      if (quoted || !is_blank) kept = into.size();
    }
  }
}

std::optional<git_setting> git_settings::next() {
  while (!rest_.empty()) {
    const char c = take();
    if (c == '\n' || blanks_of_git.find(c) != std::string_view::npos) continue;
    if (c == '#' || c == ';') {
      skip_line();
    } else if (c == '[') {
      if (!read_section()) return fail();
    } else {
      if (!is_key_letter(c) || section_.empty()) return fail();
      git_setting found{
          .section = section_, .subsection = subsection_, .key = {small(c)}, .value = {}};
      while (is_of_key(peek()))
        found.key += small(take());
      while (peek() == ' ' || peek() == '\t')
        (void)take();
      const char after = take();
      if (after == '=') {
        if (!read_value(found.value.emplace())) return fail();
      } else if (after != '\n') {
        return fail();
      }
      return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> harmless_part(std::string_view text, const is_worktree& is_allowed,
                                         const is_local_remote& is_local) {
  const named_remotes remotes(text, is_local);
  std::string kept;
  bool all = true;
  git_settings settings(text);
  while (const auto setting = settings.next()) {
    const bool harmless = is_harmless(*setting, is_allowed, remotes, is_local);
    all = all && harmless;
    if (harmless) add_setting(kept, *setting);
  }
  if (all && !settings.broken()) return std::nullopt;
  return kept;
}

namespace {

/// What `git remote add`, `git push -u`, `git branch` and `git config user.name` write: with others
/// a person's push removes or overwrites what is on a server.
bool is_carried(const git_setting& asked) {
  constexpr std::string_view of_remote = " url fetch tagopt ",
                             of_branch = " remote merge rebase description ";
  const std::string key = ' ' + asked.key + ' ';
  return asked.section == "user" ||
         (asked.section == "remote" && of_remote.find(key) != of_remote.npos) ||
         (asked.section == "branch" && of_branch.find(key) != of_branch.npos);
}

/// The settings of one configuration, those that a command may change apart.
struct parted_settings {
  /// `persons`: the settings as somebody else had them, whose remotes are as they may be.
  parted_settings(std::string_view text, const is_local_remote& is_local,
                  std::string_view persons) {
    named_remotes remotes(text, is_local);
    remotes.add_all(persons);
    git_settings all(text);
    while (auto each = all.next()) {
      const bool is_free = is_carried(*each) &&
                           is_harmless(
                               *each, [](std::string_view) { return false; }, remotes, is_local);
      (is_free ? free : fixed).push_back(*std::move(each));
    }
    broken = all.broken();
  }
  std::vector<git_setting> free, fixed;
  bool broken = false;
};

/// Those of `all` that are not, or not as often, among `others`.
std::vector<git_setting> without(const std::vector<git_setting>& all,
                                 std::vector<git_setting> others) {
  std::vector<git_setting> left;
  for (const git_setting& each : all)
    if (const auto same = std::ranges::find(others, each); same != others.end())
      others.erase(same);
    else
      left.push_back(each);
  return left;
}

void add_names(std::vector<std::string>& to, const std::vector<git_setting>& settings) {
  for (const auto& [section, subsection, key, value] : settings) {
    std::string name = section + "." + (subsection.empty() ? "" : subsection + ".") + key;
    if (std::ranges::find(to, name) == to.end()) to.push_back(std::move(name));
  }
}

} // namespace

carried_settings carry_settings(std::string_view before, std::string_view after,
                                const is_local_remote& is_local) {
  carried_settings carried;
  const parted_settings old(before, is_local, before), wanted(after, is_local, before);
  if (wanted.broken || old.broken) {
    if (before != after) carried.left_out.emplace_back("all of it, which git could not read");
    return carried;
  }
  add_names(carried.left_out, without(wanted.fixed, old.fixed));
  add_names(carried.left_out, without(old.fixed, wanted.fixed));
  if (wanted.fixed == old.fixed) {
    if (wanted.free != old.free) carried.text = after;
    return carried;
  }
  if (carried.left_out.empty()) carried.left_out.emplace_back("the order of settings");
  const auto added = without(wanted.free, old.free);
  const auto removed = without(old.free, wanted.free);
  if (!removed.empty()) {
    add_names(carried.left_out, added);
    add_names(carried.left_out, removed);
  } else if (!added.empty()) {
    carried.text = before;
    if (!carried.text->ends_with('\n')) *carried.text += '\n';
    for (const git_setting& each : added)
      add_setting(*carried.text, each);
  }
  return carried;
}

} // namespace paddock
