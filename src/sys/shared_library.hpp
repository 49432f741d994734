// SPDX-License-Identifier: MIT
#pragma once

// A library whose functions are looked up when one is first needed: a program that never needs it
// starts without it, and without the thirty others that libcurl brings. Only a header, so that who
// loads nothing has no dlopen, which a static program cannot use.

#include <dlfcn.h>

#include <atomic>
#include <mutex>

namespace paddock::sys {

// For lists of the form X(curl_, easy_init) X(curl_, free): members of a struct, and their values.
#define PADDOCK_FUNCTION_MEMBER(prefix, name) decltype(&::prefix##name) name = nullptr;
#define PADDOCK_FIND_FUNCTION(prefix, name) &&library.find(found.name, #prefix #name)
#define PADDOCK_LINK_FUNCTION(prefix, name) &::prefix##name,

/// Stays loaded until the process ends. Any thread.
class shared_library {
public:
  /// `name` is the one that the dynamic linker looks for, "libcurl.so.4".
  explicit shared_library(const char* name) noexcept : handle_(open(name)) {}

  /// Sets `to` to the function of that name. False: there is no such library, or it lacks the
  /// function.
  template <class Function>
  [[nodiscard]] bool find(Function*& to, const char* name) const noexcept {
    to = handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle_, name));
    return to != nullptr;
  }

private:
  /// By name: the linker warns of a static program that refers to dlopen, though it never comes
  /// here.
  static void* open(const char* name) noexcept {
    const auto load = reinterpret_cast<decltype(&::dlopen)>(::dlsym(RTLD_DEFAULT, "dlopen"));
    return load == nullptr ? nullptr : load(name, RTLD_NOW | RTLD_LOCAL);
  }

  void* handle_;
};

/// The functions of one library, found once. A library that is not there may be installed while
/// this process runs: then the next call finds it. Any thread.
template <class Functions> class loaded_functions {
public:
  /// `find` says whether all are there. Without one of them: a table whose `are_there` is false.
  const Functions& get(const char* name,
                       bool (*find)(const shared_library& library, Functions& found)) noexcept {
    if (is_found_.load(std::memory_order_acquire)) return functions_;
    const std::lock_guard lock(loading_);
    if (is_found_.load(std::memory_order_relaxed)) return functions_;
    Functions found;
    found.are_there = find(shared_library(name), found);
    if (!found.are_there) return none_;
    functions_ = found;
    is_found_.store(true, std::memory_order_release);
    return functions_;
  }

private:
  std::atomic<bool> is_found_{false};
  std::mutex loading_;
  Functions functions_;
  Functions none_;
};

} // namespace paddock::sys
