// SPDX-License-Identifier: MIT
#pragma once

/// The language guard and the two macros the rest of the toolkit is written with.
///
/// `PADDOCK_TRY(declaration, expression)` unwraps a `result` or returns its error from the
/// enclosing function; `PADDOCK_CHECK(expression)` does the same for a `result<void>`. They are
/// statements, not expressions, so that they stay standard C++.

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "Paddock needs C++20: compile with -std=c++20 or later"
#endif
#if !defined(__linux__)
#error "Paddock runs on Linux only"
#endif

#define PADDOCK_CONCAT_(a, b) a##b
#define PADDOCK_CONCAT(a, b) PADDOCK_CONCAT_(a, b)

#define PADDOCK_TRY_(temporary, declaration, ...)                                                  \
  auto temporary = (__VA_ARGS__);                                                                  \
  if (!temporary) return std::move(temporary).error();                                             \
  declaration = *std::move(temporary)
#define PADDOCK_TRY(declaration, ...)                                                              \
  PADDOCK_TRY_(PADDOCK_CONCAT(paddock_try_, __LINE__), declaration, __VA_ARGS__)

#define PADDOCK_CHECK_(temporary, ...)                                                             \
  if (auto temporary = (__VA_ARGS__); !temporary) return std::move(temporary).error()
#define PADDOCK_CHECK(...) PADDOCK_CHECK_(PADDOCK_CONCAT(paddock_check_, __LINE__), __VA_ARGS__)
