// SPDX-License-Identifier: MIT
#include "path/entry_lookup.hpp"

#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

namespace paddock {

bool entry_lookup::has(std::string_view directory, std::string_view name) const {
  const auto found = status(join(directory, name));
  return found || (found.error().code != error_code::not_found &&
                   found.error().code != error_code::not_a_directory);
}

result<file_status> lookup_from::status(std::string_view path) const {
  std::string_view here = path_;
  while (!here.empty() && first_component(here) == first_component(path)) {
    (void)next_component(here);
    (void)next_component(path);
  }
  std::string way;
  while (!next_component(here).empty())
    way += "../";
  way += path;
  return sys::status_at(directory_, way.c_str(), AT_SYMLINK_NOFOLLOW);
}

} // namespace paddock
