// SPDX-License-Identifier: MIT
#pragma once

// What the processor can do.

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

namespace paddock::sys {

/// Whether the processor has AVX2 and the system keeps its registers. With __builtin_cpu_supports
/// each program asks the processor twelve times as it starts, which takes a virtual machine 0.1 ms.
__attribute__((target("xsave"))) inline bool has_avx2() noexcept {
  constexpr unsigned kept = 6;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  if ((_xgetbv(0) & kept) != kept) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0;
}

} // namespace paddock::sys

#endif
