// SPDX-License-Identifier: MIT
#include "own_files.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/path/lexical_path.hpp>

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

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

/// What each name on a way is; the ways to several files share most of it.
class names_on_ways {
public:
  struct name {
    bool is_there;
    std::filesystem::path target; ///< empty: no link
  };
  const name& of(const std::filesystem::path& path) {
    const auto [at, is_new] = known_.try_emplace(path.native());
    if (is_new) at->second = look(path.native());
    return at->second;
  }

private:
  static name look(const std::string& path) {
    std::string target(PATH_MAX, '\0');
    const auto size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return {errno == EINVAL, {}}; // no link, but there
    target.resize(static_cast<std::size_t>(size));
    return {true, target};
  }
  std::map<std::string, name> known_;
};

/// What a path leads to, and each link on the way.
void add_way(const std::string& path, names_on_ways& names, std::set<std::string>& files) {
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
    const auto& [is_there, target] = names.of(next);
    if (!is_there) return;
    if (target.empty()) {
      at = next;
      continue;
    }
    ++links;
    files.insert(next.string());
    rest.insert(rest.begin(), target.begin(), target.end());
    if (target.is_absolute()) at = "/";
  }
  if (rest.empty()) files.insert(at.string());
}

/// The same names lead to the same files for as long as this process runs.
const std::set<std::string>& ways_of_program(std::set<std::string> named) {
  static std::mutex mutex;
  static std::map<std::set<std::string>, std::set<std::string>>
      known; // libraries may be loaded later
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(std::move(named));
  names_on_ways names;
  if (is_new)
    for (const std::string& path : at->first)
      add_way(path, names, at->second);
  return at->second;
}

} // namespace

std::vector<std::string> own_files(std::span<const std::string> others,
                                   std::span<const std::string> places) {
  std::set<std::string> named;
  dl_iterate_phdr(add_loaded, &named);
  std::error_code failed;
  named.insert(std::filesystem::read_symlink("/proc/self/exe", failed).string());
  if (const auto started = getauxval(AT_EXECFN); started != 0)
    named.insert(reinterpret_cast<const char*>(started)); // may be a link
  if (const auto helper = find_command_helper()) named.insert(*helper);
  std::set<std::string> files = ways_of_program(std::move(named));
  names_on_ways names;
  for (const std::string& path : others)
    if (!path.empty()) add_way(path, names, files);
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
