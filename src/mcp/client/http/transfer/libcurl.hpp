// SPDX-License-Identifier: MIT
#pragma once

// The functions of libcurl that are used, loaded when one is first needed (or linked, in a static
// program).

#include <curl/curl.h>

namespace paddock::mcp {

#define PADDOCK_LIBCURL_FUNCTIONS(X)                                                               \
  X(easy_cleanup)                                                                                  \
  X(easy_getinfo)                                                                                  \
  X(easy_init)                                                                                     \
  X(easy_reset)                                                                                    \
  X(easy_setopt)                                                                                   \
  X(easy_strerror)                                                                                 \
  X(free)                                                                                          \
  X(global_init)                                                                                   \
  X(multi_add_handle)                                                                              \
  X(multi_cleanup)                                                                                 \
  X(multi_info_read)                                                                               \
  X(multi_init)                                                                                    \
  X(multi_perform)                                                                                 \
  X(multi_poll)                                                                                    \
  X(multi_remove_handle)                                                                           \
  X(slist_append)                                                                                  \
  X(slist_free_all)                                                                                \
  X(url)                                                                                           \
  X(url_cleanup)                                                                                   \
  X(url_get)                                                                                       \
  X(url_set)                                                                                       \
  X(url_strerror)

struct libcurl_functions {
#define PADDOCK_LIBCURL_MEMBER(name) decltype(&::curl_##name) name = nullptr;
  PADDOCK_LIBCURL_FUNCTIONS(PADDOCK_LIBCURL_MEMBER)
#undef PADDOCK_LIBCURL_MEMBER
  bool are_there = false; ///< false: none of them may be called
};
/// The same at each call.
[[nodiscard]] const libcurl_functions& libcurl() noexcept;

} // namespace paddock::mcp
