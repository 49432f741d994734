// SPDX-License-Identifier: MIT
#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace paddock {

/// Makes `out` run `f`; false when the system has no thread left. This meets an exception of the
/// standard library, because std::thread has no other way to say so.
template <class F> [[nodiscard]] bool start_thread(std::thread& out, F&& f) {
  try {
    out = std::thread(std::forward<F>(f));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

} // namespace paddock
