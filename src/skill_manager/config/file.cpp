// SPDX-License-Identifier: MIT
#include "sys/syscall.hpp"

#include <paddock/skill_manager/config.hpp>

#include <fcntl.h>

namespace paddock::skill_manager {
namespace {

result<std::string> content_of(const std::string& path) {
  // Not blocking, so that a FIFO of that name is refused and not waited for.
  PADDOCK_TRY(const auto file,
              sys::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return sys::read_small_file(file.get(), config_bytes_max);
}

} // namespace

result<config> read_config(const std::string& path, std::vector<config_problem>* problems) {
  if (path.find('\0') != std::string::npos) return error{error_code::invalid_name, 0, "open"};
  auto content = content_of(path);
  if (!content) {
    if (problems != nullptr)
      *problems = {{.file = path,
                    .line = 0,
                    .key = {},
                    .message = "cannot be read: " + std::string(text(content.error().code))}};
    return content.error();
  }
  const bool is_json = path.ends_with(".json");
  return parse_config(*content, is_json ? config_format::json : config_format::toml, path,
                      problems);
}

result<std::string> find_config(std::string directory) {
  if (directory.empty()) {
    PADDOCK_TRY(directory, sys::getcwd());
  }
  for (;;) {
    std::string candidate = directory;
    if (!candidate.ends_with('/')) candidate += '/';
    candidate += config_file_name;
    if (sys::status_at(AT_FDCWD, candidate.c_str())) return candidate;
    const std::size_t slash = directory.rfind('/');
    if (directory.size() <= 1 || slash == std::string::npos)
      return error{error_code::not_found, 0, "perstack.toml"};
    directory.resize(slash == 0 ? 1 : slash);
  }
}

} // namespace paddock::skill_manager
