// SPDX-License-Identifier: MIT
#include "mcp/client/http/transfer/libcurl.hpp"

#include "sys/shared_library.hpp"

namespace paddock::mcp {
namespace {

libcurl_functions load_libcurl() noexcept {
  libcurl_functions found;
#ifdef PADDOCK_LIBCURL_LIBRARY
  const sys::shared_library library(PADDOCK_LIBCURL_LIBRARY);
#define PADDOCK_LIBCURL_FIND(name) &&library.find(found.name, "curl_" #name)
  found.are_there = true PADDOCK_LIBCURL_FUNCTIONS(PADDOCK_LIBCURL_FIND);
#undef PADDOCK_LIBCURL_FIND
#else
#define PADDOCK_LIBCURL_LINK(name) found.name = &::curl_##name;
  PADDOCK_LIBCURL_FUNCTIONS(PADDOCK_LIBCURL_LINK)
#undef PADDOCK_LIBCURL_LINK
  found.are_there = true;
#endif
  return found;
}

} // namespace

const libcurl_functions& libcurl() noexcept {
  static const libcurl_functions functions = load_libcurl();
  return functions;
}

} // namespace paddock::mcp
