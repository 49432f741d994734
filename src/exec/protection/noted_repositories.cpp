// SPDX-License-Identifier: MIT

// What of repositories was there when a command began.

#include "exec/protection/git_files.hpp"
#include "exec/protection/made_repositories.hpp"
#include "file/directory_stream.hpp"
#include "path/git_names.hpp"
#include "path/resolve.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/limits.hpp>
#include <paddock/path/lexical_path.hpp>

#include <dirent.h>
#include <fcntl.h>

#include <cstddef>
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace paddock {

entries_before::object entries_before::of(const file_status& status,
                                          const std::optional<file_status>& leads_to) {
  return {status.device, status.inode, status.kind == entry_kind::directory ? 0 : status.changed_ns,
          leads_to ? leads_to->device : 0, leads_to ? leads_to->inode : 0};
}

void entries_before::add(const file_status& status, const std::optional<file_status>& leads_to) {
  all_.insert(of(status, leads_to));
}

void entries_before::remove(const file_status& status) {
  all_.erase(of(status, {}));
}

bool entries_before::contains(const file_status& status,
                              const std::optional<file_status>& leads_to) const {
  return all_.contains(of(status, leads_to));
}

void entries_before::keep_those_of(const entries_before& other) {
  std::erase_if(all_, [&](const object& each) { return !other.all_.contains(each); });
}

std::string entries_before::render() const {
  std::string text;
  for (const object& each : all_)
    text += "stood " + std::to_string(each.device) + ' ' + std::to_string(each.inode) + ' ' +
            std::to_string(each.changed_ns) + ' ' + std::to_string(each.led_device) + ' ' +
            std::to_string(each.led_inode) + '\n';
  return text;
}

std::string entries_before::render_removal(const file_status& status) {
  entries_before one;
  one.add(status);
  return "not-" + one.render();
}

bool entries_before::parse(const std::string& word, std::istream& in) {
  object each{};
  if (!(in >> each.device >> each.inode >> each.changed_ns >> each.led_device >> each.led_inode))
    return false;
  if (word == "not-stood")
    all_.erase(each);
  else if (word == "stood")
    all_.insert(each);
  else
    return false;
  return true;
}

bool is_bare_repository(std::string_view path, const directory_index::directory& in) {
  return !is_git_directory(path) && looks_like_repository(in);
}

namespace {

/// What a sweep looks at within a repository.
void note_followed(int top, const std::string& path, entries_before& into) {
  const auto fd = sys::openat(top, path.empty() ? "." : path.c_str(),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (!fd) return;
  for (const followed_entry& each : files_followed(fd->get()))
    into.add(each.status);
}

} // namespace

void note_outside(const std::vector<std::string>& directories, entries_before& into) {
  const auto note = [&](const std::string& directory, std::string_view name) {
    const auto status =
        sys::status_at(AT_FDCWD, join(directory, name).c_str(), AT_SYMLINK_NOFOLLOW);
    if (status) into.add(*status);
  };
  const auto all = sys::openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!all) return;
  const auto note_repository = [&](const std::string& directory, std::string_view name) {
    const std::string path = name == git_directory ? join(directory, name) : directory;
    const auto status = sys::status_at(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW);
    if (status) into.add(*status, led_to(all->get(), without_root(path), status->kind));
  };
  for (const std::string& each : directories) {
    const std::string repository = repository_of(each);
    if (repository.empty()) continue;
    note_followed(AT_FDCWD, repository, into);
    const auto fd = sys::openat(AT_FDCWD, each.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd) for_each_link(fd->get(), each, note, note_repository);
  }
}

void note_repositories(int top, const directory_index::directories& directories,
                       entries_before& into,
                       const std::function<bool(const std::string&)>& is_own) {
  for (const auto& [path, in] : directories) {
    const bool is_bare = is_bare_repository(path, in);
    if (in.unreadable || (is_bare && !is_own(path))) into.add(in.status);
    if (in.unreadable) into.add(in.status, in.status); // closed, as nothing else leads to itself
    if (in.names.empty()) continue;
    if (is_bare) note_followed(top, path, into);
    if (repository_around(directories, path))
      for (const std::string& name : in.names)
        if (const auto status = sys::status_at(top, join(path, name).c_str(), AT_SYMLINK_NOFOLLOW);
            status && status->kind == entry_kind::symlink)
          into.add(*status);
    if (!lists_name(in, git_directory)) continue;
    const std::string inside = join(path, git_directory);
    const auto status = sys::status_at(top, inside.c_str(), AT_SYMLINK_NOFOLLOW);
    if (status && !is_own(inside)) into.add(*status, led_to(top, inside, status->kind));
    if (status && status->kind == entry_kind::directory) note_followed(top, inside, into);
  }
}

bool open_closed_directories(int top, const directory_index::directories& directories,
                             const entries_before& then) {
  std::vector<std::string> closed;
  for (const auto& [path, known] : directories)
    if (known.unreadable) closed.push_back(path);
  bool any = false;
  for (std::size_t opened = 0; !closed.empty() && opened < indexed_directories_max;) {
    const std::string path = std::move(closed.back());
    closed.pop_back();
    const auto fd = resolve::open_strict(resolve::scope_beneath(top), path, O_PATH | O_DIRECTORY);
    const auto status = fd ? sys::status_at(fd->get(), "") : result<file_status>(fd.error());
    if (!status || then.contains(*status, *status) || (status->mode & owner_may) == owner_may ||
        !sys::chmod_opened(fd->get(), (status->mode & 07777U) | owner_may))
      continue;
    any = true;
    ++opened;
    const auto listed = sys::openat(fd->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!listed) continue;
    (void)for_each_entry(listed->get(), [&](std::string_view name, unsigned char type) {
      if (type == DT_DIR || type == DT_UNKNOWN) closed.push_back(join(path, name));
      return true;
    }).has_value();
  }
  return any;
}

} // namespace paddock
