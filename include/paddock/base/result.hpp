// SPDX-License-Identifier: MIT
#pragma once

/// A value, or the error that says why there is none. Names and meaning are those of std::expected,
/// so that a later major version can become an alias of it. Two things are stricter: a result that
/// nobody looks at is a compiler warning, and misuse is never undefined behaviour. Reading the
/// value of a failed result, or the error of a good one, is a bug: one line on stderr says what was
/// read and which error there was, and the program ends through std::terminate.
///
/// Most operations fail with `paddock::error`, which is 16 bytes and is copied freely. Where one
/// case has more to say than its code, the error type is another one that derives from `error`:
/// `result<T, detailed_error>`. Such a result is made from a plain error too, but not the other way
/// about: a detail is never lost without a cast that says so.
///
/// A result is never empty: an assignment whose copy throws leaves it as it was, or, where the
/// value's own assignment threw, with what that left. Copies of a type that is not trivial are not
/// constexpr: std::construct_at is in a header (memory) that would cost every user twice as many
/// lines.
///
/// Thread-safety: as for any value, distinct objects are independent.

#include <paddock/base/detail/result_storage.hpp>
#include <paddock/base/error.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace paddock {

template <class T, class E = error> class result;

namespace detail {

template <class> inline constexpr bool is_result_v = false;
template <class T, class E> inline constexpr bool is_result_v<result<T, E>> = true;

/// Whether an error of type From may become one of type To: not if a detail would be lost.
template <class From, class To>
concept keeps_detail = std::derived_from<From, error> && std::convertible_to<From, To> &&
                       (std::same_as<From, To> || !std::derived_from<From, To>);

/// What `f(value)` returns, or `f()` for a result<void>.
template <class F, class Value> constexpr decltype(auto) call(F&& f, Value&& value) {
  if constexpr (std::is_same_v<std::remove_cvref_t<Value>, nothing>)
    return std::forward<F>(f)();
  else
    return std::forward<F>(f)(std::forward<Value>(value));
}

} // namespace detail

/// A value of type T (void: nothing but success), or an error of type E.
template <class T, class E>
class [[nodiscard]] result
    : private detail::result_storage<std::conditional_t<std::is_void_v<T>, detail::nothing, T>, E> {
  static_assert(!std::is_reference_v<T> && !detail::is_result_v<std::remove_cv_t<T>> &&
                !std::derived_from<std::remove_cv_t<T>, paddock::error>);
  static_assert(std::derived_from<E, paddock::error>);
  using held = std::conditional_t<std::is_void_v<T>, detail::nothing, T>;
  using storage = detail::result_storage<held, E>;
  template <class, class> friend class result;

public:
  using value_type = T;
  using error_type = E;

  constexpr result()
    requires std::is_void_v<T>
      : storage(detail::as_value{}) {}
  constexpr result(held value) noexcept(std::is_nothrow_move_constructible_v<held>)
    requires(!std::is_void_v<T>)
      : storage(detail::as_value{}, std::move(value)) {}
  constexpr result(E failure) noexcept : storage(detail::as_error{}, std::move(failure)) {}
  /// From another kind of error, which E is made from.
  template <class G>
    requires(!std::same_as<std::remove_cvref_t<G>, E> &&
             detail::keeps_detail<std::remove_cvref_t<G>, E>)
  constexpr result(G&& failure) : storage(detail::as_error{}, std::forward<G>(failure)) {}
  /// An E has a place for less than G says: cast to the E that is left, where that is meant.
  template <class G>
    requires(!std::same_as<std::remove_cvref_t<G>, E> &&
             std::derived_from<std::remove_cvref_t<G>, E>)
  result(G&& failure) = delete;
  /// From a result of another type, where value and error become ours by themselves.
  template <class U, class G>
    requires(std::is_convertible_v<U, T> && detail::keeps_detail<G, E> &&
             !std::same_as<result<U, G>, result>)
  constexpr result(result<U, G> other)
      : storage(other.good_ ? storage(detail::as_value{}, std::move(other).value_)
                            : storage(detail::as_error{}, std::move(other).error_)) {}

  /// Whether there is a value; so says `bool` too.
  [[nodiscard]] constexpr bool has_value() const noexcept { return this->good_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return this->good_; }

  /// The value. Precondition: has_value(); so it is of `*` and `->`.
  constexpr std::add_lvalue_reference_t<T> value() & { return get(*this); }
  /// @overload
  constexpr std::add_lvalue_reference_t<const T> value() const& { return get(*this); }
  /// @overload
  constexpr std::add_rvalue_reference_t<T> value() && { return get(std::move(*this)); }
  constexpr std::add_lvalue_reference_t<T> operator*() & { return get(*this); }
  constexpr std::add_lvalue_reference_t<const T> operator*() const& { return get(*this); }
  constexpr std::add_rvalue_reference_t<T> operator*() && { return get(std::move(*this)); }
  [[nodiscard]] constexpr std::add_pointer_t<T> operator->()
    requires(!std::is_void_v<T>)
  {
    return &get(*this);
  }
  [[nodiscard]] constexpr std::add_pointer_t<const T> operator->() const
    requires(!std::is_void_v<T>)
  {
    return &get(*this);
  }

  /// The error. Precondition: !has_value().
  [[nodiscard]] constexpr E& error() & { return get_error(*this); }
  /// @overload
  [[nodiscard]] constexpr const E& error() const& { return get_error(*this); }
  /// @overload
  [[nodiscard]] constexpr E&& error() && { return get_error(std::move(*this)); }

  /// The value, or `fallback` made into one.
  template <class U>
    requires(!std::is_void_v<T>)
  [[nodiscard]] constexpr T value_or(U&& fallback) const& {
    return this->good_ ? this->value_ : static_cast<T>(std::forward<U>(fallback));
  }
  /// @overload
  template <class U>
    requires(!std::is_void_v<T>)
  [[nodiscard]] constexpr T value_or(U&& fallback) && {
    return this->good_ ? std::move(this->value_) : static_cast<T>(std::forward<U>(fallback));
  }

  /// What `f(value)` returns, which is a result; or the error.
  template <class F> constexpr auto and_then(F&& f) & { return chain(*this, std::forward<F>(f)); }
  /// @overload
  template <class F> constexpr auto and_then(F&& f) const& {
    return chain(*this, std::forward<F>(f));
  }
  /// @overload
  template <class F> constexpr auto and_then(F&& f) && {
    return chain(std::move(*this), std::forward<F>(f));
  }

private:
  template <class Self> static constexpr decltype(auto) get(Self&& self) {
    if (!self.good_) detail::no_value(self.error_);
    if constexpr (!std::is_void_v<T>) return (std::forward<Self>(self).value_);
  }
  template <class Self> static constexpr decltype(auto) get_error(Self&& self) {
    if (self.good_) detail::no_error();
    return (std::forward<Self>(self).error_);
  }

  template <class Self, class F> static constexpr auto chain(Self&& self, F&& f) {
    using next =
        std::remove_cvref_t<decltype(detail::call(std::declval<F>(), std::declval<Self>().value_))>;
    static_assert(detail::is_result_v<next>);
    if (self.good_) return detail::call(std::forward<F>(f), std::forward<Self>(self).value_);
    return next(std::forward<Self>(self).error_);
  }
};

} // namespace paddock
