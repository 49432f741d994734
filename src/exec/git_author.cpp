// SPDX-License-Identifier: MIT

// The author in a user's own configuration of git.

#include "exec/git_author.hpp"

#include "path/git_configuration.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace paddock {
namespace {

constexpr std::size_t configuration_bytes_max = 256UL * 1024;

/// Empty where there is none, or where it is no file.
std::string read_configuration(const std::string& path) {
  const auto file = sys::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file) return {};
  return sys::read_small_file(file->get(), configuration_bytes_max).value_or("");
}

/// The last value of a name counts.
void take_author(std::string_view configuration, git_author& found) {
  git_settings settings(configuration);
  while (const auto setting = settings.next()) {
    if (setting->section != "user" || !setting->subsection.empty() || !setting->value) continue;
    if (setting->key == "name") found.name = *setting->value;
    if (setting->key == "email") found.email = *setting->value;
  }
}

/// In quotes, as git reads it. Nothing for what no name has.
std::string line_of(std::string_view key, const std::string& value) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (value.empty() || std::ranges::any_of(value, is_control)) return {};
  std::string line = "\t" + std::string(key) + " = \"";
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + "\"\n";
}

} // namespace

git_author git_author_of(const std::string& home) {
  git_author found;
  const std::string own = process_variable("XDG_CONFIG_HOME");
  const bool is_at_home = home.starts_with('/');
  for (const std::string& path : {std::string("/etc/gitconfig"),
                                  own.starts_with('/') ? own + "/git/config"
                                  : is_at_home         ? home + "/.config/git/config"
                                                       : std::string(),
                                  is_at_home ? home + "/.gitconfig" : std::string()})
    if (!path.empty()) take_author(read_configuration(path), found);
  return found;
}

std::string confine::git_configuration_of(const git_author& author) {
  const std::string lines = line_of("name", author.name) + line_of("email", author.email);
  return lines.empty() ? lines : "[user]\n" + lines;
}

} // namespace paddock
