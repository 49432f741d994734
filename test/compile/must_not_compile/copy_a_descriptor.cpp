// SPDX-License-Identifier: MIT
// A descriptor has one owner.
// expect: deleted
#include <paddock/base/file_descriptor.hpp>

#include <utility>

paddock::file_descriptor take(paddock::file_descriptor& from) {
#ifdef BAD
  return from;
#else
  return std::move(from);
#endif
}
