// SPDX-License-Identifier: MIT
#pragma once

// The system call instruction, for the runtime of the helper.

#include <cerrno>

namespace paddock::exec {

/// As the kernel answers: minus the errno when it fails.
inline long call_kernel(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) {
#if defined(__x86_64__)
  long result;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long which asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  register long sixth asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(first)
               : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory");
  return first;
#else
#error "the system call instruction of this architecture is not known"
#endif
}

template <class Type> long argument(Type* pointer) {
  return reinterpret_cast<long>(pointer);
}

/// As the C library answers: -1 and errno.
inline long answer(long from_kernel) {
  if (from_kernel >= 0 || from_kernel < -4095) return from_kernel;
  errno = static_cast<int>(-from_kernel);
  return -1;
}

} // namespace paddock::exec
