// SPDX-License-Identifier: MIT
#pragma once

// The functions of libzip that are used, loaded when one is first needed (or linked, in a static
// program).

#include <zip.h>

namespace paddock {

#define PADDOCK_LIBZIP_FUNCTIONS(X)                                                                \
  X(discard)                                                                                       \
  X(error_code_zip)                                                                                \
  X(error_fini)                                                                                    \
  X(error_init)                                                                                    \
  X(fclose)                                                                                        \
  X(file_get_error)                                                                                \
  X(file_get_external_attributes)                                                                  \
  X(fopen_index)                                                                                   \
  X(fread)                                                                                         \
  X(get_error)                                                                                     \
  X(get_name)                                                                                      \
  X(get_num_entries)                                                                               \
  X(open_from_source)                                                                              \
  X(source_buffer_create)                                                                          \
  X(source_free)                                                                                   \
  X(stat_index)                                                                                    \
  X(stat_init)

struct libzip_functions {
#define PADDOCK_LIBZIP_MEMBER(name) decltype(&::zip_##name) name = nullptr;
  PADDOCK_LIBZIP_FUNCTIONS(PADDOCK_LIBZIP_MEMBER)
#undef PADDOCK_LIBZIP_MEMBER
  bool are_there = false; ///< false: none of them may be called
};
/// The same at each call.
[[nodiscard]] const libzip_functions& libzip() noexcept;

} // namespace paddock
