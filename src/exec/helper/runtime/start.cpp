// SPDX-License-Identifier: MIT

// Where the helper starts. It does without the start-up code of the C library, which asks the
// processor some eighty times what it is (CPUID): in a virtual machine each question goes through
// the hypervisor, and all of them together take longer than everything else that the helper does
// before it starts the command.

#include "exec/helper/policy/helper.hpp"
#include "exec/helper/runtime/system_call.hpp"

#include <elf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif

char** environ;

namespace {

int last_error;

#if defined(__x86_64__)
/// What the code of the compiler expects at the thread pointer: its own address, and the value that
/// guards the stack at 0x28.
struct thread_block {
  thread_block* self;
  unsigned long unused[4];
  unsigned long guard;
};
thread_block only_thread;
#endif

} // namespace

#if defined(__aarch64__)
extern "C" unsigned long __stack_chk_guard;
unsigned long __stack_chk_guard;
#endif

namespace {

const Elf64_auxv_t* find(const Elf64_auxv_t* entry, unsigned long type) {
  while (entry->a_type != AT_NULL && entry->a_type != type)
    ++entry;
  return entry;
}

/// Programs that are linked statically move nothing, so there is nothing to relocate here.
__attribute__((no_stack_protector)) void guard_stack(unsigned long random) {
  const unsigned long guard = random & ~0xffUL; // a NUL byte ends strings that run into it
#if defined(__x86_64__)
  only_thread = {&only_thread, {}, guard};
  paddock::exec::call_kernel(SYS_arch_prctl, ARCH_SET_FS, paddock::exec::argument(&only_thread));
#else
  __stack_chk_guard = guard;
#endif
}

} // namespace

extern "C" {

/// `stack`: the number of arguments, the arguments, null, the environment, null, the auxiliary
/// vector.
[[noreturn]] __attribute__((no_stack_protector, used)) void paddock_start(long* stack) {
  const int count = static_cast<int>(stack[0]);
  char** arguments = reinterpret_cast<char**>(stack + 1);
  environ = arguments + count + 1;
  char** end = environ;
  while (*end != nullptr)
    ++end;
  unsigned long random = 0;
  const Elf64_auxv_t* seed = find(reinterpret_cast<const Elf64_auxv_t*>(end + 1), AT_RANDOM);
  if (seed->a_type == AT_RANDOM) random = *reinterpret_cast<const unsigned long*>(seed->a_un.a_val);
  guard_stack(random);
  _exit(paddock::exec::run_helper(count, arguments));
}

int* __errno_location() noexcept {
  return &last_error;
}

[[noreturn]] void __stack_chk_fail();
[[noreturn]] void __stack_chk_fail() {
  __builtin_trap();
}

} // extern "C"

#if defined(__x86_64__)
asm(".text\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  xorl %ebp, %ebp\n" // the outermost frame
    "  movq %rsp, %rdi\n"
    "  andq $-16, %rsp\n"
    "  call paddock_start\n"
    "  ud2\n"
    ".size _start, .-_start\n");
#elif defined(__aarch64__)
asm(".text\n"
    ".globl _start\n"
    ".type _start, %function\n"
    "_start:\n"
    "  mov x29, #0\n" // the outermost frame
    "  mov x30, #0\n"
    "  mov x0, sp\n"
    "  bl paddock_start\n"
    "  brk #0\n"
    ".size _start, .-_start\n");
#endif
