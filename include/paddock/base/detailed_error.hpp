// SPDX-License-Identifier: MIT
#pragma once

/// An error and a sentence about this one case, for operations whose code alone does not say
/// enough: which line of a configuration is wrong, what a program wrote before it ended.
///
/// Why not in `error` itself: reading, writing and listing fail often (a file that is not there yet
/// is an everyday answer), and their caller knows the path. They shall not pay for a string, or for
/// its destructor on the way of success. So the few that have more to say declare it: `result<T,
/// detailed_error>`.
///
/// Thread-safety: as for any value.

#include <paddock/base/error.hpp>

#include <string>
#include <utility>

namespace paddock {

struct detailed_error : error {
  /// Plain text for people: no control characters, no full stop at its end. May be empty.
  std::string detail;

  /// Every error is one without a detail.
  detailed_error(const error& reason) noexcept : error(reason) {}
  detailed_error(const error& reason, std::string text) noexcept
      : error(reason), detail(std::move(text)) {}
};

/// An error as a clause for people. Errors that know more have an overload of their own.
[[nodiscard]] inline std::string explain(const error& e) {
  return std::string(text(e.code));
}
/// The same, with its detail.
[[nodiscard]] inline std::string explain(const detailed_error& e) {
  return e.detail.empty() ? std::string(text(e.code)) : e.detail;
}

} // namespace paddock
