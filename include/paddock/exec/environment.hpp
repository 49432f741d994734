// SPDX-License-Identifier: MIT
#pragma once

/// The environment of a command: a documented minimum of what this process has, what the operator
/// adds, then what the caller asks for.
///
/// Variables that make a loader, a shell, an interpreter or a common tool run other code than the
/// program that was named are refused by name. It is an error when the caller sets one for a
/// command that is not confined. For one that is, they change what it does and not what it may, so
/// the caller may set them. One that would be inherited is left out silently in any case, even if
/// the operator named it. The table below is the only list. It cannot be complete, because any
/// program may invent such a variable: it is a fence against surprise, and confinement is the wall.
///
/// PATH, HOME, SHELL, CC, PAGER, EDITOR and their like may be set: they choose among programs that
/// the caller could name in argv anyway, and harmless values (PAGER=cat, EDITOR=true) are everyday.
/// Entries of PATH must be absolute, or a program planted in the working directory would shadow the
/// system's.
///
/// Thread-safety: pure functions.

#include <paddock/base/result.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// One variable as the caller asks for it.
struct environment_variable {
  std::string name;
  std::string value;
};

/// Which variable was refused and why, for a message.
struct environment_refusal {
  std::string name;
  std::string_view reason; ///< static text: "the variable NAME …"
};

/// Where the command runs.
enum class command_place : bool {
  host,     ///< or nobody knows
  confined, ///< without the confinement it would not run
};

struct environment_request {
  std::span<const std::string_view> inherited{}; ///< "NAME=value" of this process
  std::span<const std::string> pass{}; ///< names the operator adds to `inherited_by_default`
  /// The caller's; they replace inherited ones, the last of a name counts.
  std::span<const environment_variable> extra{};
  command_place place = command_place::host;
};

/// A row that ends in '*' stands for every name that begins so.
inline constexpr std::string_view inherited_by_default[] = {
    "PATH", "HOME", "LANG", "LC_*", "TERM", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR"};

struct refused_variable {
  std::string_view pattern; ///< as in inherited_by_default
  std::string_view reason;
};

// clang-format off
inline constexpr refused_variable refused_variables[] = {
    {"LD_*", "changes which libraries the dynamic loader puts into a program"},
    {"DYLD_*", "changes which libraries the dynamic loader puts into a program"},
    {"GLIBC_TUNABLES", "changes the C library underneath a program"},
    {"MALLOC_*", "changes the C library underneath a program"},
    {"GCONV_PATH", "makes the C library load code from another place"},
    {"GETCONF_DIR", "makes the C library load code from another place"},
    {"LOCPATH", "makes the C library load its data from another place"},
    {"NLSPATH", "makes the C library load format strings from another place"},
    {"OPENSSL_CONF", "makes OpenSSL load code from another place"},
    {"OPENSSL_ENGINES", "makes OpenSSL load code from another place"},
    {"OPENSSL_MODULES", "makes OpenSSL load code from another place"},

    {"BASH_ENV", "makes a shell run a file before its script"},
    {"ENV", "makes a shell run a file before its script"},
    {"ZDOTDIR", "makes a shell run a file before its script"},
    {"FPATH", "makes a shell load functions from another place"},
    {"BASH_FUNC_*", "defines functions that replace commands in a shell"},
    {"BASH_LOADABLES_PATH", "makes a shell load code from another place"},
    {"PS4", "is expanded, commands included, when a shell traces"},
    {"PROMPT_COMMAND", "is run by a shell at every prompt"},
    {"SHELLOPTS", "changes how a shell reads its script"},
    {"BASHOPTS", "changes how a shell reads its script"},
    {"IFS", "changes how a shell reads its script"},

    {"NODE_OPTIONS", "makes node load other code first"},
    {"NODE_PATH", "makes node load modules from another place"},
    {"NODE_REPL_EXTERNAL_MODULE", "makes node load other code first"},
    {"npm_config_node_options", "makes npm run node with other code first"},
    {"NPM_CONFIG_NODE_OPTIONS", "makes npm run node with other code first"},
    {"npm_config_script_shell", "makes npm run scripts in another program"},
    {"NPM_CONFIG_SCRIPT_SHELL", "makes npm run scripts in another program"},
    {"PYTHONPATH", "makes python load modules from another place"},
    {"PYTHONHOME", "makes python load modules from another place"},
    {"PYTHONUSERBASE", "makes python load modules from another place"},
    {"PYTHONPLATLIBDIR", "makes python load modules from another place"},
    {"PYTHONPYCACHEPREFIX", "makes python load modules from another place"},
    {"PYTHONEXECUTABLE", "makes python load modules from another place"},
    {"PYTHONSTARTUP", "makes python run a file first"},
    {"PYTHONINSPECT", "makes python go on after its script"},
    {"PYTHONBREAKPOINT", "makes python call other code"},
    {"PYTHONWARNINGS", "makes python import a module first"},
    {"PERL5OPT", "makes perl load other code first"},
    {"PERL5DB", "makes perl load other code first"},
    {"PERL5LIB", "makes perl load modules from another place"},
    {"PERLLIB", "makes perl load modules from another place"},
    {"RUBYOPT", "makes ruby load other code first"},
    {"RUBYLIB", "makes ruby load modules from another place"},
    {"RUBYSHELL", "makes ruby run commands in another program"},
    {"JAVA_TOOL_OPTIONS", "makes java load other code first"},
    {"_JAVA_OPTIONS", "makes java load other code first"},
    {"JDK_JAVA_OPTIONS", "makes java load other code first"},
    {"CLASSPATH", "makes java load classes from another place"},
    {"DOTNET_STARTUP_HOOKS", "makes dotnet load other code first"},
    {"CORECLR_*", "makes dotnet load other code first"},
    {"LUA_INIT*", "makes lua run other code first"},
    {"LUA_PATH*", "makes lua load modules from another place"},
    {"LUA_CPATH*", "makes lua load modules from another place"},
    {"R_PROFILE*", "makes R run a file first"},
    {"R_ENVIRON*", "makes R read its environment from a file"},
    {"PHPRC", "makes php load other code first"},
    {"PHP_INI_SCAN_DIR", "makes php load other code first"},

    {"GIT_SSH", "is a program that git runs"},
    {"GIT_SSH_COMMAND", "is a shell command that git runs"},
    {"GIT_PROXY_COMMAND", "is a program that git runs"},
    {"GIT_EXTERNAL_DIFF", "is a shell command that git runs"},
    {"GIT_PAGER", "is a shell command that git runs; use git --no-pager or PAGER"},
    {"GIT_EDITOR", "is a shell command that git runs; use EDITOR"},
    {"GIT_SEQUENCE_EDITOR", "is a shell command that git runs; use EDITOR"},
    {"GIT_ASKPASS", "is a program that git runs"},
    {"SSH_ASKPASS", "is a program that ssh and git run"},
    {"GIT_EXEC_PATH", "makes git run its parts from another place"},
    {"GIT_TEMPLATE_DIR", "makes git install hooks from another place"},
    {"GIT_CONFIG*", "can make git run any command; use git -c"},
    {"HGRCPATH", "can make hg run any command"},
    {"RSYNC_RSH", "is a shell command that rsync runs"},
    {"CVS_RSH", "is a program that cvs runs"},
    {"SVN_SSH", "is a command that svn runs"},
    {"TAR_OPTIONS", "can make tar run any command"},
    {"MAKEFILES", "makes make read other files first"},
    {"RUSTC_WRAPPER", "makes cargo run another compiler"},
    {"RUSTC_WORKSPACE_WRAPPER", "makes cargo run another compiler"},
    {"LESSOPEN", "is a shell command that less runs"},
    {"LESSCLOSE", "is a shell command that less runs"},
    {"VIMINIT", "is run by vi when it starts"},
    {"EXINIT", "is run by vi when it starts"},
};
// clang-format on

/// Why a command may not be given this variable, or nothing. Names are compared exactly.
[[nodiscard]] constexpr std::optional<std::string_view> refusal_of(std::string_view name) noexcept;

/// Builds command::environment: inherited variables in their order, then the caller's in theirs,
/// each name once. Inherited ones that may not be given, or are malformed, are left out. Errors,
/// about the caller's variables: invalid_argument (a name that is not [A-Za-z_][A-Za-z0-9_]*, a NUL
/// byte in a value, an entry of PATH that is not absolute), denied_by_policy (see refusal_of; not
/// for a command that is confined).
/// `refusal`, when given, then says which variable and why.
[[nodiscard]] inline result<std::vector<std::string>>
build_environment(const environment_request& request, environment_refusal* refusal = nullptr);

// --- inline -------------------------------------------------------------------------------------

namespace detail::environment {

constexpr bool matches(std::string_view pattern, std::string_view name) noexcept {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

constexpr bool is_variable_name(std::string_view name) noexcept {
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const char c : name)
    if (!letter(c) && !digit(c)) return false;
  return !name.empty() && letter(name.front());
}

/// Every entry of a PATH begins with a slash; an empty entry means the working directory.
constexpr bool is_absolute_search_path(std::string_view path) noexcept {
  for (;;) {
    if (!path.starts_with('/')) return false;
    const std::size_t colon = path.find(':');
    if (colon == std::string_view::npos) return true;
    path.remove_prefix(colon + 1);
  }
}

/// "NAME" of "NAME=value".
constexpr std::string_view variable_name(std::string_view assignment) noexcept {
  return assignment.substr(0, assignment.find('='));
}

/// Variables in the order of their first assignment, each with its last. A hash table of its own,
/// because the standard's headers for one cost more than all of this.
class variable_list {
public:
  void put(std::string_view name, std::string assignment) {
    if (2 * (all_.size() + 1) > slots_.size()) grow();
    std::size_t& number = slot_of(name);
    if (number == 0) {
      all_.push_back(std::move(assignment));
      number = all_.size();
    } else {
      all_[number - 1] = std::move(assignment);
    }
  }
  std::vector<std::string> take() { return std::move(all_); }

private:
  /// Holds the variable's place, counted from 1, or 0.
  std::size_t& slot_of(std::string_view name) {
    std::size_t at = std::hash<std::string_view>{}(name) % slots_.size();
    while (slots_[at] != 0 && variable_name(all_[slots_[at] - 1]) != name)
      at = (at + 1) % slots_.size();
    return slots_[at];
  }
  void grow() {
    constexpr std::size_t least = 64;
    slots_.assign(least + 4 * all_.size(), 0);
    for (std::size_t i = 0; i < all_.size(); ++i)
      slot_of(variable_name(all_[i])) = i + 1;
  }

  std::vector<std::string> all_;
  std::vector<std::size_t> slots_;
};

inline bool is_inherited(std::string_view name, std::span<const std::string> pass) noexcept {
  for (const std::string_view pattern : inherited_by_default)
    if (matches(pattern, name)) return true;
  for (const std::string_view also : pass)
    if (also == name) return true;
  return false;
}

/// The code and the reason for which the caller may not set this variable.
struct variable_fault {
  error_code code;
  std::string_view reason;
};
inline std::optional<variable_fault> fault_of(const environment_variable& variable,
                                              command_place place) noexcept {
  if (const auto reason = refusal_of(variable.name); reason && place == command_place::host)
    return variable_fault{error_code::denied_by_policy, *reason};
  if (!is_variable_name(variable.name))
    return variable_fault{error_code::invalid_argument,
                          "needs a name of letters, digits and underscores"};
  if (variable.value.find('\0') != std::string::npos)
    return variable_fault{error_code::invalid_argument, "has a NUL byte in its value"};
  if (variable.name == "PATH" && !is_absolute_search_path(variable.value))
    return variable_fault{error_code::invalid_argument, "may only have absolute entries"};
  return std::nullopt;
}

} // namespace detail::environment

constexpr std::optional<std::string_view> refusal_of(std::string_view name) noexcept {
  for (const refused_variable& row : refused_variables)
    if (detail::environment::matches(row.pattern, name)) return row.reason;
  return std::nullopt;
}

inline result<std::vector<std::string>> build_environment(const environment_request& request,
                                                          environment_refusal* refusal) {
  detail::environment::variable_list variables;
  for (const std::string_view assignment : request.inherited) {
    const std::string_view name = detail::environment::variable_name(assignment);
    const bool complete =
        name.size() < assignment.size() && detail::environment::is_variable_name(name);
    if (complete && detail::environment::is_inherited(name, request.pass) && !refusal_of(name))
      variables.put(name, std::string(assignment));
  }
  for (const environment_variable& variable : request.extra) {
    if (const auto fault = detail::environment::fault_of(variable, request.place)) {
      if (refusal != nullptr) *refusal = {variable.name, fault->reason};
      return error{fault->code, 0, "environment"};
    }
    variables.put(variable.name, variable.name + "=" + variable.value);
  }
  return variables.take();
}

} // namespace paddock
