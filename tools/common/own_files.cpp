// SPDX-License-Identifier: MIT
#include "own_files.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/path/lexical_path.hpp>

#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace paddock::cli {
namespace {

constexpr unsigned links_max = 40; // as many as the kernel follows

/// As the loader has found it, which is what it will look for again.
int add_loaded(dl_phdr_info* loaded, std::size_t, void* into) {
  const std::string_view name = loaded->dlpi_name;
  if (name.find('/') != std::string_view::npos)
    static_cast<std::set<std::string>*>(into)->emplace(name);
  return 0;
}

/// What a path leads to, and each link on the way.
void add_way(const std::string& path, std::set<std::string>& files) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed);
  std::deque<std::filesystem::path> rest(whole.begin(), whole.end());
  std::filesystem::path at = "/";
  for (unsigned links = 0; !rest.empty() && links <= links_max;) {
    const auto part = rest.front();
    rest.pop_front();
    if (part == "/" || part == "." || part.empty()) continue;
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    const auto next = at / part;
    const auto kind = std::filesystem::symlink_status(next, failed).type();
    if (failed || kind == std::filesystem::file_type::not_found) return;
    if (kind != std::filesystem::file_type::symlink) {
      at = next;
      continue;
    }
    ++links;
    files.insert(next.string());
    const auto target = std::filesystem::read_symlink(next, failed);
    rest.insert(rest.begin(), target.begin(), target.end());
    if (target.is_absolute()) at = "/";
  }
  if (rest.empty()) files.insert(at.string());
}

} // namespace

std::vector<std::string> own_files(std::span<const std::string> others,
                                   std::span<const std::string> places) {
  std::set<std::string> named(others.begin(), others.end());
  named.erase("");
  dl_iterate_phdr(add_loaded, &named);
  std::error_code failed;
  named.insert(std::filesystem::read_symlink("/proc/self/exe", failed).string());
  if (const auto started = getauxval(AT_EXECFN); started != 0)
    named.insert(reinterpret_cast<const char*>(started)); // may be a link
  if (const auto helper = find_command_helper()) named.insert(*helper);
  std::set<std::string> files;
  for (const std::string& path : named)
    add_way(path, files);
  std::erase_if(files, [&](const std::string& file) {
    return std::ranges::none_of(places, [&](const std::string& place) {
      return strip_root_prefix(file, place).has_value();
    });
  });
  return {files.begin(), files.end()};
}

bool lies_within(const std::filesystem::path& path, const std::filesystem::path& directory) {
  return std::ranges::mismatch(path, directory).in2 == directory.end();
}

} // namespace paddock::cli
