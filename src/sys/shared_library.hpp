// SPDX-License-Identifier: MIT
#pragma once

// A shared library that is loaded when it is first needed: a program that never needs it starts
// without it, and without the thirty others that libcurl brings. It stays loaded until the process
// ends. Any thread.

namespace paddock::sys {

class shared_library {
public:
  /// `name` is the one that the dynamic linker looks for, "libcurl.so.4".
  explicit shared_library(const char* name) noexcept;

  /// Sets `to` to the function of that name. False: there is no such library, or it lacks the
  /// function.
  template <class Function>
  [[nodiscard]] bool find(Function*& to, const char* name) const noexcept {
    to = reinterpret_cast<Function*>(address_of(name));
    return to != nullptr;
  }

private:
  [[nodiscard]] void* address_of(const char* name) const noexcept;

  void* handle_;
};

} // namespace paddock::sys
