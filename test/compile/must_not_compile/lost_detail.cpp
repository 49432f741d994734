// SPDX-License-Identifier: MIT
// An error with a detail does not become one without by accident.
// expect: deleted function|call to deleted constructor
#include <paddock/base/detailed_error.hpp>
#include <paddock/base/result.hpp>

paddock::result<int, paddock::detailed_error> ask();

paddock::result<int> f() {
  auto answer = ask();
  if (answer) return *answer;
#ifdef BAD
  return answer.error();
#else
  return static_cast<const paddock::error&>(answer.error());
#endif
}
