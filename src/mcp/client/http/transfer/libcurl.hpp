// SPDX-License-Identifier: MIT
#pragma once

// The functions of libcurl that are used, loaded when one is first needed (or linked, in a static
// program).

#include "sys/shared_library.hpp"

#include <curl/curl.h>

namespace paddock::mcp {

#define PADDOCK_LIBCURL_FUNCTIONS(X)                                                               \
  X(curl_, easy_cleanup)                                                                           \
  X(curl_, easy_getinfo)                                                                           \
  X(curl_, easy_init)                                                                              \
  X(curl_, easy_reset)                                                                             \
  X(curl_, easy_setopt)                                                                            \
  X(curl_, easy_strerror)                                                                          \
  X(curl_, free)                                                                                   \
  X(curl_, global_init)                                                                            \
  X(curl_, multi_add_handle)                                                                       \
  X(curl_, multi_cleanup)                                                                          \
  X(curl_, multi_info_read)                                                                        \
  X(curl_, multi_init)                                                                             \
  X(curl_, multi_perform)                                                                          \
  X(curl_, multi_poll)                                                                             \
  X(curl_, multi_remove_handle)                                                                    \
  X(curl_, slist_append)                                                                           \
  X(curl_, slist_free_all)                                                                         \
  X(curl_, url)                                                                                    \
  X(curl_, url_cleanup)                                                                            \
  X(curl_, url_get)                                                                                \
  X(curl_, url_set)                                                                                \
  X(curl_, url_strerror)

struct libcurl_functions {
  PADDOCK_LIBCURL_FUNCTIONS(PADDOCK_FUNCTION_MEMBER)
  bool are_there = false; ///< false: none of them may be called
};
/// The same at each call, once they are there.
[[nodiscard]] const libcurl_functions& libcurl() noexcept;

} // namespace paddock::mcp
