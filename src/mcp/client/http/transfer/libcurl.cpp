// SPDX-License-Identifier: MIT
#include "mcp/client/http/transfer/libcurl.hpp"

namespace paddock::mcp {

const libcurl_functions& libcurl() noexcept {
#ifdef PADDOCK_LIBCURL_LIBRARY
  static sys::loaded_functions<libcurl_functions> functions;
  return functions.get(PADDOCK_LIBCURL_LIBRARY, [](const auto& library, libcurl_functions& found) {
    return true PADDOCK_LIBCURL_FUNCTIONS(PADDOCK_FIND_FUNCTION);
  });
#else
  static constexpr libcurl_functions functions{
      PADDOCK_LIBCURL_FUNCTIONS(PADDOCK_LINK_FUNCTION) true};
  return functions;
#endif
}

} // namespace paddock::mcp
