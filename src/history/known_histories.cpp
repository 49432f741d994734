// SPDX-License-Identifier: MIT

// Which workspaces have a history, for who looks for one where there is none.

#include "file/directory_stream.hpp"
#include "history/file_index.hpp"
#include "history/store_directory.hpp"
#include "sys/syscall.hpp"

#include <paddock/history/history.hpp>

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::history {
namespace {

/// The workspace that a store is of, if it is this user's and that directory is there still.
std::optional<std::string> workspace_of(int all, const std::string& name) {
  const auto store = sys::openat(all, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!store) return std::nullopt;
  const auto owner = sys::fstat(store->get());
  if (!owner || owner->uid != sys::effective_uid() || (owner->mode & 077U) != 0)
    return std::nullopt;
  const auto head = read_store_file(store->get(), head_name, head_bytes_max);
  if (!head) return std::nullopt;
  auto path = workspace_in_head(*head);
  const auto there = path ? sys::status_at(AT_FDCWD, path->c_str()) : result<file_status>(error{});
  if (!there || there->kind != entry_kind::directory || name != name_of_store(*path, *there))
    return std::nullopt;
  return path;
}

} // namespace

known_histories find_histories(const root& workspace, std::string_view directory) {
  known_histories found;
  const auto all = sys::openat(AT_FDCWD, std::string(directory).c_str(), O_RDONLY | O_DIRECTORY);
  if (!all) return found;
  const std::string own = name_of_store(workspace.path(), workspace.status());
  const std::string_view here = workspace.path() == "/" ? "" : std::string_view(workspace.path());
  (void)for_each_entry(all->get(), [&](std::string_view name, unsigned char) {
    auto path = workspace_of(all->get(), std::string(name));
    if (!path) return true;
    if (name == own)
      found.has_own = true;
    else if (is_in(here, *path == "/" ? "" : *path))
      found.above.push_back(*std::move(path));
    else if (is_in(*path, here))
      found.below.push_back(*std::move(path));
    return true;
  });
  std::ranges::sort(found.above, [](const std::string& a, const std::string& b) {
    return a.size() > b.size(); // the nearest first
  });
  std::ranges::sort(found.below);
  return found;
}

} // namespace paddock::history
