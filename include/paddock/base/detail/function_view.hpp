// SPDX-License-Identifier: MIT
#pragma once

// A function that somebody else holds, for parameters that are called until an operation returns:
// two words, where std::function would cost every user of a header what <functional> has.
// Thread-safety: that of the function.

#include <concepts>
#include <type_traits>

namespace paddock::detail {

template <class> class function_view;

template <class R, class... Arguments> class function_view<R(Arguments...)> {
public:
  constexpr function_view() noexcept = default; ///< none
  /// `f` has to outlive this.
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, function_view> &&
             std::is_invocable_r_v<R, F&, Arguments...>)
  constexpr function_view(F&& f) noexcept
      : held_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* held, Arguments... arguments) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(held))(arguments...);
        }) {}

  constexpr explicit operator bool() const noexcept { return call_ != nullptr; }
  /// Precondition: there is one.
  R operator()(Arguments... arguments) const { return call_(held_, arguments...); }

private:
  void* held_ = nullptr;
  R (*call_)(void*, Arguments...) = nullptr;
};

} // namespace paddock::detail
