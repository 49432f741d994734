// SPDX-License-Identifier: MIT
#include "missing_helper.hpp"

#include <filesystem>
#include <system_error>

namespace paddock::cli {

std::string helper_is_missing() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::string directory = failed ? "its own directory" : self.parent_path().string();
  return "paddock-exec-helper is not in " + directory +
         ", not in libexec/paddock beside that, and " +
         "not where Paddock was installed; copy it there from the build (tools/) or the package "
         "that "
         "this program came from";
}

} // namespace paddock::cli
