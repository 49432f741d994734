// SPDX-License-Identifier: MIT

// paddock-mcp as a program that loads nothing.

#include "forget_code.hpp"

#include <netdb.h>

/// Without libraries the whole process is small enough, and to read the code again takes time.
void forget_code() {}

// The client names these, which this program is not: those of the C library would load files of its
// own version where the program runs.
extern "C" {

int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) {
  return EAI_FAIL;
}

void freeaddrinfo(addrinfo*) noexcept {}
}
