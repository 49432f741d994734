// SPDX-License-Identifier: MIT
#pragma once

// Where functions of the library's user are called. They should not throw; if one does, what it
// was called for fails, and nothing else.

#include <exception>
#include <optional>
#include <string>
#include <type_traits>

namespace paddock::mcp {

/// What `f` returns (true when that is void); nothing when it threw, and then `why` is what it
/// threw, for logs.
template <class F> [[nodiscard]] auto guarded(const F& f, std::string& why) {
  constexpr bool is_void = std::is_void_v<decltype(f())>;
  using value = std::conditional_t<is_void, std::optional<bool>, std::optional<decltype(f())>>;
  try {
    if constexpr (is_void) {
      f();
      return value(true);
    } else {
      return value(f());
    }
  } catch (const std::exception& thrown) {
    why = thrown.what();
  } catch (...) {
    why = "an exception that is no std::exception";
  }
  return value();
}

/// The same where nobody can be told.
template <class F> void guarded(const F& f) {
  std::string unheard;
  (void)guarded([&] { f(); }, unheard);
}

} // namespace paddock::mcp
