// SPDX-License-Identifier: MIT

// What the fence had to do about protected names while a command ran, in words.

#include <paddock/exec/command.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/path/protected_names.hpp>

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace paddock {

namespace {

bool is_path_or_end_of(std::string_view path, std::string_view name) {
  return path == name || (path.size() > name.size() && path.ends_with(name) &&
                          path[path.size() - name.size() - 1] == '/');
}

/// The name to --unprotect for what appeared: one of the table, which may be further down or lie in
/// what appeared, otherwise the path, as names of one's own count at the top.
std::string name_to_allow(const std::string& path) {
  constexpr std::string_view of_repository = ".git/";
  const auto names = usual_protected_names();
  for (const auto& [name, mode] : names)
    if (is_path_or_end_of(path, name) || name.starts_with(path + "/")) return name;
  for (const auto& [name, mode] : names) // of a submodule, or of a bare repository
    if (name.starts_with(of_repository) &&
        is_path_or_end_of(path, std::string_view(name).substr(of_repository.size())))
      return name;
  return path;
}

} // namespace

std::string describe(const appeared_entry& entry) {
  std::string text = entry.path + " is protected and was not there before the command: ";
  if (entry.moved_to.empty())
    text += "it could not be moved aside (" + std::generic_category().message(entry.os_errno) +
            "), look at it before it is used";
  else
    text += "it was moved to " + entry.moved_to;
  return text + "; a person can allow it with --unprotect " + name_to_allow(entry.path);
}

std::vector<std::string> notices_of(const command_outcome& outcome) {
  std::vector<std::string> notices;
  for (const appeared_entry& each : outcome.moved_aside)
    notices.push_back(encode_name(describe(each)));
  for (const std::string& path : outcome.uncovered)
    notices.push_back(encode_name(path) +
                      " is reserved and was replaced by somebody while the command ran");
  for (const std::string& path : outcome.led_elsewhere)
    notices.push_back(encode_name(path) +
                      " is protected, and leads to something else than before the command: look at "
                      "it before it is used");
  return notices;
}

} // namespace paddock
