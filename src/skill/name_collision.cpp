// SPDX-License-Identifier: MIT
#include "skill/name_collision.hpp"

#include <paddock/base/detail/ascii.hpp>

#if PADDOCK_HAVE_UTF8PROC
#include <utf8proc.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace paddock {

#if PADDOCK_HAVE_UTF8PROC
namespace {

struct freed {
  void operator()(utf8proc_uint8_t* bytes) const noexcept { std::free(bytes); }
};

/// The text as it is where it is not UTF-8.
std::string mapped(std::string_view text, int options) {
  utf8proc_uint8_t* out = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &out,
                                 static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, freed> owned(out);
  if (size < 0) return std::string(text);
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(size)};
}

} // namespace

bool folds_unicode() noexcept {
  return true;
}

std::string folded_name(std::string_view name) {
  constexpr int decomposed = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  // Before too: what a mark folds to stands where the mark belongs.
  return mapped(mapped(name, decomposed), decomposed | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
}

#else

bool folds_unicode() noexcept {
  return false;
}

std::string folded_name(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(), detail::ascii_lower);
  return out;
}

#endif

} // namespace paddock
