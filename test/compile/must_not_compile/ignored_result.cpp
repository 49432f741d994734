// SPDX-License-Identifier: MIT
// A result that nobody looks at is a warning, and warnings are errors in our builds.
// expect: nodiscard|unused-result
#include <paddock/base/result.hpp>

paddock::result<int> answer();

void f() {
#ifdef BAD
  answer();
#else
  (void)answer();
#endif
}
