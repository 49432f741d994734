// SPDX-License-Identifier: MIT
#pragma once

/// The environment of a command: a documented minimum of what this process has, what the operator adds, then what the
/// caller asks for.
///
/// Variables that make a loader, a shell, an interpreter or a common tool run other code than the one that was named
/// are refused by name: an error when the caller sets one, left out silently when it would be inherited. The
/// table below is the only list. It cannot be complete, because any program may invent such a variable; it is a
/// fence against surprise, and confinement is the wall.
///
/// PATH, HOME, SHELL and EDITOR may be set: they choose among programs that the caller could name in argv
/// anyway. An entry of PATH that is not absolute is refused, because it would plant programs by working directory.
///
/// Thread-safety: pure functions.

#include <paddock/result.hpp>

#include <cstdint>
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
  std::string_view reason; ///< static text, the middle of a sentence
};

struct environment_request {
  std::span<const char* const> inherited;      ///< "NAME=value" of this process, as in `environ`
  std::span<const std::string> pass;           ///< names the operator adds to `inherited_by_default`
  std::span<const environment_variable> extra; ///< the caller's; override inherited ones, the last one counts
};

/// Builds command::environment. Order: inherited ones in their order, then new ones in the caller's order; each name once.
/// Errors: invalid_argument (a name that is not [A-Za-z_][A-Za-z0-9_]*, a NUL in a value, a relative entry in PATH),
/// denied_by_policy (see `refusal_of`). `refusal`, when given, is filled in on error.
[[nodiscard]] result<std::vector<std::string>>
build_environment(const environment_request& request, environment_refusal* refusal = nullptr);

/// Why a command may not be given this variable, or nothing.
[[nodiscard]] constexpr std::optional<std::string_view> refusal_of(std::string_view name) noexcept;

} // namespace paddock
