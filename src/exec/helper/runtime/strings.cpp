// SPDX-License-Identifier: MIT

// The functions of <cstring> and <cstdlib> that the helper, or the code that the compiler makes of
// it, uses. Short ones: it handles paths and a few hundred bytes.

// When it optimises, <cstring> has bodies for some of them, which clang takes for a second
// definition.
#undef __OPTIMIZE__

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

// The compiler must not find out that these loops are what they are.
#if defined(__clang__)
#define PADDOCK_AS_WRITTEN __attribute__((no_builtin))
#else
#define PADDOCK_AS_WRITTEN __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

namespace {

/// Memory that is never given back: the program does not live long.
void* keep(std::size_t size) {
  constexpr std::size_t block = 64UL * 1024;
  static char* free_bytes;
  static std::size_t left;
  size = (size + 15) & ~std::size_t{15};
  if (size > left) {
    const std::size_t wanted = size > block ? size : block;
    void* fresh =
        ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return nullptr;
    free_bytes = static_cast<char*>(fresh);
    left = wanted;
  }
  char* kept = free_bytes;
  free_bytes += size;
  left -= size;
  return kept;
}

/// The entry "NAME=…", or the end of the list.
char** find_variable(const char* name, std::size_t size) {
  char** entry = environ;
  while (*entry != nullptr && (std::strncmp(*entry, name, size) != 0 || (*entry)[size] != '='))
    ++entry;
  return entry;
}

} // namespace

extern "C" {

PADDOCK_AS_WRITTEN void* memcpy(void* __restrict to, const void* __restrict from,
                                std::size_t size) noexcept {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  while (size-- > 0)
    *out++ = *in++;
  return to;
}
PADDOCK_AS_WRITTEN void* memmove(void* to, const void* from, std::size_t size) noexcept {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  if (reinterpret_cast<std::uintptr_t>(out) <= reinterpret_cast<std::uintptr_t>(in))
    for (std::size_t i = 0; i < size; ++i)
      out[i] = in[i];
  else
    while (size-- > 0)
      out[size] = in[size];
  return to;
}
PADDOCK_AS_WRITTEN void* memset(void* to, int value, std::size_t size) noexcept {
  auto* out = static_cast<unsigned char*>(to);
  while (size-- > 0)
    *out++ = static_cast<unsigned char>(value);
  return to;
}
PADDOCK_AS_WRITTEN int memcmp(const void* a, const void* b, std::size_t size) noexcept {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < size; ++i)
    if (left[i] != right[i]) return left[i] - right[i];
  return 0;
}
/// What clang makes of a memcmp that only tells equal from different.
PADDOCK_AS_WRITTEN int bcmp(const void* a, const void* b, std::size_t size) noexcept {
  return std::memcmp(a, b, size);
}
PADDOCK_AS_WRITTEN std::size_t strlen(const char* text) noexcept {
  std::size_t size = 0;
  while (text[size] != '\0')
    ++size;
  return size;
}
PADDOCK_AS_WRITTEN int strncmp(const char* a, const char* b, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; ++i) {
    const auto left = static_cast<unsigned char>(a[i]);
    const auto right = static_cast<unsigned char>(b[i]);
    if (left != right) return left - right;
    if (left == 0) break;
  }
  return 0;
}
PADDOCK_AS_WRITTEN int strcmp(const char* a, const char* b) noexcept {
  return std::strncmp(a, b, SIZE_MAX);
}
PADDOCK_AS_WRITTEN std::size_t strspn(const char* text, const char* accepted) noexcept {
  std::size_t size = 0;
  while (text[size] != '\0' && std::strchr(accepted, text[size]) != nullptr)
    ++size;
  return size;
}

char* strdup(const char* text) noexcept {
  const std::size_t size = std::strlen(text) + 1;
  void* copy = keep(size);
  return copy == nullptr ? nullptr : static_cast<char*>(std::memcpy(copy, text, size));
}

char* getenv(const char* name) noexcept {
  const std::size_t size = std::strlen(name);
  char* entry = *find_variable(name, size);
  return entry == nullptr ? nullptr : entry + size + 1;
}

int setenv(const char* name, const char* value, int) noexcept {
  const std::size_t size = std::strlen(name);
  const std::size_t value_size = std::strlen(value) + 1;
  auto* text = static_cast<char*>(keep(size + 1 + value_size));
  if (text == nullptr) return -1;
  std::memcpy(text, name, size);
  text[size] = '=';
  std::memcpy(text + size + 1, value, value_size);
  char** entry = find_variable(name, size);
  if (*entry == nullptr) {
    const auto count = static_cast<std::size_t>(entry - environ);
    auto** longer = static_cast<char**>(keep((count + 2) * sizeof(char*)));
    if (longer == nullptr) return -1;
    std::memcpy(longer, environ, count * sizeof(char*));
    longer[count + 1] = nullptr;
    environ = longer;
    entry = longer + count;
  }
  *entry = text;
  return 0;
}

} // extern "C"

// These have a second overload for constant text in C++, under the name of the C function.
extern "C" {
const void* paddock_memchr(const void*, int, std::size_t) noexcept asm("memchr");
const char* paddock_strchr(const char*, int) noexcept asm("strchr");
const char* paddock_strrchr(const char*, int) noexcept asm("strrchr");

PADDOCK_AS_WRITTEN const void* paddock_memchr(const void* text, int wanted,
                                              std::size_t size) noexcept {
  const auto* at = static_cast<const unsigned char*>(text);
  for (; size > 0; --size, ++at)
    if (*at == static_cast<unsigned char>(wanted)) return at;
  return nullptr;
}
PADDOCK_AS_WRITTEN const char* paddock_strchr(const char* text, int wanted) noexcept {
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) return text;
    if (*text == '\0') return nullptr;
  }
}
PADDOCK_AS_WRITTEN const char* paddock_strrchr(const char* text, int wanted) noexcept {
  const char* found = nullptr;
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) found = text;
    if (*text == '\0') return found;
  }
}
} // extern "C"
