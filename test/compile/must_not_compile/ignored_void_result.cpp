// SPDX-License-Identifier: MIT
// Also when there is no value in it.
// expect: nodiscard|unused-result
#include <paddock/base/result.hpp>

paddock::result<void> act();

void f() {
#ifdef BAD
  act();
#else
  if (!act()) return;
#endif
}
