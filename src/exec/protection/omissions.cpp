// SPDX-License-Identifier: MIT
#include "exec/protection/omissions.hpp"

#include <paddock/base/limits.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>

namespace paddock {
namespace {

/// As much of a long path as a person needs to find it.
std::string beginning_of(const std::string& path) {
  constexpr std::size_t bytes_max = 60;
  std::size_t end = 0;
  for (auto slash = path.find('/'); slash < bytes_max; slash = path.find('/', slash + 1))
    end = slash;
  if (end == 0) end = std::min(path.find('/'), path.size());
  return encode_name(path.substr(0, end)) + (end < path.size() ? "/…" : "");
}

} // namespace

std::string describe(const omissions& without) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (without.hidden > 0)
    add(std::to_string(without.hidden) + " hidden entries more than can be covered (" +
        std::to_string(omissions::hidden_max) +
        ", the oldest ones, fewer if their paths are long): remove "
        "those that are not needed");
  if (without.repositories > 0)
    add(std::to_string(without.repositories) + " repositories more than can be protected (" +
        std::to_string(omissions::repositories_max) +
        ", fewer if their paths are long): move those that "
        "are not needed out of the workspace");
  if (!without.too_deep.empty())
    add("directories so deep that no path can name them (" + std::to_string(path_bytes_max) +
        " bytes): repositories and hidden entries in them are not protected; remove the tree that "
        "begins with " +
        beginning_of(without.too_deep) + " (deleteDirectory, or rm -rf)");
  if (without.unlisted)
    add("more directories, or longer paths, than are looked at in time or remembered: repositories "
        "and hidden entries in the "
        "others are not protected; the next look goes on from there, or remove those that are not "
        "needed");
  if (without.unreadable)
    add("some directories cannot be listed: repositories and hidden entries in them are not "
        "protected; make them readable (chmod u+rwx)");
  return text;
}

} // namespace paddock
