// SPDX-License-Identifier: MIT
// A component is made by component::from, which checks it; text never becomes one by itself.
// expect: invalid initialization of reference|no matching function
#include <paddock/path/root.hpp>

void take(const paddock::component& name);

void f() {
#ifdef BAD
  take("../outside");
#else
  if (const auto name = paddock::component::from("inside")) take(*name);
#endif
}
