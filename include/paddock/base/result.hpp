// SPDX-License-Identifier: MIT
#pragma once

/// A value or a `paddock::error`. Member names follow std::expected, so that a later major version
/// can become an alias of it. Unlike std::expected the class is `[[nodiscard]]`: a result that is
/// not looked at is a compiler warning.
///
/// Reading the value of a failed result (or the error of a good one) is a bug and ends the program
/// through `Expects`. Thread-safety: as for any value, distinct objects are independent.

#include <paddock/base/error.hpp>

#include <gsl/assert>

#include <new>
#include <type_traits>
#include <utility>

namespace paddock {

/// A value of type T, or why there is none.
template <class T> class [[nodiscard]] result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<std::remove_cv_t<T>, paddock::error>);

public:
  using value_type = T;
  using error_type = paddock::error;

  result(T value) noexcept(std::is_nothrow_move_constructible_v<T>)
      : value_(std::move(value)), good_(true) {}
  result(paddock::error failure) noexcept : error_(failure), good_(false) {}

  result(const result& other)
    requires std::is_copy_constructible_v<T>
      : good_(other.good_) {
    construct(other);
  }
  result(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : good_(other.good_) {
    construct(std::move(other));
  }
  result& operator=(const result& other)
    requires std::is_copy_constructible_v<T>
  {
    if (this != &other) {
      destroy();
      good_ = other.good_;
      construct(other);
    }
    return *this;
  }
  result& operator=(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (this != &other) {
      destroy();
      good_ = other.good_;
      construct(std::move(other));
    }
    return *this;
  }
  ~result() { destroy(); }

  /// Whether there is a value; so says `bool` too.
  [[nodiscard]] bool has_value() const noexcept { return good_; }
  [[nodiscard]] explicit operator bool() const noexcept { return good_; }

  /// Precondition: has_value().
  [[nodiscard]] T& operator*() & { return checked(); }
  [[nodiscard]] const T& operator*() const& {
    Expects(good_);
    return value_;
  }
  [[nodiscard]] T&& operator*() && { return std::move(checked()); }
  [[nodiscard]] T* operator->() { return &checked(); }
  [[nodiscard]] const T* operator->() const {
    Expects(good_);
    return &value_;
  }

  /// Precondition: !has_value().
  [[nodiscard]] const paddock::error& error() const {
    Expects(!good_);
    return error_;
  }

  /// The value, or `fallback` made into one.
  template <class U> [[nodiscard]] T value_or(U&& fallback) && {
    return good_ ? std::move(value_) : static_cast<T>(std::forward<U>(fallback));
  }
  /// The value, or `fallback` made into one.
  template <class U> [[nodiscard]] T value_or(U&& fallback) const& {
    return good_ ? value_ : static_cast<T>(std::forward<U>(fallback));
  }

  /// Calls `f(value)`, which returns a result, or passes the error on.
  template <class F> [[nodiscard]] auto and_then(F&& f) && -> std::invoke_result_t<F, T> {
    if (good_) return std::forward<F>(f)(std::move(value_));
    return error_;
  }
  /// Calls `f(value)` and wraps what it returns, or passes the error on.
  template <class F>
  [[nodiscard]] auto
  transform(F&& f) && -> result<std::remove_cvref_t<std::invoke_result_t<F, T>>> {
    if (good_) return std::forward<F>(f)(std::move(value_));
    return error_;
  }

private:
  T& checked() {
    Expects(good_);
    return value_;
  }
  template <class Other> void construct(Other&& other) {
    if (good_)
      ::new (static_cast<void*>(&value_)) T(std::forward<Other>(other).value_);
    else
      ::new (static_cast<void*>(&error_)) paddock::error(other.error_);
  }
  void destroy() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>)
      if (good_) value_.~T();
  }

  union {
    T value_;
    paddock::error error_;
  };
  bool good_;
};

/// Success, or why there is none.
template <> class [[nodiscard]] result<void> {
public:
  using value_type = void;
  using error_type = paddock::error;

  constexpr result() noexcept = default;
  constexpr result(paddock::error failure) noexcept : error_(failure), good_(false) {}

  /// Whether it succeeded; so says `bool` too.
  [[nodiscard]] constexpr bool has_value() const noexcept { return good_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return good_; }
  /// Precondition: !has_value().
  [[nodiscard]] const paddock::error& error() const {
    Expects(!good_);
    return error_;
  }

private:
  paddock::error error_{};
  bool good_ = true;
};

} // namespace paddock
