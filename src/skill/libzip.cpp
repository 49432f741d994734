// SPDX-License-Identifier: MIT
#include "skill/libzip.hpp"

namespace paddock {

const libzip_functions& libzip() noexcept {
#ifdef PADDOCK_LIBZIP_LIBRARY
  static sys::loaded_functions<libzip_functions> functions;
  return functions.get(PADDOCK_LIBZIP_LIBRARY, [](const auto& library, libzip_functions& found) {
    return true PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_FIND_FUNCTION);
  });
#else
  static constexpr libzip_functions functions{PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_LINK_FUNCTION) true};
  return functions;
#endif
}

} // namespace paddock
