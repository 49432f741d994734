// SPDX-License-Identifier: MIT
#pragma once

// What many programs do with a path that they do not trust, and what loses to the attackers of this
// directory. For negative controls.

#include "attacks.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>

namespace paddock::test {

/// What is at the beginning of a file.
inline std::string beginning_of(const file_descriptor& file) {
  std::array<char, 256> bytes{};
  const auto n = file ? ::read(file.get(), bytes.data(), bytes.size()) : 0;
  return {bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
}

/// Resolve the path, compare the prefix; empty: refused.
inline std::string checked_path(const std::string& ws, const std::string& path) {
  std::array<char, PATH_MAX> real;
  if (::realpath((ws + '/' + path).c_str(), real.data()) == nullptr) return {};
  const std::string_view found = real.data();
  return found.starts_with(ws + '/') ? std::string(found) : std::string();
}

/// Then use it.
inline std::string read_after_check(const std::string& ws, const std::string& path) {
  if (checked_path(ws, path).empty()) return {};
  ::sched_yield();
  return beginning_of(
      file_descriptor(::openat(AT_FDCWD, (ws + '/' + path).c_str(), O_RDONLY | O_CLOEXEC)));
}

/// Go down step by step without following links, and up by looking `..` up.
inline std::string read_by_steps(const std::string& ws, std::string_view path) {
  file_descriptor at(::openat(AT_FDCWD, ws.c_str(), O_PATH | O_CLOEXEC));
  for (auto part = next_component(path); !part.empty() && at; part = next_component(path)) {
    const int flags = (path.empty() ? O_RDONLY : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC;
    ::sched_yield();
    at = file_descriptor(::openat(at.get(), std::string(part).c_str(), flags));
  }
  return beginning_of(at);
}

/// Both, as the attack demands: realpath takes `..` back by spelling, so those who check with it do
/// not notice that a directory has been moved, and only those who go up lose to that.
inline std::string read_naively(const attack& by, const std::string& ws, const std::string& path) {
  const bool moves_a_way = std::string_view(by.a).ends_with("/way");
  return moves_a_way ? read_by_steps(ws, path) : read_after_check(ws, path);
}

/// What is exchanged leads out for a moment; those who hold the root by its name lose it as well.
inline bool leads_out(const attack& by) {
  return by.leads == attack::reach::outside || by.leads == attack::reach::hidden ||
         std::string_view(by.a) == "ws";
}

} // namespace paddock::test
