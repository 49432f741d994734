// SPDX-License-Identifier: MIT

// What the URL of a server says by itself.

#include "skill_manager/config/entry.hpp"

namespace paddock::skill_manager {

bool names_this_machine(std::string_view url) {
  for (const std::string_view host : {"localhost", "127.0.0.1", "[::1]"})
    for (const std::string_view scheme : {"http://", "https://"}) {
      if (!url.starts_with(scheme)) continue;
      const std::string_view rest = url.substr(scheme.size());
      if (!rest.starts_with(host)) continue;
      const std::string_view end = rest.substr(host.size());
      if (end.empty() || end.front() == ':' || end.front() == '/') {
        // "localhost:x@elsewhere" is elsewhere.
        return rest.substr(0, rest.find('/')).find('@') == std::string_view::npos;
      }
    }
  return false;
}

bool is_usable_url(std::string_view url, mcp::address_policy addresses) {
  return url.starts_with("https://") ||
         (addresses == mcp::address_policy::any && url.starts_with("http://"));
}

} // namespace paddock::skill_manager
