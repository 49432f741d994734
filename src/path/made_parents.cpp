// SPDX-License-Identifier: MIT
#include "path/made_parents.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>

namespace paddock {

void made_parents::enter(std::string_view path, maker by) {
  if (!deepest_.empty()) deepest_ += '/';
  deepest_ += path;
  count_ = by == maker::this_operation ? count_ + 1 : 0;
}

made_parents::~made_parents() {
  for (; count_ > 0; --count_) {
    const auto made =
        root_.locate(deepest_, final_link::keep, parents::require, purpose::make_directory);
    if (!made || !sys::unlinkat(made->parent.get(), made->name.c_str(), AT_REMOVEDIR)) return;
    const auto slash = deepest_.rfind('/');
    deepest_.resize(slash == std::string::npos ? 0 : slash);
  }
}

} // namespace paddock
