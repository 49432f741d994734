// SPDX-License-Identifier: MIT
#include "skill/libzip.hpp"

#include "sys/shared_library.hpp"

namespace paddock {
namespace {

libzip_functions load_libzip() noexcept {
  libzip_functions found;
#ifdef PADDOCK_LIBZIP_LIBRARY
  const sys::shared_library library(PADDOCK_LIBZIP_LIBRARY);
#define PADDOCK_LIBZIP_FIND(name) &&library.find(found.name, "zip_" #name)
  found.are_there = true PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_LIBZIP_FIND);
#undef PADDOCK_LIBZIP_FIND
#else
#define PADDOCK_LIBZIP_LINK(name) found.name = &::zip_##name;
  PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_LIBZIP_LINK)
#undef PADDOCK_LIBZIP_LINK
  found.are_there = true;
#endif
  return found;
}

} // namespace

const libzip_functions& libzip() noexcept {
  static const libzip_functions functions = load_libzip();
  return functions;
}

} // namespace paddock
