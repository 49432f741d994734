// SPDX-License-Identifier: MIT
#include "exec/search_path.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>

namespace paddock {

std::vector<std::string_view> absolute_entries(std::string_view search_path) {
  std::vector<std::string_view> entries;
  while (!search_path.empty()) {
    const std::size_t end = std::min(search_path.find(':'), search_path.size());
    if (search_path.starts_with('/')) entries.push_back(search_path.substr(0, end));
    search_path.remove_prefix(std::min(end + 1, search_path.size()));
  }
  return entries;
}

bool is_runnable(const std::string& path) {
  const auto status = sys::status_at(AT_FDCWD, path.c_str());
  return status && status->kind == entry_kind::file && sys::faccessat(AT_FDCWD, path.c_str(), X_OK);
}

} // namespace paddock
