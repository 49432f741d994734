// SPDX-License-Identifier: MIT
#include "exec/protection/git_files.hpp"

#include "file/directory_stream.hpp"
#include "path/git_configuration.hpp"
#include "path/git_followed.hpp"
#include "path/git_names.hpp"
#include "path/resolve.hpp"
#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <iterator>

namespace paddock {

std::optional<std::string> text_of_file(int directory, const char* name, std::size_t bytes_max) {
  const auto file = sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (!file) return std::nullopt;
  auto text = sys::read_small_file(file->get(), bytes_max);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

bool may_begin_with(int directory, const char* name, std::string_view begin) {
  const auto file = sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  std::string read(begin.size(), '\0');
  const auto size = file ? sys::read(file->get(), read) : result<std::size_t>(file.error());
  return !size || read == begin;
}

void write_git_file(int directory, const char* name, std::string_view text, unsigned mode) {
  const auto fresh =
      sys::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  while (fresh && !text.empty()) {
    const auto written = sys::write(fresh->get(), text);
    if (!written) break;
    text.remove_prefix(*written);
  }
}

std::string_view without_line_ends(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r'))
    text.remove_suffix(1);
  return text;
}

std::optional<std::string> pointed_at(int directory, entry_kind kind) {
  const char* name = git_directory.data();
  if (kind == entry_kind::symlink) {
    auto link = sys::readlinkat(directory, name);
    return link ? std::optional(*std::move(link)) : std::nullopt;
  }
  const auto text = text_of_file(directory, name);
  if (!text || !text->starts_with(git_file_prefix)) return std::nullopt;
  return std::string(without_line_ends(*text).substr(git_file_prefix.size()));
}

std::optional<file_status> led_to(int top, const std::string& path, entry_kind kind) {
  if (kind == entry_kind::directory) return std::nullopt;
  const auto above = resolve::open_strict(resolve::scope_beneath(top), std::string(parent(path)),
                                          O_PATH | O_DIRECTORY);
  const auto written = above ? pointed_at(above->get(), kind) : std::nullopt;
  const auto led =
      written ? sys::status_at(above->get(), written->c_str()) : result<file_status>(error{});
  return led ? std::optional(*led) : std::nullopt;
}

std::vector<followed_entry> files_followed(int repository) {
  std::vector<std::string> names(std::begin(git_followed), std::end(git_followed));
  const auto add = [&](std::string_view directory, std::string_view prefix) {
    const std::string path(directory.empty() ? "." : directory);
    const auto fd =
        sys::openat(repository, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const auto take = [&](std::string_view name, unsigned char) {
      if (name.starts_with(prefix)) names.push_back(join(directory, name));
      return true;
    };
    if (fd) (void)for_each_entry(fd->get(), take).has_value();
  };
  for (const auto& [directory, prefix] : git_followed_in)
    add(directory, prefix);
  add(git_worktrees, "");
  for (std::string& each : names) // git asks no more of a worktree
    if (parent(each) == git_worktrees) each = join(each, git_worktree_file);
  std::vector<followed_entry> there;
  for (std::string& each : names)
    if (const auto status = sys::status_at(repository, each.c_str(), AT_SYMLINK_NOFOLLOW))
      there.push_back({std::move(each), *status});
  return there;
}

std::string extension_of(int repository, std::string_view key) {
  const bool is_of_worktree = sys::status_at(repository, "commondir").has_value();
  const auto text = text_of_file(repository, is_of_worktree ? "../../config" : "config");
  git_settings settings(text ? std::string_view(*text) : std::string_view());
  std::string value;
  while (const auto each = settings.next())
    if (each->section == "extensions" && each->key == key) // the last one counts
      value = each->value.value_or("true");
  return value;
}

std::vector<followed_entry> references_since(int repository, std::int64_t changed_ns) {
  struct reference_directory {
    std::string path;
    bool is_whole; ///< it was moved, or one above: the times of what is in it tell nothing
  };
  std::vector<followed_entry> found;
  for (std::vector<reference_directory> pending{{"", changed_ns == 0}}; !pending.empty();) {
    const auto [at, is_whole] = std::move(pending.back());
    pending.pop_back();
    const auto fd = sys::openat(repository, at.empty() ? "." : at.c_str(),
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const auto take = [&, &directory = at, &all = is_whole](std::string_view name,
                                                            unsigned char type) {
      std::string path = join(directory, name);
      if (!is_git_reference(path) || type == DT_LNK) return true;
      const auto status = sys::status_at(repository, path.c_str(), AT_SYMLINK_NOFOLLOW);
      if (!status) return true;
      const bool is_changed = all || status->changed_ns >= changed_ns;
      if (status->kind == entry_kind::directory)
        pending.push_back({std::move(path), is_changed});
      else if (is_changed)
        found.push_back({std::move(path), *status});
      return true;
    };
    if (fd) (void)for_each_entry(fd->get(), take).has_value();
  }
  return found;
}

void for_each_link(int directory, const std::string& path, const on_entry& call,
                   const on_entry& makes_repository) {
  for (std::vector<std::string> pending{""}; !pending.empty();) {
    const std::string at = std::move(pending.back());
    pending.pop_back();
    const auto fd = sys::openat(directory, at.empty() ? "." : at.c_str(),
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const auto take = [&](std::string_view name, unsigned char type) {
      if (type == DT_UNKNOWN)
        if (const auto there = sys::status_at(fd->get(), name.data(), AT_SYMLINK_NOFOLLOW))
          type = there->kind == entry_kind::symlink ? DT_LNK : DT_DIR;
      if (type == DT_LNK) call(join(path, at), name);
      if (type == DT_DIR) pending.push_back(join(at, name));
      if (!at.empty() && (name == git_directory || name == git_marks[0]))
        makes_repository(join(path, at), name);
      return true;
    };
    if (fd) (void)for_each_entry(fd->get(), take).has_value();
  }
}

std::string repository_of(const std::string& directory) {
  const auto is_one = [](const std::string& path) {
    const auto fd =
        sys::openat(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd && is_git_repository(
                     [&](const char* name) { return sys::status_at(fd->get(), name).has_value(); });
  };
  if (is_one(directory)) return directory;
  const std::string above(parent(directory));
  const bool is_folder =
      std::ranges::find(git_folders, file_name(directory)) != std::end(git_folders);
  return is_folder && is_one(above) ? above : std::string();
}

bool leads_to_repository(int top, std::string directory, std::string_view path) {
  // Git expands the first and takes the second for a URL; an empty one undoes others before it.
  if (path.empty() || path.starts_with('~')) return false;
  if (constexpr std::string_view scheme = "file://"; path.starts_with(scheme)) {
    path.remove_prefix(scheme.size());
    if (!is_absolute(path)) return false;
  } else if (path.starts_with("file:")) {
    return false;
  }
  if (is_absolute(path)) {
    const auto inside = strip_root_prefix(path, sys::name_of(top));
    if (!inside) return false;
    directory = *inside;
    path = {};
  }
  while (path == ".." || path.starts_with("../") || path.starts_with("./")) {
    if (path.starts_with("..")) {
      if (directory.empty()) return false;
      directory = parent(directory);
    }
    path.remove_prefix(std::min(path.find('/'), path.size() - 1) + 1);
  }
  // With `..` further on, a later link would matter.
  const std::string led = path.empty() || path == "." ? directory : join(directory, path);
  if (("/" + led + "/").find("/../") != std::string::npos) return false;
  const auto fd = resolve::open_strict(resolve::scope_beneath(top), led.empty() ? "." : led,
                                       O_PATH | O_DIRECTORY);
  if (!fd) return false;
  const auto git = sys::status_at(fd->get(), git_directory.data(), AT_SYMLINK_NOFOLLOW);
  const std::string named = led.substr(0, led.find_last_not_of('/') + 1);
  // Git takes these, too.
  const bool has_other =
      (git && git->kind != entry_kind::directory) ||
      (!named.empty() && sys::status_at(top, (named + ".git").c_str(), AT_SYMLINK_NOFOLLOW));
  const auto has = [&](const char* name) { return sys::status_at(fd->get(), name).has_value(); };
  return !has_other && (git || is_git_repository(has));
}

std::string without_root(const std::string& path) {
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

unlocked_directory::unlocked_directory(int fd) : fd_(fd) {
  const auto status = sys::status_at(fd, "");
  if (!status || (status->mode & owner_may) == owner_may) return;
  const unsigned was = status->mode & 07777U;
  if (sys::chmod_opened(fd, was | owner_may)) was_ = was;
}

unlocked_directory::~unlocked_directory() {
  if (was_) (void)sys::chmod_opened(fd_, *was_).has_value();
}

} // namespace paddock
