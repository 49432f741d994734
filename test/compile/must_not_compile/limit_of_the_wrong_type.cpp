// SPDX-License-Identifier: MIT
// A negative limit is refused instead of becoming a huge one.
// expect: narrowing
#include <paddock/base/limits.hpp>

#ifdef BAD
constexpr paddock::limits bounds{.write_characters_max = -1};
#else
constexpr paddock::limits bounds{.write_characters_max = 1};
#endif
static_assert(bounds.write_characters_max == 1);
