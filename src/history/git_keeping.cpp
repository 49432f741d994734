// SPDX-License-Identifier: MIT
#include "history/git_keeping.hpp"

#include "change/bytes.hpp"
#include "path/git_index.hpp"
#include "path/git_names.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace paddock::history {
namespace {

/// `is_meant` is asked about what a path is within a repository.
template <class Predicate>
in_repository repository_where(std::string_view path, const was_there& has, Predicate is_meant) {
  const auto is_one = [&](std::string_view at) {
    const std::string beneath = at.empty() ? "" : std::string(at) + '/';
    return is_git_directory(at) ||
           is_git_repository([&](const char* name) { return has(beneath + name); });
  };
  if (is_meant(path) && is_one("")) return "";
  for (std::size_t at = path.find('/'); at != path.npos; at = path.find('/', at + 1))
    if (is_meant(path.substr(at + 1)) && is_one(path.substr(0, at))) return path.substr(0, at);
  return std::nullopt;
}

} // namespace

in_repository git_of_object(std::string_view path, const was_there& has) {
  return repository_where(path, has, [](auto rest) { return rest.starts_with("objects/"); });
}

in_repository git_of_note(std::string_view path, const was_there& has) {
  constexpr std::string_view names[] = {"ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "gc.log"};
  return repository_where(path, has, [&](std::string_view rest) {
    if (rest.starts_with("logs/")) return rest != "logs/refs/stash";
    return std::ranges::find(names, rest) != std::ranges::end(names);
  });
}

in_repository git_of_index(std::string_view path, const was_there& has) {
  return repository_where(path, has, [](auto rest) { return rest == "index"; });
}

std::optional<std::string> staged_in(std::string_view bytes) {
  for (const std::size_t object_bytes : {git_sha1_bytes, git_sha256_bytes}) {
    std::string staged;
    const auto take_entry = [&](const git_index_entry& each) {
      staged.append(each.mode).append(each.said);
      put_number(staged, each.kept);
      staged.append(each.name.substr(each.kept)) += '\0';
      return true;
    };
    const auto take_extension = [&](std::string_view whole, std::size_t) {
      const bool is_optional = whole[0] >= 'A' && whole[0] <= 'Z';
      if (!is_optional) staged += whole;
      return true;
    };
    if (read_git_index(bytes, object_bytes, take_entry, take_extension)) return staged;
  }
  return std::nullopt;
}

} // namespace paddock::history
