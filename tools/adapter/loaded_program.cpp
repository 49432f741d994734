// SPDX-License-Identifier: MIT

// paddock-mcp as a program that is loaded with its libraries.

#include "forget_code.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>

namespace {

/// Of its libraries most is needed again.
int forget_first(dl_phdr_info* loaded, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const auto& part : std::span(loaded->dlpi_phdr, loaded->dlpi_phnum)) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (loaded->dlpi_addr + part.p_vaddr) & ~(page - 1);
    const std::uintptr_t end = loaded->dlpi_addr + part.p_vaddr + part.p_memsz;
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 1; // it is the first; no more
}

} // namespace

void forget_code() {
  dl_iterate_phdr(forget_first, nullptr);
}
