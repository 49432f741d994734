// SPDX-License-Identifier: MIT
#pragma once

/// Names in a workspace that an agent must not change, or must not even see, because programs
/// outside the fence run or obey what is there: a hook of git, the tasks of an editor, a shell's
/// start-up file. One list, held by the file tools (root.hpp) and, inside commands, by mounts
/// (confinement.hpp).
///
/// Where a name counts:
/// - a hidden one, at any depth: nobody reads, lists, makes, changes or passes it;
/// - a read-only one that begins with `.git/`, in every repository: also in those of submodules and
///   worktrees below `.git/modules` and `.git/worktrees`;
/// - any other read-only one at the top of the workspace and beside every `.git`.
///
/// Names are compared as file systems do that fold case or normalise, ignore characters that cannot
/// be seen, or know names by short ones (`GIT~1`): whatever leads to ASCII. Beyond ASCII a name of
/// the list counts as it is written. A read-only name that does not exist yet cannot be made
/// either. A directory that holds a protected name at the top can be neither moved nor deleted; a
/// repository further down as a whole can.
///
/// Thread-safety: plain values.

#include <paddock/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

enum class protection : std::uint8_t {
  read_only, ///< may be read and run, but not be changed, replaced, moved or made
  hidden,    ///< not there for anybody inside
};

struct protected_name {
  std::string name; ///< relative, without `.` and `..`; a hidden one is a single component
  protection mode = protection::read_only;
  /// A person has asked for it, be it in the table or not: nobody is told then to take it off.
  bool asked = false;

  friend bool operator==(const protected_name&, const protected_name&) = default;
};

// The one table. X(name, mode, who runs or obeys it)
// clang-format off
#define PADDOCK_PROTECTED_NAMES(X)                                        \
  X(".perstack",            hidden,    "the runtime that keeps its state there") \
  X(".git/config",          read_only, "git, which runs programs named there")   \
  X(".git/config.worktree", read_only, "git, which runs programs named there")   \
  X(".git/commondir",       read_only, "git, which finds its configuration by it") \
  X(".git/hooks",           read_only, "git, which runs them")                   \
  X(".gitmodules",          read_only, "git")                                    \
  X(".envrc",               read_only, "direnv, which runs it")                  \
  X(".mcp.json",            read_only, "agents, which start servers named there") \
  X("perstack.toml",        read_only, "paddock experts, which starts programs named there") \
  X(".vscode",              read_only, "editors, which run tasks")               \
  X(".cursor",              read_only, "editors, which run tasks")               \
  X(".zed",                 read_only, "editors, which run tasks")               \
  X(".idea",                read_only, "editors, which run tasks")               \
  X(".claude",              read_only, "agents, which run hooks")                \
  X(".codex",               read_only, "agents, which run hooks")                \
  X(".gemini",              read_only, "agents, which run hooks")                \
  X(".bashrc",              read_only, "shells")                                 \
  X(".bash_profile",        read_only, "shells")                                 \
  X(".bash_login",          read_only, "shells")                                 \
  X(".bash_logout",         read_only, "shells")                                 \
  X(".bash_aliases",        read_only, "shells")                                 \
  X(".profile",             read_only, "shells")                                 \
  X(".zshrc",               read_only, "shells")                                 \
  X(".zshenv",              read_only, "shells")                                 \
  X(".zprofile",            read_only, "shells")                                 \
  X(".zlogin",              read_only, "shells")                                 \
  X(".zlogout",             read_only, "shells")                                 \
  X(".kshrc",               read_only, "shells")                                 \
  X(".cshrc",               read_only, "shells")                                 \
  X(".tcshrc",              read_only, "shells")                                 \
  X(".login",               read_only, "shells")                                 \
  X(".inputrc",             read_only, "shells")                                 \
  X(".gitconfig",           read_only, "git, where the workspace is a home directory") \
  X(".agents/sys.skills",   read_only, "the application, whose own skills they are")
// clang-format on

/// What an error names instead of a rule where an entry is git's own: what makes a directory a
/// repository (`.git/HEAD`), and directories that git alone moves. No list has this name.
inline constexpr const char* git_own_name = ".git/";

/// The names of the table.
[[nodiscard]] std::vector<protected_name> usual_protected_names();

/// Adds a name to a list, or gives one that is there its new mode.
void protect(std::vector<protected_name>& names, protected_name name);
/// Takes a name off a list; false when it was not on it.
bool unprotect(std::vector<protected_name>& names, std::string_view name);

/// Whether the rule is as the table has it: programs outside the workspace obey what is there.
[[nodiscard]] bool is_usual(const protected_name& rule);

/// Which option is behind a rule that refuses something, and what a person can do, as a clause;
/// empty for a hidden name, which nobody needs to allow. The name may be one that an error tells.
[[nodiscard]] std::string how_to_allow(const protected_name& rule);

/// Whether the name is one that a list may have.
[[nodiscard]] bool is_valid(const protected_name& name) noexcept;

} // namespace paddock
