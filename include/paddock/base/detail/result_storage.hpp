// SPDX-License-Identifier: MIT
#pragma once

/// What `result` keeps: a value or an error, and which of the two. Never neither: where the copy of
/// an assignment throws, what was there stays. Trivially copyable where both are.

#include <paddock/base/error.hpp>

#include <cstdio>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace paddock::detail {

/// Ends the program with a line on stderr: the value of a failed result was read.
[[noreturn, gnu::cold]] inline void no_value(const error& why) noexcept {
  const std::string_view name = wire_name(why.code);
  const std::string_view said = text(why.code);
  std::fprintf(stderr,
               "paddock: read the value of a result that failed: %.*s, %.*s (\"%s\", errno %d)\n",
               static_cast<int>(name.size()), name.data(), static_cast<int>(said.size()),
               said.data(), why.operation, why.os_errno);
  std::terminate();
}

/// Ends the program with a line on stderr: the error of a good result was read.
[[noreturn, gnu::cold]] inline void no_error() noexcept {
  std::fputs("paddock: read the error of a result that succeeded\n", stderr);
  std::terminate();
}

/// The value of a `result<void>`.
struct nothing {};

struct as_value {};
struct as_error {};

/// Clang before 16 takes the first of several special members, whatever their constraints (P0848):
/// there no result is plain data.
#if defined(__clang__) && __clang_major__ < 16
#define PADDOCK_PLAIN_RESULTS 0
#else
#define PADDOCK_PLAIN_RESULTS 1
#endif

template <class T>
inline constexpr bool trivially_copied_v =
    std::is_trivially_copyable_v<T> && std::is_trivially_copy_constructible_v<T> &&
    std::is_trivially_copy_assignable_v<T> && std::is_trivially_destructible_v<T>;

template <class T, class E> class result_storage {
  static_assert(std::is_nothrow_move_constructible_v<E> && std::is_nothrow_move_assignable_v<E>,
                "an error must move without throwing: so a result is never left with nothing");
  static constexpr bool trivial =
      PADDOCK_PLAIN_RESULTS != 0 && trivially_copied_v<T> && trivially_copied_v<E>;
  static constexpr bool copyable =
      std::is_copy_constructible_v<T> && std::is_copy_constructible_v<E>;
  static constexpr bool assignable =
      copyable && std::is_copy_assignable_v<T> && std::is_copy_assignable_v<E>;
  static constexpr bool moves_quietly = std::is_nothrow_move_constructible_v<T>;

public:
  template <class... From>
  constexpr explicit result_storage(as_value, From&&... from)
      : value_(std::forward<From>(from)...), good_(true) {}
  template <class... From>
  constexpr explicit result_storage(as_error, From&&... from)
      : error_(std::forward<From>(from)...), good_(false) {}

  // Two of each: the compiler's own where that is trivial, so that a result of plain data is plain
  // data; ours otherwise.
#if PADDOCK_PLAIN_RESULTS
  constexpr result_storage(const result_storage&)
    requires trivial
  = default;
  constexpr result_storage(result_storage&&)
    requires trivial
  = default;
  constexpr result_storage& operator=(const result_storage&)
    requires trivial
  = default;
  constexpr result_storage& operator=(result_storage&&)
    requires trivial
  = default;
  constexpr ~result_storage()
    requires(std::is_trivially_destructible_v<T> && std::is_trivially_destructible_v<E>)
  = default;
#endif

  result_storage(const result_storage& other)
    requires(copyable && !trivial)
      : good_(other.good_) {
    construct(other);
  }
  result_storage(result_storage&& other) noexcept(moves_quietly)
    requires(!trivial)
      : good_(other.good_) {
    construct(std::move(other));
  }
  result_storage& operator=(const result_storage& other)
    requires(assignable && !trivial)
  {
    assign(other);
    return *this;
  }
  result_storage& operator=(result_storage&& other) noexcept(moves_quietly &&
                                                             std::is_nothrow_move_assignable_v<T>)
    requires(std::is_move_assignable_v<T> && !trivial)
  {
    assign(std::move(other));
    return *this;
  }
  constexpr ~result_storage() {
    if (good_)
      value_.~T();
    else
      error_.~E();
  }

protected:
  union {
    T value_;
    E error_;
  };
  bool good_;

private:
  /// Puts the error back unless a value took its place.
  struct restorer {
    result_storage* storage;
    E kept;
    ~restorer() {
      if (storage != nullptr) ::new (static_cast<void*>(&storage->error_)) E(std::move(kept));
    }
  };

  template <class Other> void construct(Other&& other) {
    if (good_)
      ::new (static_cast<void*>(&value_)) T(std::forward<Other>(other).value_);
    else
      ::new (static_cast<void*>(&error_)) E(std::forward<Other>(other).error_);
  }
  template <class Other> void assign(Other&& other) {
    if (good_ && other.good_)
      value_ = std::forward<Other>(other).value_;
    else if (good_)
      become_error(E(std::forward<Other>(other).error_));
    else if (other.good_)
      become_value(std::forward<Other>(other).value_);
    else
      error_ = std::forward<Other>(other).error_;
  }
  void become_error(E made) noexcept {
    value_.~T();
    ::new (static_cast<void*>(&error_)) E(std::move(made));
    good_ = false;
  }
  template <class From> void become_value(From&& from) {
    if constexpr (std::is_nothrow_constructible_v<T, From>) {
      error_.~E();
      ::new (static_cast<void*>(&value_)) T(std::forward<From>(from));
    } else if constexpr (moves_quietly) {
      T made(std::forward<From>(from));
      error_.~E();
      ::new (static_cast<void*>(&value_)) T(std::move(made));
    } else {
      restorer guard{this, std::move(error_)};
      error_.~E();
      ::new (static_cast<void*>(&value_)) T(std::forward<From>(from));
      guard.storage = nullptr;
    }
    good_ = true;
  }
};

} // namespace paddock::detail
