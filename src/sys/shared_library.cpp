// SPDX-License-Identifier: MIT
#include "sys/shared_library.hpp"

#include <dlfcn.h>

namespace paddock::sys {

shared_library::shared_library(const char* name) noexcept
    : handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}

void* shared_library::address_of(const char* name) const noexcept {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

} // namespace paddock::sys
