// SPDX-License-Identifier: MIT
#pragma once

// The functions of libzip that are used, loaded when one is first needed (or linked, in a static
// program).

#include "sys/shared_library.hpp"

#include <zip.h>

namespace paddock {

#define PADDOCK_LIBZIP_FUNCTIONS(X)                                                                \
  X(zip_, discard)                                                                                 \
  X(zip_, error_code_zip)                                                                          \
  X(zip_, error_fini)                                                                              \
  X(zip_, error_init)                                                                              \
  X(zip_, fclose)                                                                                  \
  X(zip_, file_get_error)                                                                          \
  X(zip_, file_get_external_attributes)                                                            \
  X(zip_, fopen_index)                                                                             \
  X(zip_, fread)                                                                                   \
  X(zip_, get_error)                                                                               \
  X(zip_, get_name)                                                                                \
  X(zip_, get_num_entries)                                                                         \
  X(zip_, open_from_source)                                                                        \
  X(zip_, source_buffer_create)                                                                    \
  X(zip_, source_free)                                                                             \
  X(zip_, stat_index)                                                                              \
  X(zip_, stat_init)

struct libzip_functions {
  PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_FUNCTION_MEMBER)
  bool are_there = false; ///< false: none of them may be called
};
/// The same at each call, once they are there.
[[nodiscard]] const libzip_functions& libzip() noexcept;

} // namespace paddock
