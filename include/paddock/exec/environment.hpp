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
#include <map>
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

struct refused_variables_row {
  std::string_view patterns; ///< as in inherited_by_default, between single spaces
  std::string_view reason;
};

inline constexpr refused_variables_row refused_variables[] = {
    {"LD_* DYLD_*", "changes which libraries the dynamic loader puts into a program"},
    {"GLIBC_TUNABLES MALLOC_*", "changes the C library underneath a program"},
    {"GCONV_PATH GETCONF_DIR LOCPATH NLSPATH",
     "makes the C library load code or data from another place"},
    {"OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES", "makes OpenSSL load code from another place"},

    {"BASH_ENV ENV ZDOTDIR", "makes a shell run a file before its script"},
    {"FPATH BASH_FUNC_* BASH_LOADABLES_PATH",
     "makes a shell run other functions or code for a command"},
    {"PS4 PROMPT_COMMAND", "is run by a shell"},
    {"SHELLOPTS BASHOPTS IFS", "changes how a shell reads its script"},

    {"NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE", "makes node load other code"},
    {"npm_config_node_options NPM_CONFIG_NODE_OPTIONS npm_config_script_shell "
     "NPM_CONFIG_SCRIPT_SHELL",
     "makes npm run other code or another program"},
    {"PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONPLATLIBDIR PYTHONPYCACHEPREFIX PYTHONEXECUTABLE",
     "makes python load modules from another place"},
    {"PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS", "makes python run other code"},
    {"PERL5OPT PERL5DB PERL5LIB PERLLIB", "makes perl load other code"},
    {"RUBYOPT RUBYLIB RUBYSHELL", "makes ruby load other code or run another program"},
    {"JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH", "makes java load other code"},
    {"DOTNET_STARTUP_HOOKS CORECLR_*", "makes dotnet load other code first"},
    {"LUA_INIT* LUA_PATH* LUA_CPATH*", "makes lua load other code"},
    {"R_PROFILE* R_ENVIRON*", "makes R read a file first"},
    {"PHPRC PHP_INI_SCAN_DIR", "makes php load other code first"},

    {"GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS",
     "is a program that git or ssh runs"},
    {"GIT_PAGER", "is a shell command that git runs; use git --no-pager or PAGER"},
    {"GIT_EDITOR GIT_SEQUENCE_EDITOR", "is a shell command that git runs; use EDITOR"},
    {"GIT_EXEC_PATH GIT_TEMPLATE_DIR",
     "makes git run its parts or install hooks from another place"},
    {"GIT_CONFIG*", "can make git run any command; use git -c"},
    {"HGRCPATH RSYNC_RSH CVS_RSH SVN_SSH TAR_OPTIONS LESSOPEN LESSCLOSE",
     "can make the tool that reads it run any command"},
    {"MAKEFILES VIMINIT EXINIT", "makes the tool that reads it obey other files or commands first"},
    {"RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER", "makes cargo run another compiler"},
};

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

/// Variables in the order of their first assignment, each with its last.
class variable_list {
public:
  void put(std::string_view name, std::string assignment) {
    const auto [place, is_new] = places_.try_emplace(std::string(name), all_.size());
    if (is_new)
      all_.push_back(std::move(assignment));
    else
      all_[place->second] = std::move(assignment);
  }
  std::vector<std::string> take() { return std::move(all_); }

private:
  std::vector<std::string> all_;
  std::map<std::string, std::size_t> places_;
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
  for (const refused_variables_row& row : refused_variables)
    for (std::string_view rest = row.patterns; !rest.empty();) {
      const std::string_view pattern = rest.substr(0, rest.find(' '));
      if (detail::environment::matches(pattern, name)) return row.reason;
      rest.remove_prefix(pattern.size() + (pattern.size() < rest.size() ? 1 : 0));
    }
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
